/*
 * Noise whose variance differs between columns, as the noise of neurons does. The trials show the variance of
 * each column. The forward map needs only the law: what share of columns has which ratio to the mean
 * variance.
 */
#pragma once

#include "base/memory.h"
#include "linalg/complex.h"
#include "moments/trials.h"

/* `count` ratios to the mean variance, with shares of the columns that sum to 1; count 0: all are equal */
typedef struct {
    size_t count;
    const double *ratio, *share;
} ks_columns;

/*
 * Describes kappa as a function of c. 1/kappa is the mean over columns of 1/(c + v ratio). The point c lies
 * above the real axis. With equal columns, kappa = c + v.
 */
typedef struct {
    /* kappa, and its derivative with respect to c */
    ks_cplx kappa, slope;
    /* the mean of v ratio/(c + v ratio) = 1 - c/kappa, and its derivative with respect to log c */
    ks_cplx part, part_slope;
    /* the mean over columns of arg (c + v ratio), minus arg kappa */
    double angle;
    /* Im c/Im kappa, and the mean of v ratio/|c + v ratio|^2 */
    double pull, weight;
} ks_columns_at;

ks_columns_at ks_columns_sums(const ks_columns *law, double v, ks_cplx c);

/* Solves for c given kappa by Newton's method, starting at a guess (NaN: none). */
ks_cplx ks_columns_solve(const ks_columns *law, double v, ks_cplx kappa, ks_cplx guess);

/* The noise in the mean of the trials, estimated from the trials */
typedef struct {
    /* the noise's variance, averaged over entries; NaN with one trial */
    double variance;
    /*
     * relative standard errors of `variance`: for these columns, and for all rows and columns of the
     * population
     */
    double own_error, error;
    /* the variance of each column's noise; NULL with one trial */
    const double *column;
    ks_columns law;
} ks_noise;

/* Estimates the noise from the differences of t's trials. The arena holds the result. */
kspec_status ks_noise_of_trials(const ks_trials *t, ks_arena *arena, ks_noise *out, kspec_error *err);

/* The law of n relative variances, whose spread is reduced by `error`, the mean square of their own errors */
kspec_status ks_columns_law(size_t n, const double *variance, double error, ks_arena *arena, ks_columns *law,
                            kspec_error *err);
