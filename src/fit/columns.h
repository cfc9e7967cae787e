/*
 * Noise whose variance differs between columns, as those of neurons do. The trials show each column's; the
 * forward map needs their law alone: how many columns have how many times the mean variance.
 */
#pragma once

#include "base/memory.h"
#include "linalg/complex.h"
#include "moments/trials.h"

/* count ratios to the mean variance, with shares of the columns that sum to 1; count 0: all are equal. */
typedef struct {
    size_t count;
    const double *ratio, *share;
} ks_columns;

/*
 * kappa as a function of c: 1/kappa is the mean over columns of 1/(c + v ratio). The point c lies above the
 * real axis. Equal columns have kappa = c + v.
 */
typedef struct {
    /* kappa, and its derivative by c */
    ks_cplx kappa, slope;
    /* the mean of v ratio/(c + v ratio) = 1 - c/kappa, and its derivative by log c */
    ks_cplx part, part_slope;
    /* the mean of arg (c + v ratio), less arg kappa */
    double angle;
    /* Im c/Im kappa, and the mean of v ratio/|c + v ratio|^2 */
    double pull, weight;
} ks_columns_at;

ks_columns_at ks_columns_sums(const ks_columns *law, double v, ks_cplx c);

/* c from kappa by Newton's method, from a guess (NaN: none). */
ks_cplx ks_columns_solve(const ks_columns *law, double v, ks_cplx kappa, ks_cplx guess);

/* What trials show of the noise in their mean. */
typedef struct {
    /* its variance, averaged over entries; NaN with one trial */
    double variance;
    /*
     * Relative standard errors of that mean: for these columns, and as an estimate for all rows and columns
     * that might have been measured.
     */
    double own_error, error;
    ks_columns law;
} ks_noise;

/* From the differences of t's trials; everything is held by the arena. */
kspec_status ks_noise_of_trials(const ks_trials *t, ks_arena *arena, ks_noise *out, kspec_error *err);

/* The law of n relative variances whose own errors have this mean square: their spread is shrunk by it. */
kspec_status ks_columns_law(size_t n, const double *variance, double error, ks_arena *arena, ks_columns *law,
                            kspec_error *err);
