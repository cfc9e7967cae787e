/* What the tests of norms share: rows to call them with, and one method of a result. */
#ifndef KSPEC_NORM_HELP_H
#define KSPEC_NORM_HELP_H

#include "kspec.h"
#include "test.h"

/* Every method */
enum { ALL = (KSPEC_NORM_METHOD_RFF_DEBIASED << 1) - 1 };

static inline kspec_matrix view(const double *x, size_t n, size_t p) {
    return (kspec_matrix){x, n, p, (ptrdiff_t)p, 1};
}

/* The entry of a method; NaN if there is none */
static inline const kspec_norm_entry *find(const kspec_norm_result *r, kspec_norm_method m) {
    static const kspec_norm_entry none = {.value = NAN};
    for (size_t k = 0; k < r->count; k++)
        if (r->entries[k]->method == m) return r->entries[k];
    return &none;
}

static inline double *normals(uint64_t seed, size_t n, size_t p) {
    double *x = malloc(n * p * sizeof *x);
    kspec_random_normal(seed, 77, 0, n * p, x);
    return x;
}

#endif
