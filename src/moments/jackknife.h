/* Error bars from leave-one-out estimates. */
#pragma once

#include <stddef.h>

/* The 97.5% quantile of the normal distribution */
static const double KS_Z95 = 1.959963984540054;

/* sign(x) |x|^(1/n): the scale on which estimates of m(n) are least skewed. */
double ks_signed_root(double x, int n);

/*
 * The two-way jackknife of an estimate m of order n: from the estimates without each of the P rows and
 * without each of the Q columns, a standard error and a nominal 95% interval. NaN where leaving one out
 * leaves nothing. share[0] and share[1] multiply the variances of the two sides: 1 - P/N for a sample without
 * replacement of N, 1 for N infinite. A side that is complete, of share 0, is not looked at.
 */
void ks_jackknife(double m, int n, const double *rows, size_t P, const double *cols, size_t Q,
                  const double share[2], double *std_error, double *low, double *high);

/* How likely |t| is to be exceeded under Student's distribution; degrees > 0, not necessarily an integer */
double ks_student_tails(double t, double degrees);

/*
 * The correlation of the errors of estimates that were made from the same rows and columns: loo[k] points to
 * the P + Q leave-one-out values of estimate k, in any unit. The covariance of k and l is the sum over both
 * sides of its share times (N-1)/N sum_i d_k d_l, d the deviation from the side's mean. NaN for an estimate
 * without leave-one-out values, 0 with one whose error is 0.
 */
void ks_jackknife_correlation(size_t count, const double *const *loo, size_t P, size_t Q,
                              const double share[2], double *R);
