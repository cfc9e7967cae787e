/* Finds families of spectra that explain the sample's eigenvalues, and averages their predictions. */
#pragma once

#include "fit/search.h"

typedef struct {
    ks_problem p;
    ks_search search;
    /* The families in the average, best first, with weights that sum to 1. */
    size_t count;
    const ks_mode **modes;
    double *weight;
    /*
     * theta contains N medians, which decrease over the nodes and are KS_NOTHING beyond the end. low and high
     * contain the 95% intervals of the n nodes.
     */
    double *theta, *low, *high;
    /*
     * log_lambda, log_low and log_high contain the medians and intervals of all p.end log eigenvalues,
     * interpolated between nodes. Beyond the end of the spectrum, the logarithms are -infinity.
     */
    double *log_lambda, *log_low, *log_high;
} ks_fitted;

/*
 * Fits all families. noise is the noise variance of each entry, 0 without noise, or NaN if unknown.
 * noise_error is the relative standard error of `noise`. The arena owns the results.
 */
kspec_status ks_fit_families(const ks_run *run, ks_observed *o, double noise, double noise_error,
                             ks_arena *arena, ks_fitted *out, kspec_error *err);
