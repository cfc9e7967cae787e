/*
 * Computes the exact estimator as two sums if one large entry, row or column would cause rounding errors in
 * all terms.
 */
#pragma once

#include "exact/exact.h"

/*
 * Describes the rows and columns of the large part of A and B. Multiplying by 2^-unit makes the other entries
 * about 1, and multiplying by 2^-size makes the large part about 1.
 */
typedef struct {
    size_t row, rows, col, cols;
    int unit, size;
} ks_apart;

/* Finds the entry, row or column to separate. If there is none, a->rows is 0. */
kspec_status ks_apart_find(const ks_run *run, const ks_exact_plan *e, const ks_pair *p, ks_apart *a,
                           kspec_error *err);

/* Does the same as ks_exact_terms() with the large part separated, at twice the cost. */
kspec_status ks_apart_terms(const ks_run *run, ks_exact_plan *e, const ks_pair *p, const ks_apart *a,
                            const ks_moments_out *out, double *abs_terms, kspec_error *err);
