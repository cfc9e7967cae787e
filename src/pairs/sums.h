/*
 * Exact second-order statistics of two matrices with the same rows, also without every row and every column.
 * A matrix has two trials, which are equal if it has one. In the first matrix, X and Z are the trials, alpha
 * the columns. In the second matrix, Y and W are the trials in the opposite order, gamma the columns, so that
 * neighbours in a product come from different trials. With s_xy = sum_i x_i y_i and so on, the sums over
 * pairs of columns (alpha, gamma) are
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
    /* P x Q, row-major, dense */
    const double *X, *Z;
    /* P x R. If both matrices are the same, Y = Z and W = X */
    const double *Y, *W;
    size_t P, Q, R;
    /* 1: both matrices are the same, and `columns` determines the weight of pairs of a column with itself */
    int same;
    /*
     * for one matrix: the size of the population of columns, from which the Q columns are sampled without
     * replacement. 0: the population is infinite, and pairs of a column with itself do not count. Q: the
     * columns are complete, and pairs of a column with itself count
     */
    double columns;
    /* 1: the columns have mean 0, and leaving out a row also changes the mean */
    int centered;
    /* 1, with same: skip the leave-one-out values, whose lists are NULL; this saves half of the products */
    int whole;
    /* 1, with same and one trial: also compute ks_sums.scaled if that needs no further product */
    int scaled;
} ks_two;

/*
 * Possible rounding errors of an estimate from all data, without a row and without a column, in addition to
 * KS_LOST_OF_ITSELF times the estimate
 */
#define KS_LOST_OF_ITSELF (32 * DBL_EPSILON)
typedef struct {
    double all, row, col;
} ks_lost;

/* The four sums above, and t, the sum of s_xz over the columns of the first matrix */
typedef struct {
    double a, b, c, d, t;
} ks_quad;

typedef struct {
    ks_quad all;
    /*
     * a over all pairs of columns, including a column with itself: <X X^T, Y Y^T> if each matrix has one
     * trial
     */
    double whole;
    /* sums of |x| |z| over the columns of the first matrix, of |y| |w| over the columns of the second one */
    double size, other_size;
    /*
     * the sums without row i, without column alpha of the first matrix, and without column gamma of the
     * second matrix (NULL if same)
     */
    ks_quad *row, *col, *other;
    /*
     * the sums over pairs of different columns after dividing each column by the root of its root mean
     * square; has_scaled: 0 if these sums are unknown
     */
    ks_quad scaled;
    int has_scaled;
} ks_sums;

/*
 * Computes the sums on run->device, or on the CPU without a device. Time: a few products of P x Q and Q x R
 * matrices, or of P x P matrices if these are smaller. The arena owns the lists.
 */
kspec_status ks_sums_make(const ks_run *run, const ks_two *t, ks_sums *s, ks_arena *arena, kspec_error *err);

/* P rows, a sample without replacement of a population; INFINITY: of infinitely many rows */
typedef struct {
    int centered;
    size_t P;
    double population;
} ks_sums_rows;

/*
 * The divisor that turns the sums into the mean over pairs of columns of one matrix, with `count` = Q columns
 * from a population: Q, or more if pairs of a column with itself count.
 */
double ks_sums_pairs(size_t count, double population);

/*
 * The fraction to subtract of the pairs of a column with itself: 1 for an infinite population, 0 for complete
 * columns
 */
double ks_sums_own_share(size_t count, double population);

/*
 * The average product of the covariances (x,y) and (z,w), over distinct rows and over `pairs` pairs of
 * columns: a polykay. Centred data need four distinct rows, other data two. For a finite population of rows
 * the average is unbiased for the product of the population's own covariances, which divide by the
 * population's size.
 */
double ks_sums_cross(const ks_quad *q, const ks_sums_rows *rows, double pairs);

/* The average product of the covariances (x,z) and (y,w). For one matrix, this is the square of the trace */
double ks_sums_traces(const ks_quad *q, const ks_sums_rows *rows, double pairs);

/* The sum of |coefficients| of such an average: the largest average of sums up to 1 */
double ks_sums_terms(const ks_sums_rows *rows, double pairs);

/*
 * The possible rounding errors of averages whose sums of absolute values have the error `error`. pairs: the
 * number of pairs of columns. fewer: the least number without one column. |s_xy s_zw|, |s_xz s_yw|, |s_xw
 * s_yz| and the terms of s_xyzw are at most |x| |z| |y| |w|.
 */
ks_lost ks_sums_lost(const ks_sums_rows *rows, double pairs, double fewer, double error);

/* The relative rounding error of sums of this many rows, centred beforehand */
double ks_sums_epsilon(size_t P);

/* The trace of the first matrix's kernel operator: the mean over Q columns of the covariance of x and z */
double ks_sums_trace(const ks_quad *q, const ks_sums_rows *rows, size_t Q);
