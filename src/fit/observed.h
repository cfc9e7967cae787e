/* What the fit sees of a matrix: log eigenvalues of the sample, their errors, and the share beyond them. */
#pragma once

#include "fit/decompose.h"
#include "fit/forward.h"

typedef struct {
    const ks_decomposed *x;
    /* The operator's eigenvalues in closed form (x->d.n) */
    double *pilot;
    /*
     * The first `used` eigenvalues of the sample enter, in K groups: one of each, number at[k] (from 0), at
     * the level at[k] + 1/2, for size[k] of them. m = K + tail numbers are observed.
     */
    size_t used, K, m, *at;
    double *size, *level;
    /* The sum of all eigenvalues of the sample, 1 but for rounding. */
    double trace;
    /*
     * Where `tail`: share = the part of the trace beyond the eigenvalues used, and its variance. Without, the
     * matrix has no more eigenvalues.
     */
    int tail;
    double share, share_variance;
    /*
     * The leverages' shift of the counts and its excess (K), the ratio of variances (K), the common
     * variance.
     */
    double *count_shift, *count_excess, *ratio, common;

    /* Made by ks_observed_errors() for a spectrum near the truth: */
    /* y (m) = log s - shift, and the share */
    double *y;
    /* L (m x m, lower triangular): L L^T = the covariance of y, V (m x m) */
    double *V, *L;
    /* of log s by the leverages (K), and half the variance, from the mean log to the log mean (K) */
    double *shift, *half;
} ks_observed;

/*
 * The nodes of 1 ... end: one by one, then in groups that grow, faster beyond K. Fills positions (the middle)
 * and weights unless they are NULL; returns how many there are.
 */
size_t ks_place_nodes(size_t K, size_t end, double *position, double *weight);

kspec_status ks_observe(const ks_run *run, const ks_decomposed *x, ks_arena *arena, ks_observed *o,
                        kspec_error *err);

/* Fills y, V, L, shift and half from the spectrum s; log_c (K) = its solutions. */
kspec_status ks_observed_errors(ks_observed *o, const ks_spectrum *s, ks_cplx *log_c, kspec_error *err);
