/* Finds families of spectra that explain the sample's eigenvalues, and averages their predictions. */
#pragma once

#include "fit/search.h"

typedef struct {
    ks_problem p;
    ks_search search;
    /* the families in the average, best first, and the families' weights, which sum to 1 */
    size_t count;
    const ks_mode **modes;
    double *weight;
    /*
     * theta (N): medians, decreasing at the nodes, KS_NOTHING beyond the end. low, high (n): 95% intervals.
     */
    double *theta, *low, *high;
    /*
     * medians and intervals of every log eigenvalue (p.end each), interpolated between nodes; -infinity
     * beyond the end
     */
    double *log_lambda, *log_low, *log_high;
} ks_fitted;

/*
 * noise: the noise variance of each entry if known (0: no noise), otherwise NaN. noise_error: the relative
 * standard error of `noise`. The arena owns the result.
 */
kspec_status ks_fit_families(const ks_run *run, ks_observed *o, double noise, double noise_error,
                             ks_arena *arena, ks_fitted *out, kspec_error *err);
