/*
 * The data of the fit: log eigenvalues of the sample with errors, and the share of the trace beyond these
 * eigenvalues.
 */
#pragma once

#include "fit/decompose.h"
#include "fit/forward.h"

typedef struct {
    const ks_decomposed *x;
    /* The operator's eigenvalues in closed form (x->d.n) */
    double *pilot;
    /*
     * The fit uses the first `used` eigenvalues of the sample in K groups. Eigenvalue at[k] (from 0), at the
     * level at[k] + 1/2, represents the size[k] eigenvalues of group k. m = K + tail numbers are observed.
     */
    size_t used, K, m, *at;
    double *size, *level;
    /* the sum of all eigenvalues of the sample, 1 up to rounding */
    double trace;
    /*
     * tail: 1 if the matrix has more eigenvalues than the fit uses. share: the fraction of the trace beyond
     * the eigenvalues used. share_variance: the variance of share.
     */
    int tail;
    double share, share_variance;
    /*
     * effects of the leverages: the shift of the counts and the shift's excess (K), the variance ratio (K),
     * the common variance
     */
    double *count_shift, *count_excess, *ratio, common;

    /* Set by ks_observed_errors() for a spectrum near the truth: */
    /* y (m): log s - shift, followed by the share */
    double *y;
    /* V (m x m): the covariance of y. L (m x m, lower triangular): L L^T = V. */
    double *V, *L;
    /*
     * shift (K): the leverages' shift of log s. half (K): half the variance, the difference between the log
     * of the mean and the mean of the log.
     */
    double *shift, *half;
} ks_observed;

/*
 * Divides the eigenvalues 1 ... end among nodes: first one by one, then in growing groups that grow faster
 * beyond K. Sets positions (the middle of each group) and weights unless NULL. Returns the number of nodes.
 */
size_t ks_place_nodes(size_t K, size_t end, double *position, double *weight);

kspec_status ks_observe(const ks_run *run, const ks_decomposed *x, ks_arena *arena, ks_observed *o,
                        kspec_error *err);

/* Computes y, V, L, shift and half from the spectrum s. log_c (K): solutions of the forward map for s. */
kspec_status ks_observed_errors(ks_observed *o, const ks_spectrum *s, ks_cplx *log_c, kspec_error *err);
