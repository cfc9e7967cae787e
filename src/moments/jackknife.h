/* Error bars from leave-one-out estimates. */
#pragma once

#include <stddef.h>

/* sign(x) |x|^(1/n): the scale on which estimates of m(n) are least skewed. */
double ks_signed_root(double x, int n);

/* Of leave-one-out values of one estimate; all zeros before the first side is added */
typedef struct {
    /* by the jackknife: the variance, the variance of that, the third cumulant, the bias */
    double variance, noise, cube, bias;
    /* the largest part of the variance that one value makes, and which value, counted over all sides */
    double most;
    size_t which, count;
} ks_spread;

/*
 * Adds a side of N values. `all`: the estimate of all; share: of a sample without replacement of N' it
 * leaves 1 - N/N' of the variance. A side that is complete, of share 0, is not looked at.
 */
void ks_spread_add(ks_spread *s, const double *x, size_t N, double share, double all);

/* The same of N values that are a uniform sample of `of`; excess: what the mean of all exceeds `all` by */
void ks_spread_add_sample(ks_spread *s, const double *x, size_t N, double of, double share, double excess);

/* Degrees of freedom by Satterthwaite, from how uneven the values are: 2 V^2 / Var V; may be infinite */
double ks_spread_degrees(const ks_spread *s);

/*
 * The ends of a nominal 95% interval, as what is to be added to the estimate: ends[0] <= 0 <= ends[1].
 * other: the part of what skewness adds on one side that is added on the other, too: 0, or more for a ratio.
 */
void ks_spread_ends(const ks_spread *s, double other, double ends[2]);

typedef struct {
    double std_error, low, high;
    /* degrees of freedom; the part of the variance that one value makes, and which of the P + Q */
    double degrees, part;
    size_t which;
} ks_error_bar;

/* What is left out: by side, values without each, how many, and the share as in ks_spread_add() */
typedef struct {
    const double *const *values;
    const size_t *size;
    const double *share;
    size_t count;
} ks_sides;

/*
 * The jackknife over all sides of an estimate m of order n: a standard error and a nominal 95% interval. NaN
 * where leaving one out leaves nothing. room: as many numbers as all sides have.
 */
void ks_jackknife_sides(double m, int n, const ks_sides *of, double *room, ks_error_bar *out);

/* The same of two sides, the estimates without each of the P rows and without each of the Q columns */
void ks_jackknife(double m, int n, const double *rows, size_t P, const double *cols, size_t Q,
                  const double share[2], double *room, ks_error_bar *out);

/*
 * The correlation of the errors of estimates that were made from the same rows and columns: loo[k] points to
 * the P + Q leave-one-out values of estimate k, in any unit. The covariance of k and l is the sum over both
 * sides of its share times (N-1)/N sum_i d_k d_l, d the deviation from the side's mean. NaN for an estimate
 * without leave-one-out values, 0 with one whose error is 0.
 */
void ks_jackknife_correlation(size_t count, const double *const *loo, size_t P, size_t Q,
                              const double share[2], double *R);
