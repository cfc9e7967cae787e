/* The data of the fit: log eigenvalues of the sample, their errors, and the trace share beyond them. */
#pragma once

#include "fit/decompose.h"
#include "fit/forward.h"

typedef struct {
    const ks_decomposed *x;
    /* The operator's eigenvalues in closed form (x->d.n) */
    double *pilot;
    /*
     * The fit uses the first `used` eigenvalues of the sample in K groups. Each group has one representative,
     * number at[k] (from 0), at the level at[k] + 1/2, for size[k] eigenvalues. m = K + tail numbers are
     * observed.
     */
    size_t used, K, m, *at;
    double *size, *level;
    /* the sum of all eigenvalues of the sample, 1 up to rounding */
    double trace;
    /*
     * With `tail`, share = the fraction of the trace beyond the eigenvalues used, and its variance. Without
     * it, the matrix has no more eigenvalues.
     */
    int tail;
    double share, share_variance;
    /* the leverages' shift of the counts and its excess (K), the variance ratio (K), the common variance */
    double *count_shift, *count_excess, *ratio, common;

    /* Set by ks_observed_errors() for a spectrum near the truth: */
    /* y (m) = log s - shift, and the share */
    double *y;
    /* L (m x m, lower triangular): L L^T = the covariance of y, V (m x m) */
    double *V, *L;
    /* the shift of log s by leverages (K), and half the variance, from the mean log to the log mean (K) */
    double *shift, *half;
} ks_observed;

/*
 * The nodes of 1 ... end: one by one, then in growing groups that grow faster beyond K. Fills positions (the
 * middle) and weights unless they are NULL; returns the number of nodes.
 */
size_t ks_place_nodes(size_t K, size_t end, double *position, double *weight);

kspec_status ks_observe(const ks_run *run, const ks_decomposed *x, ks_arena *arena, ks_observed *o,
                        kspec_error *err);

/* Fills y, V, L, shift and half from the spectrum s; log_c (K) = its solutions. */
kspec_status ks_observed_errors(ks_observed *o, const ks_spectrum *s, ks_cplx *log_c, kspec_error *err);
