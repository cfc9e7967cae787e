/* Sorts doubles. The lists must not contain NaN. */
#pragma once

#include <stddef.h>

void ks_sort_ascending(double *x, size_t count);
void ks_sort_descending(double *x, size_t count);

/* Sets order[k] to the index of the k-th largest value of x. Equal values keep their order. */
void ks_order_descending(const double *x, size_t count, size_t *order);
