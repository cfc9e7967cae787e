/* Computes error bars from leave-one-out estimates by the jackknife. */
#pragma once

#include <stddef.h>

/* Returns sign(x) |x|^(1/n). On this scale, estimates of m(n) are least skewed. */
double ks_signed_root(double x, int n);

/* Summary of the leave-one-out values of one estimate; all zeros before the first side is added */
typedef struct {
    /* the jackknife's variance, the variance of the variance, the third cumulant, the bias */
    double variance, noise, cube, bias;
    /*
     * the largest fraction of the variance due to one value, that value's index, and the number of values of
     * all sides
     */
    double most;
    size_t which, count;
} ks_spread;

/*
 * Adds a side of N values. `all`: the estimate from all data. share: sampling N of N' without replacement
 * leaves 1 - N/N' of the variance. A complete side, whose share is 0, is ignored.
 */
void ks_spread_add(ks_spread *s, const double *x, size_t N, double share, double all);

/* Adds a side of `of` values from a uniform sample of N. excess: the mean over all `of` values minus `all` */
void ks_spread_add_sample(ks_spread *s, const double *x, size_t N, double of, double share, double excess);

/* Degrees of freedom by Satterthwaite, from the unevenness of the values: 2 V^2 / Var V; may be infinite */
double ks_spread_degrees(const ks_spread *s);

/*
 * The ends of a nominal 95% interval, relative to the estimate: ends[0] <= 0 <= ends[1]. Skewness widens one
 * side. `other` is the fraction of this widening that the opposite side also gets: 0, or more for a ratio. A
 * negative `other` narrows the opposite side by |other| times Cornish and Fisher's term.
 */
void ks_spread_ends(const ks_spread *s, double other, double ends[2]);

typedef struct {
    double std_error, low, high;
    /*
     * degrees of freedom; the largest fraction of the variance due to one value, and that value's index among
     * the P + Q
     */
    double degrees, part;
    size_t which;
} ks_error_bar;

/*
 * values, size, share: the leave-one-out values of each of `count` sides, their number, and the share as in
 * ks_spread_add(). other: as in ks_spread_ends()
 */
typedef struct {
    const double *const *values;
    const size_t *size;
    const double *share;
    size_t count;
    double other;
} ks_sides;

/*
 * Computes the jackknife over all sides of an estimate m of order n: a standard error and a nominal 95%
 * interval. The result is NaN if leaving one unit out leaves no data. room: one number for each value of all
 * sides.
 */
void ks_jackknife_sides(double m, int n, const ks_sides *of, double *room, ks_error_bar *out);

/*
 * Computes the jackknife over two sides, the estimates without each of the P rows and without each of the Q
 * columns
 */
void ks_jackknife(double m, int n, const double *rows, size_t P, const double *cols, size_t Q,
                  const double share[2], double *room, ks_error_bar *out);

/*
 * Computes the correlation R of the errors of estimates from the same rows and columns. loo[k] points to the
 * P + Q leave-one-out values of estimate k, in any unit. The covariance of k and l is the sum over both sides
 * of share (N-1)/N sum_i d_k d_l. d is a value's deviation from the mean of its side. The correlation is NaN
 * for an estimate without leave-one-out values, and 0 with an estimate whose error is 0.
 */
void ks_jackknife_correlation(size_t count, const double *const *loo, size_t P, size_t Q,
                              const double share[2], double *R);
