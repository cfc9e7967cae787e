/*
 * Second-order statistics of two matrices with the same rows, exactly, with every row and every column left
 * out in turn. A matrix has two trials, which are the same where there is one. Of the first, X and Z are the
 * trials, columns alpha; of the second, Y and W are the trials in the opposite order, columns gamma (so that
 * neighbours in a product come from different trials). With s_xy = sum_i x_i y_i and so on, the sums over
 * pairs of columns (alpha, gamma) are
 *
 *     a = sum s_xy s_zw,   b = sum s_xz s_yw,   c = sum s_xw s_yz,   d = sum s_xyzw.
 *
 * From them follow, without bias, averages over distinct rows: of the product of covariances (x,y) and (z,w),
 * which is the trace of the product of two kernel operators; and of (x,z) and (y,w), which is the product of
 * two traces.
 */
#pragma once

#include "base/memory.h"
#include "base/parallel.h"

#include <float.h>

typedef struct {
    /* P x Q, row-major, dense */
    const double *X, *Z;
    /* P x R; the same matrix as the first: Y = Z and W = X */
    const double *Y, *W;
    size_t P, Q, R;
    /* 1: the second is the first, and a column is paired with itself as often as `columns` says */
    int same;
    /*
     * same: how many columns there are, of which the Q are a sample without replacement; 0: infinitely many,
     * and a column is never paired with itself; Q: all of them, and it is paired with itself, too
     */
    double columns;
    /* 1: the columns have mean 0, and a row is left out of the mean as well */
    int centered;
    /* same, and 1: nothing is left out, which takes half the products; the lists are then NULL */
    int whole;
} ks_two;

/*
 * What rounding may have done to an estimate of all, to one without a row and to one without a column, beside
 * KS_LOST_OF_ITSELF times itself
 */
#define KS_LOST_OF_ITSELF (32 * DBL_EPSILON)
typedef struct {
    double all, row, col;
} ks_lost;

/* The four sums, and t = sum of s_xz over the columns of the first */
typedef struct {
    double a, b, c, d, t;
} ks_quad;

typedef struct {
    ks_quad all;
    /* a with every pair of columns, a column and itself included: of one trial each, <X X^T, Y Y^T> */
    double whole;
    /* sums of |x| |z| over the columns of the first, and of |y| |w| over those of the second */
    double size, other_size;
    /*
     * without row i; without column alpha of the first; without column gamma of the second (NULL where same)
     */
    ks_quad *row, *col, *other;
} ks_sums;

/*
 * Time: a few products of P x Q and Q x R matrices, or of P x P where that is less, by run->device where
 * there is one. The lists are in the arena.
 */
kspec_status ks_sums_make(const ks_run *run, const ks_two *t, ks_sums *s, ks_arena *arena, kspec_error *err);

/* The rows: P of them, a sample without replacement of a population; INFINITY: of infinitely many */
typedef struct {
    int centered;
    size_t P;
    double population;
} ks_sums_rows;

/*
 * What the sums are divided by for the mean over pairs of the columns of one matrix, `count` of a population:
 * Q, or more where a column is paired with itself.
 */
double ks_sums_pairs(size_t count, double population);

/* How much of a column with itself is taken off the sums: 1 of infinitely many columns, 0 of all of them */
double ks_sums_own_share(size_t count, double population);

/*
 * The average over distinct rows (all four, where centred; two otherwise) and over `pairs` pairs of columns
 * of the product of (co)variances (x,y) and (z,w): a polykay. P must be at least 4 (2). Of a finite
 * population of rows it is unbiased for the product of the population's own (co)variances, which divide by
 * their number.
 */
double ks_sums_cross(const ks_quad *q, const ks_sums_rows *rows, double pairs);

/* The same of (x,z) and (y,w): for one matrix, the square of its trace. */
double ks_sums_traces(const ks_quad *q, const ks_sums_rows *rows, double pairs);

/* What the coefficients of the sums of such an average add up to: of sums up to 1, the largest average */
double ks_sums_terms(const ks_sums_rows *rows, double pairs);

/*
 * Of sums of which every one, with the absolute values of its terms, is right to `error`: so many pairs of
 * columns there are, and are left at least. |s_xy s_zw|, |s_xz s_yw|, |s_xw s_yz| and the terms of s_xyzw are
 * no more than |x| |z| |y| |w|.
 */
ks_lost ks_sums_lost(const ks_sums_rows *rows, double pairs, double fewer, double error);

/* What doubles lose of 1: sums of so many rows, centred before */
double ks_sums_epsilon(size_t P);

/* The trace of the first's kernel operator: the mean over its Q columns of the (co)variance of x and z. */
double ks_sums_trace(const ks_quad *q, const ks_sums_rows *rows, size_t Q);
