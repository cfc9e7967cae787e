/* Computes `exact` in two sums if one large entry, row or column would cause rounding errors in all terms. */
#pragma once

#include "exact/exact.h"

/* The large part of A and B: 2^-unit brings the other entries near 1, and 2^-size brings this part near 1. */
typedef struct {
    size_t row, rows, col, cols;
    int unit, size;
} ks_apart;

/* Finds the entry, row or column to separate; rows = 0 if there is none to separate. */
kspec_status ks_apart_find(const ks_run *run, const ks_exact_plan *e, const ks_pair *p, ks_apart *a,
                           kspec_error *err);

/* Does the same as ks_exact_terms(), at twice the cost. */
kspec_status ks_apart_terms(const ks_run *run, ks_exact_plan *e, const ks_pair *p, const ks_apart *a,
                            const ks_moments_out *out, double *abs_terms, kspec_error *err);
