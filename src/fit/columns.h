/*
 * Describes noise whose variance differs between columns, as the noise of neurons does. The trials show the
 * variance of each column. The forward map needs only the law, which gives the share of columns for each
 * ratio of a variance to the mean variance.
 */
#pragma once

#include "base/memory.h"
#include "linalg/complex.h"
#include "moments/trials.h"

/*
 * The law lists `count` ratios to the mean variance, with shares of the columns that sum to 1. A count of 0
 * means equal columns.
 */
typedef struct {
    size_t count;
    const double *ratio, *share;
} ks_columns;

/*
 * Describes the number kappa as a function of a point c above the real axis. 1/kappa is the mean over columns
 * of 1/(c + v ratio). With equal columns, kappa = c + v.
 */
typedef struct {
    /* slope is d kappa/dc */
    ks_cplx kappa, slope;
    /*
     * part is the mean of v ratio/(c + v ratio), which is 1 - c/kappa. part_slope is its derivative with
     * respect to log c.
     */
    ks_cplx part, part_slope;
    /* angle is the mean over columns of arg (c + v ratio), minus arg kappa. */
    double angle;
    /* pull is Im c/Im kappa, and weight is the mean of v ratio/|c + v ratio|^2. */
    double pull, weight;
} ks_columns_at;

ks_columns_at ks_columns_sums(const ks_columns *law, double v, ks_cplx c);

/* Solves for c given kappa by Newton's method, starting at a guess. The guess may be NaN. */
ks_cplx ks_columns_solve(const ks_columns *law, double v, ks_cplx kappa, ks_cplx guess);

/* Describes the noise in the mean of the trials, estimated from the trials. */
typedef struct {
    /* `variance` is the noise's variance, averaged over entries, or NaN with one trial. */
    double variance;
    /*
     * Relative standard errors of `variance`. own_error holds for the given columns, and `error` for all rows
     * and columns of the population.
     */
    double own_error, error;
    /* column[j] is the variance of column j's noise. column is NULL with one trial. */
    const double *column;
    ks_columns law;
} ks_noise;

/* Estimates the noise from the differences of t's trials. The arena owns the law. */
kspec_status ks_noise_of_trials(const ks_trials *t, ks_arena *arena, ks_noise *out, kspec_error *err);

/*
 * Computes the law of n relative variances. The function reduces their spread by `error`, the mean square of
 * their own errors.
 */
kspec_status ks_columns_law(size_t n, const double *variance, double error, ks_arena *arena, ks_columns *law,
                            kspec_error *err);
