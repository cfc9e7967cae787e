/*
 * Fits a smooth curve through data (docs/explanation/smoothing.md). A basis turns N points into K numbers
 * z. These numbers are R theta plus noise of standard deviation s. The marginal likelihood of z compares
 * the priors on theta. The curve and its band come from the posterior, averaged over the priors.
 */
#pragma once

#include "base/memory.h"
#include "base/parallel.h"
#include "wls/fft.h"
#include "kspec/wls.h"

/* ---- the data ---- */

/* Holds the points in use, by increasing x. */
typedef struct {
    size_t N, distinct;
    const double *x;
    /* the points' places in the caller's arrays */
    const size_t *place;
    /* the data minus `mean`, divided by `unit`; the imaginary part of real data is 0 */
    const ks_cplx *y;
    ks_cplx mean;
    double unit;
    /*
     * the square roots of the weights, in units of their root mean square `weight`; NULL if all weights
     * are 1
     */
    const double *root_weight;
    double weight;
    /* the distance of neighbours on a regular grid without weights, or 0 for irregular points */
    double step;
    int is_complex;
} ks_smooth_data;

/* ---- bases (smooth_basis.c) ---- */

/*
 * A basis has K functions on [low, high], which is one period for Fourier functions. The first function is
 * 1. A complex mode e^{iku} counts as two functions: the mode, and i times the mode. A point then has two
 * numbers, the real and the imaginary part.
 */
typedef struct {
    kspec_wls_basis kind;
    double low, high;
    size_t K;
} ks_basis;

/*
 * Returns how many numbers a point has, which is also the number of functions of level 0; these functions
 * have no prior.
 */
static inline size_t ks_basis_parts(const ks_basis *b) { return b->kind == KSPEC_WLS_BASIS_FOURIER ? 2 : 1; }
/* Returns the frequency or the degree of function k. */
size_t ks_basis_level(const ks_basis *b, size_t k);
/* Returns the number of functions whose level is at most `level`. */
size_t ks_basis_upto(const ks_basis *b, size_t level);
/* Evaluates all functions at x; phi receives parts x K numbers. */
void ks_basis_values(const ks_basis *b, double x, double *phi);
int ks_basis_is_periodic(const ks_basis *b);
/* Returns 1 if the functions are orthogonal on the points, so that R is diagonal. */
int ks_basis_is_regular(const ks_basis *b, const ks_smooth_data *d);
/*
 * Creates the basis for these data, with its interval and K functions. K is p, or, if p is 0, as many
 * functions as are useful.
 */
ks_basis ks_basis_for(kspec_wls_basis kind, const ks_smooth_data *d, double period, size_t p);

/* ---- data in a basis (smooth_reduce.c) ---- */

/* In the basis, |y - Phi theta|^2 = |z - R theta|^2 + rest. */
typedef struct {
    ks_basis basis;
    /* the number of functions, the number of functions without a prior, and the number of values in y */
    size_t K, flat, rows;
    double *z, rest;
    /*
     * R is stored in full (K x K, upper triangle, row-major) or as its diagonal; the other pointer is
     * NULL.
     */
    double *R, *diagonal;
    /* the number of points, which determines aliases on a regular grid */
    size_t N;
} ks_reduced;

kspec_status ks_smooth_reduce(const ks_run *run, const ks_basis *b, const ks_smooth_data *d, ks_arena *arena,
                              ks_reduced *out, kspec_error *err);

/*
 * Computes sum_k theta_k phi_k and sum_k v_k phi_k^2 at the points of a regular grid. If v is NULL, it
 * computes only the first sum.
 */
kspec_status ks_smooth_on_grid(const ks_reduced *r, const double *theta, const double *v, ks_cplx *curve,
                               double *variance, kspec_error *err);

/* ---- priors and their evidence (smooth_evidence.c) ---- */

enum { KS_SHAPES = 16, KS_SCALES = 77, KS_PRIORS = 3 };

/*
 * A prior is theta_k ~ N(0, s^2 c a(level)). Here a = t^-2g (power law, t = 1 + level), or a = e^-2g level
 * (exponential). The prior "sharp degree" gives (R theta)_k the variance s^2 c up to a level, and 0 beyond
 * that level. The scale c takes values on a grid.
 */
typedef struct {
    kspec_wls_prior prior;
    double shape;
    /* the number of functions in addition to the flat functions; coefficients of later functions are zero */
    size_t k;
    double scale[KS_SCALES], log_evidence[KS_SCALES];
    /* q is the weighted sum of squares of the residual; s^2 is q/n. */
    double misfit[KS_SCALES];
    /* the number of degrees of freedom that the curve uses */
    double used[KS_SCALES];
    /*
     * if R is given: the eigenvectors (columns) and eigenvalues of R a R^T, and z in the basis of these
     * eigenvectors
     */
    double *vectors, *values, *z;
} ks_candidate;

typedef struct {
    const ks_reduced *data;
    /* given, or 0 */
    double beta, noise;
    size_t count;
    ks_candidate *at;
    /*
     * the logarithms of the evidence, summed over all candidates and over the candidates of each prior; n
     * is the degrees of freedom of the noise
     */
    double log_evidence, log_prior[KS_PRIORS];
    double n;
} ks_evidence;

kspec_status ks_smooth_evidence(const ks_run *run, const ks_reduced *r, double beta, double noise,
                                ks_arena *arena, ks_evidence *out, kspec_error *err);
/* Returns a(level) of a prior, including aliases on a regular grid. */
double ks_prior_variance(const ks_reduced *r, kspec_wls_prior prior, double shape, double level);
/* log(e^a + e^b) */
double ks_log_sum(double a, double b);

/* ---- the posterior (smooth_posterior.c) ---- */

typedef struct {
    const ks_reduced *data;
    /* theta is the posterior mean, K numbers. signal holds the prior variances of z; the papers' formula
     * for the error uses them. */
    double *theta, *signal;
    /*
     * the covariance of theta: a full matrix (K x K), or a diagonal plus the sum of v v^T over `spread`
     * vectors (spread x K)
     */
    double *full, *diagonal, *vectors;
    size_t spread;
    double noise, noise_low, noise_high, beta, beta_low, beta_high;
} ks_posterior;

kspec_status ks_smooth_posterior(const ks_evidence *e, ks_arena *arena, ks_posterior *out, kspec_error *err);
/*
 * Replaces the posterior by the least-squares fit with the fewest functions whose residual is of the size
 * of the noise, and sets *p to their number.
 */
kspec_status ks_smooth_stopped(const ks_evidence *e, ks_posterior *post, size_t *p, ks_arena *arena,
                               kspec_error *err);
/* Computes the curve and its standard deviation at any points, or on the regular grid of the data. */
kspec_status ks_smooth_at(const ks_run *run, const ks_posterior *post, const double *x, size_t count,
                          ks_cplx *curve, double *deviation, kspec_error *err);
kspec_status ks_smooth_at_grid(const ks_posterior *post, ks_cplx *curve, double *deviation, kspec_error *err);
