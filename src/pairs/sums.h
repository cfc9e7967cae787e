/*
 * Computes exact second-order statistics of two matrices with the same rows, from all data and without each
 * row and column. A matrix has two trials, which are equal if the caller gave one trial. X and Z are the
 * trials of the first matrix, whose columns are called alpha. Y and W are the trials of the second matrix in
 * the opposite order, and its columns are called gamma. So neighbours in a product come from different
 * trials. With s_xy = sum_i x_i y_i and so on, the sums over pairs of columns (alpha, gamma) are
 *
 *     a = sum s_xy s_zw,   b = sum s_xz s_yw,   c = sum s_xw s_yz,   d = sum s_xyzw.
 *
 * These sums give two unbiased averages over distinct rows. The average product of the covariances (x,y) and
 * (z,w) is the trace of the product of two kernel operators. The average product of (x,z) and (y,w) is the
 * product of two traces.
 */
#pragma once

#include "base/memory.h"
#include "base/parallel.h"

#include <float.h>

typedef struct {
    /* X and Z are dense row-major P x Q matrices. */
    const double *X, *Z;
    /* Y and W are dense row-major P x R matrices. If both data matrices are the same, Y = Z and W = X. */
    const double *Y, *W;
    size_t P, Q, R;
    /*
     * If same is 1, both matrices are the same, and `columns` determines the weight of pairs of a column with
     * itself.
     */
    int same;
    /*
     * For one matrix, columns is the size of the population from which the Q columns are sampled without
     * replacement. 0 means an infinite population, where pairs of a column with itself do not count. If
     * columns is Q, the columns are complete, and pairs of a column with itself count.
     */
    double columns;
    /* If centered is 1, the columns have mean 0, and leaving out a row also changes the mean. */
    int centered;
    /*
     * `whole` matters only with `same`. If whole is 1, the function skips the leave-one-out values, whose
     * lists are NULL. This saves half of the products.
     */
    int whole;
    /*
     * `scaled` matters only with `same` and one trial. If scaled is 1, the function also computes
     * ks_sums.scaled, unless that needs a further product.
     */
    int scaled;
} ks_two;

/*
 * Bounds on the rounding errors of an estimate from all data, without a row, and without a column.
 * KS_LOST_OF_ITSELF times the estimate comes in addition.
 */
#define KS_LOST_OF_ITSELF (32 * DBL_EPSILON)
typedef struct {
    double all, row, col;
} ks_lost;

/*
 * a, b, c and d are sums over pairs of columns, defined at the top of this file. t is the sum of s_xz over
 * the columns of the first matrix.
 */
typedef struct {
    double a, b, c, d, t;
} ks_quad;

typedef struct {
    ks_quad all;
    /*
     * The sum a over all pairs of columns, including a column with itself. If each matrix has one trial,
     * whole = <X X^T, Y Y^T>.
     */
    double whole;
    /*
     * size is the sum of |x| |z| over the columns of the first matrix, and other_size is the sum of |y| |w|
     * over the columns of the second.
     */
    double size, other_size;
    /*
     * row, col and other are the sums without each row, without each column of the first matrix, and without
     * each column of the second matrix. With `same`, other is NULL.
     */
    ks_quad *row, *col, *other;
    /*
     * `scaled` contains the sums over pairs of different columns after dividing each column by the root of
     * its root mean square. If has_scaled is 0, these sums are unknown.
     */
    ks_quad scaled;
    int has_scaled;
} ks_sums;

/*
 * Computes the sums on run->device, or on the CPU without a device. The function takes a few products of P x
 * Q and Q x R matrices, or of P x P matrices if these are smaller. The arena owns the lists.
 */
kspec_status ks_sums_make(const ks_run *run, const ks_two *t, ks_sums *s, ks_arena *arena, kspec_error *err);

/*
 * Describes P rows that are a sample without replacement from a population. The population's size may be
 * INFINITY.
 */
typedef struct {
    int centered;
    size_t P;
    double population;
} ks_sums_rows;

/*
 * Returns the divisor that turns the sums into the mean over pairs of columns of one matrix, whose Q =
 * `count` columns are a sample from a population. The divisor is Q, or more if pairs of a column with
 * itself count.
 */
double ks_sums_pairs(size_t count, double population);

/*
 * Returns the fraction of the pairs of a column with itself that must be subtracted. The fraction is 1 for an
 * infinite population, and 0 for complete columns.
 */
double ks_sums_own_share(size_t count, double population);

/*
 * Returns the average product of the covariances (x,y) and (z,w), over distinct rows and over `pairs` pairs
 * of columns. This average is a polykay. Centred data need four distinct rows, other data two. For a finite
 * population of rows the average is unbiased for the product of the population's own covariances, which
 * divide by the population's size.
 */
double ks_sums_cross(const ks_quad *q, const ks_sums_rows *rows, double pairs);

/*
 * Returns the average product of the covariances (x,z) and (y,w). For one matrix, this is the square of the
 * trace.
 */
double ks_sums_traces(const ks_quad *q, const ks_sums_rows *rows, double pairs);

/*
 * Returns the sum of the absolute values of the coefficients of an average. No average of sums up to 1 is
 * larger.
 */
double ks_sums_terms(const ks_sums_rows *rows, double pairs);

/*
 * Returns the possible rounding errors of averages whose sums of absolute values have the error `error`.
 * pairs is the number of pairs of columns, and fewer is the least number without one column. |s_xy s_zw|,
 * |s_xz s_yw|, |s_xw s_yz| and the terms of s_xyzw are at most |x| |z| |y| |w|.
 */
ks_lost ks_sums_lost(const ks_sums_rows *rows, double pairs, double fewer, double error);

/* Returns the relative rounding error of sums over P rows of centred data. */
double ks_sums_epsilon(size_t P);

/*
 * Returns the trace of the first matrix's kernel operator, which is the mean over Q columns of the covariance
 * of x and z.
 */
double ks_sums_trace(const ks_quad *q, const ks_sums_rows *rows, size_t Q);
