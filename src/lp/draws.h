/* Parametric bootstrap: the fit repeated for moments drawn from their error distribution. */
#pragma once

#include "base/parallel.h"
#include "lp/errors.h"
#include "lp/measure.h"

typedef struct {
    ks_fit fit;
    const ks_errors *errors;
    /* the moments that were given */
    const double *mu;
    kspec_quantile quantile;
    /* how many eigenvalues of each draw */
    size_t rank, draws;
    uint64_t seed;
    /* with free mass, the unit of the moments: see ks_measure_counts() */
    double unit;
} ks_drawing;

/*
 * lambda[k*rank + j] = the j-th largest eigenvalue of draw k, in units of b, for the `made` draws solved;
 * number[k] = how many there are, `rank` unless the mass is free; mean (T) = the mean of their measures.
 */
kspec_status ks_draw_eigenvalues(const ks_run *run, const ks_drawing *d, double *lambda, double *number,
                                 double *mean, size_t *made, kspec_error *err);

/* The list of one measure: its quantiles, or with free mass its counts. Returns how many there are. */
double ks_draw_list(const ks_drawing *d, const double *p, double *lambda);
