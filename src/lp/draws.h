/* Parametric bootstrap: repeats the fit for moments drawn from their error distribution. */
#pragma once

#include "base/parallel.h"
#include "lp/errors.h"
#include "lp/measure.h"

typedef struct {
    ks_fit fit;
    const ks_errors *errors;
    /* the given moments */
    const double *mu;
    kspec_quantile quantile;
    /* rank: the number of eigenvalues in each draw */
    size_t rank, draws;
    uint64_t seed;
    /* with free mass, the unit d of the moments (see ks_measure_counts()) */
    double unit;
} ks_drawing;

/*
 * Solves the draws. lambda[k*rank + j] is the j-th largest eigenvalue of draw k, in units of b, for the
 * `made` solved draws. number[k] is the number of eigenvalues of draw k; it differs from `rank` only if the
 * mass is free. mean (T numbers) is the mean of the measures.
 */
kspec_status ks_draw_eigenvalues(const ks_run *run, const ks_drawing *d, double *lambda, double *number,
                                 double *mean, size_t *made, kspec_error *err);

/*
 * Writes the eigenvalues of one measure: its quantiles, or with free mass its counts. Returns their number.
 */
double ks_draw_list(const ks_drawing *d, const double *p, double *lambda);
