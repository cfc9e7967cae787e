/* Sorts doubles. */
#include "base/sort.h"

#include <stdlib.h>

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int descending(const void *a, const void *b) { return ascending(b, a); }

/* Up to FEW numbers, insertion is faster than a call of the C library's sort, which allocates memory. */
enum { FEW = 32 };

void ks_sort_ascending(double *x, size_t count) {
    if (count > FEW) {
        qsort(x, count, sizeof *x, ascending);
        return;
    }
    for (size_t k = 1; k < count; k++) {
        const double value = x[k];
        size_t at = k;
        for (; at > 0 && x[at - 1] > value; at--) x[at] = x[at - 1];
        x[at] = value;
    }
}
void ks_sort_descending(double *x, size_t count) { qsort(x, count, sizeof *x, descending); }

/* The lists, such as values of lambda, are short. Insertion sort is stable and needs no memory. */
void ks_order_descending(const double *x, size_t count, size_t *order) {
    for (size_t k = 0; k < count; k++) {
        size_t at = k;
        for (; at > 0 && x[order[at - 1]] < x[k]; at--) order[at] = order[at - 1];
        order[at] = k;
    }
}
