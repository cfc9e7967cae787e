/* Finds families of spectra that explain the sample's eigenvalues, and averages their predictions. */
#pragma once

#include "fit/search.h"

typedef struct {
    ks_problem p;
    ks_search search;
    /* the families in the average, best first, and their weights, which sum to 1 */
    size_t count;
    const ks_mode **modes;
    double *weight;
    /* N: medians, decreasing at the nodes, KS_NOTHING beyond the end; n: their 95% intervals */
    double *theta, *low, *high;
    /* p.end each: the same for every eigenvalue, interpolated between nodes; -infinity beyond the end */
    double *log_lambda, *log_low, *log_high;
} ks_fitted;

/*
 * noise: the variance of each entry if known (0: no noise), otherwise NaN. noise_error: its relative standard
 * error. The arena holds the result.
 */
kspec_status ks_fit_families(const ks_run *run, ks_observed *o, double noise, double noise_error,
                             ks_arena *arena, ks_fitted *out, kspec_error *err);
