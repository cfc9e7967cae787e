/* The fit: which families explain the sample's eigenvalues, and what they say of the operator's. */
#ifndef KS_SPECTRUM_FIT_H
#define KS_SPECTRUM_FIT_H

#include "spectrum/mode.h"

typedef struct {
    ks_problem p;
    /* The families that are averaged, best first, and their weights, which sum to 1 */
    size_t count;
    ks_mode **modes;
    double *weight;
    /* N: the weighted mean, its nodes made decreasing; n: its 95% interval */
    double *theta, *low, *high;
} ks_fitted;

/* noise: the variance of each entry where known (0: none), otherwise NaN. Everything is held by the arena. */
kspec_status ks_fit_families(const ks_run *run, ks_observed *o, double noise, ks_arena *arena, ks_fitted *out,
                             kspec_error *err);

#endif
