/* Computes error bars from leave-one-out estimates by the jackknife. */
#pragma once

#include <stddef.h>

/* Returns sign(x) |x|^(1/n). On this scale, estimates of m(n) have the least skewness. */
double ks_signed_root(double x, int n);

/* Summarises the leave-one-out values of one estimate. A summary without values is all zeros. */
typedef struct {
    /*
     * variance and bias are the jackknife's estimates. noise is the variance of the variance, and cube is the
     * third cumulant.
     */
    double variance, noise, cube, bias;
    /*
     * most is the largest fraction of the variance that one value causes, and `which` is the index of that
     * value. count is the number of values of all sides.
     */
    double most;
    size_t which, count;
} ks_spread;

/*
 * Adds a side of N values. `all` is the estimate from all data. Sampling N of N' units without replacement
 * leaves the fraction share = 1 - N/N' of the variance. The function ignores a complete side, whose share is
 * 0.
 */
void ks_spread_add(ks_spread *s, const double *x, size_t N, double share, double all);

/*
 * Adds a side of `of` units from the values of N uniformly sampled units. excess is the mean over all `of`
 * values minus the estimate from all data.
 */
void ks_spread_add_sample(ks_spread *s, const double *x, size_t N, double of, double share, double excess);

/*
 * Returns the degrees of freedom by Satterthwaite's formula, 2 V^2 / Var V. The number is infinite if Var V
 * is 0.
 */
double ks_spread_degrees(const ks_spread *s);

/*
 * Computes the ends of a nominal 95% interval, relative to the estimate: ends[0] <= 0 <= ends[1]. Skewness
 * widens one side. The opposite side is widened by the fraction `other` of the same amount. A negative
 * `other` narrows the opposite side by |other| times Cornish and Fisher's term.
 */
void ks_spread_ends(const ks_spread *s, double other, double ends[2]);

typedef struct {
    double std_error, low, high;
    /*
     * degrees counts degrees of freedom. part is the largest fraction of the variance that one value causes,
     * and `which` is the index of that value among the P + Q.
     */
    double degrees, part;
    size_t which;
} ks_error_bar;

/*
 * The leave-one-out values of `count` sides. Side k has size[k] values, and ks_spread_add() explains
 * share[k]. ks_spread_ends() explains `other`.
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
 * interval. Both are NaN if leaving one unit out leaves no data. room is scratch for one number per value.
 */
void ks_jackknife_sides(double m, int n, const ks_sides *of, double *room, ks_error_bar *out);

/*
 * Computes the jackknife over two sides, from the estimates without each of the P rows and without each of
 * the Q columns.
 */
void ks_jackknife(double m, int n, const double *rows, size_t P, const double *cols, size_t Q,
                  const double share[2], double *room, ks_error_bar *out);

/*
 * Computes the correlation R of the errors of several estimates from the same rows and columns. loo[k] points
 * to the P + Q leave-one-out values of estimate k, in any unit. The covariance of two estimates is the sum
 * over both sides of share (N-1)/N sum_i d_i d'_i, where d_i is the deviation of a value from the mean of its
 * side. The correlation is NaN for an estimate without leave-one-out values, and 0 with an estimate whose
 * error is 0.
 */
void ks_jackknife_correlation(size_t count, const double *const *loo, size_t P, size_t Q,
                              const double share[2], double *R);
