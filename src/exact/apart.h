/* Exact with an entry, a row or a column taken apart, where that one spoils the rounding of all others. */
#pragma once

#include "exact/exact.h"

/* What stands out, a part of A and B: 2^-unit brings the others near 1, and 2^-size this part. */
typedef struct {
    size_t row, rows, col, cols;
    int unit, size;
} ks_apart;

/* What the estimate can be taken apart by; rows = 0 where there is none */
kspec_status ks_apart_find(const ks_run *run, const ks_exact_plan *e, const ks_pair *p, ks_apart *a,
                           kspec_error *err);

/* As ks_exact_terms(), at twice the cost */
kspec_status ks_apart_terms(const ks_run *run, ks_exact_plan *e, const ks_pair *p, const ks_apart *a,
                            const ks_moments_out *out, double *abs_terms, kspec_error *err);
