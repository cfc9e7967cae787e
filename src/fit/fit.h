/* The fit: which families explain the sample's eigenvalues, and what they say of the operator's. */
#pragma once

#include "fit/search.h"

typedef struct {
    ks_problem p;
    ks_search search;
    /* The families that are averaged, best first, and their weights, which sum to 1 */
    size_t count;
    const ks_mode **modes;
    double *weight;
    /* N: medians, decreasing at the nodes and KS_NOTHING where there is none; n: their 95% intervals */
    double *theta, *low, *high;
    /* p.end each: the same for every eigenvalue, straight between nodes; -infinity where there is none */
    double *log_lambda, *log_low, *log_high;
} ks_fitted;

/*
 * noise: the variance of each entry where known (0: none), otherwise NaN; noise_error: its relative standard
 * error. Everything is held by the arena.
 */
kspec_status ks_fit_families(const ks_run *run, ks_observed *o, double noise, double noise_error,
                             ks_arena *arena, ks_fitted *out, kspec_error *err);
