/* Part of kspec.h: eigenvalues of the kernel operator from its moments. */
#ifndef KSPEC_SPECTRUM_H
#define KSPEC_SPECTRUM_H

#include "kspec/moments.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * From moments to eigenvalues, after Kong and Valiant (2017). A probability measure p on a grid s in [0,b] is chosen by
 * linear programming so that its moments are nearest to the given ones,
 *     minimise  || W r ||_1,   r_n = m(n)/(d b^n) - sum_i p_i (s_i/b)^n,   p >= 0,  sum_i p_i = 1,
 * and the d eigenvalues are quantiles of p. Where the errors of the moments are known, this is repeated for `draws`
 * vectors of moments drawn from a normal distribution about the given ones with their covariance (a parametric
 * bootstrap); the eigenvalues reported are then the means over the draws, which are closer to the truth than the one
 * solution, whose spectrum is a flight of few steps (docs/spectrum.md), and their error bars the draws' spread.
 */

/* What the residuals are weighted by. The default is the first of covariance, unit that the moments allow. */
typedef enum {
    KSPEC_WEIGHTS_DEFAULT = 0,
    KSPEC_WEIGHTS_UNIT,      /* W = 1 */
    KSPEC_WEIGHTS_STDERR,    /* W = 1 / standard error */
    KSPEC_WEIGHTS_COVARIANCE /* W^T W = the inverse of the errors' covariance */
} kspec_weights;

typedef enum {
    KSPEC_GRID_UNIFORM = 0,
    KSPEC_GRID_GEOMETRIC /* 0, then from b/10^6 to b in equal ratios */
} kspec_grid;

/* The j-th smallest of the d eigenvalues is the quantile of level ... */
typedef enum {
    KSPEC_QUANTILE_PAPER = 0, /* j/(d+1) */
    KSPEC_QUANTILE_MIDPOINT   /* (j - 1/2)/d */
} kspec_quantile;

typedef struct {
    size_t size;
    /*
     * d, how many eigenvalues to give; default min(P,Q). It should be no less than the number that matter: more add
     * little but zeros.
     */
    size_t rank;
    size_t grid; /* grid points, 3 to 100,000; default 1001 */
    kspec_grid spacing;
    /* b, no less than the largest eigenvalue. Default: that of the sample matrix, or what the moments say. */
    double upper;
    kspec_weights weights;
    kspec_quantile quantile;
    int draws;       /* default 200; negative: none, and the plain solution */
    const double *t; /* where to give the effective dimension sum lambda/(lambda+t); each > 0 */
    size_t t_count;  /* default: the largest eigenvalue times 1, 0.1, 0.01, 0.001 */
    uint64_t seed;   /* for the draws */
    int threads;
    kspec_progress progress;
} kspec_spectrum_opts;

/* Where b came from. */
typedef enum {
    KSPEC_UPPER_GIVEN = 0,
    KSPEC_UPPER_SAMPLE, /* the largest eigenvalue of Phi Phi^T/(PQ), which is biased upwards */
    KSPEC_UPPER_MOMENTS /* the least (m(n) + 2 std. errors)^(1/n): lambda_1^n <= m(n) for every n */
} kspec_upper;

typedef struct {
    size_t rank;
    double *eigenvalues;      /* rank of them, decreasing: means over the draws, or the plain solution */
    double *std_error;        /* their standard deviations over the draws; NaN without draws */
    double *ci_low, *ci_high; /* 2.5% and 97.5% quantiles of the draws */
    double *plain;            /* the eigenvalues of the plain solution, without draws */
    size_t atoms;             /* the plain solution's measure: grid points of positive mass, increasing */
    double *support, *mass;

    size_t count;                             /* moments */
    double *given, *given_std_error, *fitted; /* fitted: d times the plain measure's */
    double residual; /* ||W r||_1 of the plain solution: the linear program's objective */
    /*
     * How far the nearest measure's moments are from the given ones: the largest |given - fitted|, in standard errors
     * where they are known, otherwise relative to d b^n; and the order at which that is. Above about 1e-7 no measure on
     * [0,b] has the given moments, which is usual where they are estimates.
     */
    double distance;
    int distance_order, distance_in_errors;
    double upper;
    kspec_upper upper_from;
    double grid_step;      /* the least positive point of the grid: what lies well below it is zero */
    kspec_weights weights; /* those used, never DEFAULT */
    int draws;             /* how many were made */

    size_t t_count;
    double *t, *effective_dimension, *effective_dimension_std_error;
    double participation_ratio,
        participation_ratio_std_error; /* m(1)^2/m(2) of the given moments; NaN if m(2) <= 0 */
    size_t sample_count; /* eigenvalues of the sample matrix Phi Phi^T/(PQ), for comparison; 0 if not made: */
    double
        *sample_eigenvalues; /* decreasing, min(P,Q) of them; trials averaged; only where min(P,Q) <= 4096 */
    kspec_moments_result moments; /* the estimates that were used; empty where moments were given */
    double seconds;
} kspec_spectrum_result;

/*
 * Eigenvalues from `count` >= 1 moments m(1), m(2), ... . std_error has their standard errors, or is NULL where they are
 * exact or nothing is known; correlation (count x count) is that of their errors, or NULL where they are independent.
 * opts->rank must be given. Moments that no measure has give the nearest one.
 */
KSPEC_API kspec_status kspec_spectrum_from_moments(const double *m, const double *std_error,
                                                   const double *correlation, size_t count,
                                                   const kspec_spectrum_opts *opts,
                                                   kspec_spectrum_result *out, kspec_error *err);

/*
 * The same from a matrix: kspec_moments() with the options `how` (one estimator; its threads, seed, progress and
 * correlation are set from opts), then the above. Error bars exist where every order has one: not at n = min(P,Q).
 */
KSPEC_API kspec_status kspec_spectrum(const kspec_matrix *phi, size_t ntrials, const kspec_moments_opts *how,
                                      const kspec_spectrum_opts *opts, kspec_spectrum_result *out,
                                      kspec_error *err);
KSPEC_API void kspec_spectrum_free(kspec_spectrum_result *result);

/* The linear-programming solver in use, such as "Clp 1.17.6". */
KSPEC_API const char *kspec_lp_solver(void);

#ifdef __cplusplus
}
#endif
#endif
