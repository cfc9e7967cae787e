/*
 * Describes the data of the fit: log eigenvalues of the sample with errors, and the share of the trace beyond
 * these eigenvalues.
 */
#pragma once

#include "fit/decompose.h"
#include "fit/forward.h"

typedef struct {
    const ks_decomposed *x;
    /* pilot contains the operator's x->d.n eigenvalues in closed form. */
    double *pilot;
    /*
     * The fit uses the first `used` eigenvalues of the sample in K groups. Eigenvalue at[k] (from 0), at the
     * level at[k] + 1/2, represents the size[k] eigenvalues of group k. The fit observes m = K + tail
     * numbers.
     */
    size_t used, K, m, *at;
    double *size, *level;
    /* trace is the sum of all eigenvalues of the sample, which is 1 up to rounding. */
    double trace;
    /*
     * tail is 1 if the matrix has more eigenvalues than the fit uses. share is the fraction of the trace
     * beyond the eigenvalues used.
     */
    int tail;
    double share, share_variance;
    /*
     * These fields contain the effects of the leverages. The first three lists have K numbers: the shift of
     * the counts, the shift's excess, and the ratio of variances. common is the common variance.
     */
    double *count_shift, *count_excess, *ratio, common;

    /* ks_observed_errors() sets the following fields for a spectrum near the truth. */
    /* y contains m numbers, log s - shift for each group, followed by the share. */
    double *y;
    /* V is the m x m covariance of y. L is the lower triangular matrix with L L^T = V. */
    double *V, *L;
    /*
     * shift contains the leverages' shift of log s. half contains half the variance of log s, which is the
     * difference between the logarithm of the mean and the mean of the logarithm.
     */
    double *shift, *half;
} ks_observed;

/*
 * Divides the eigenvalues 1 ... end among nodes. The first nodes stand for one eigenvalue each. The following
 * nodes stand for growing groups of eigenvalues, which grow faster beyond K. The function sets position, the
 * middle of each group, and weight, unless they are NULL. Returns the number of nodes.
 */
size_t ks_place_nodes(size_t K, size_t end, double *position, double *weight);

kspec_status ks_observe(const ks_run *run, const ks_decomposed *x, ks_arena *arena, ks_observed *o,
                        kspec_error *err);

/*
 * Computes y, V, L, shift and half from the spectrum s. log_c contains K solutions of the forward map for s.
 */
kspec_status ks_observed_errors(ks_observed *o, const ks_spectrum *s, ks_cplx *log_c, kspec_error *err);
