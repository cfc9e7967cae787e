/* Part of kspec.h: weighted least squares with Fourier or any other features. */
#ifndef KSPEC_WLS_H
#define KSPEC_WLS_H

#include "kspec/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------ on the Fourier grid
 *
 * Data y_j, j < N, at x_j = 2 pi j/N come from f(x) = sum_{k<P} theta_k e^{ikx} plus noise of variance sigma^2. The
 * coefficients are independent with mean 0 and E|theta_k|^2 = c t_k^(-2 gamma), t_k = 1+k, c such that they add up to 1.
 * The first p of the P modes are learned by weighted least squares: theta^ = L_p^-beta w, where w minimises
 * |L_N^-alpha (Psi_p L_p^-beta w - y)| and, among those that do, |w|; L = diag(t_0, t_1, ...) and
 * Psi_jk = e^{2 pi i jk/N}. L_N^-alpha weights the data points. alpha matters only where p < N, beta only where p > N.
 *
 * Complex arrays are pairs of doubles, real part first.
 */
typedef enum {
    KSPEC_WLS_UNDER = 1, /* p < N: the data cannot all be met */
    KSPEC_WLS_OVER       /* p >= N: they are, in many ways if p > N */
} kspec_wls_regime;

KSPEC_API const char *kspec_wls_regime_name(kspec_wls_regime r); /* "under", "over" */

typedef struct {
    size_t size;
    size_t N; /* points of the grid, at least 1 */
    size_t P; /* modes of the truth, at least N; default: N, or the largest p if that is more */
    double alpha, beta, gamma; /* exponents of the data weights, of the feature weights, of the truth */
    double sigma;              /* standard deviation of the noise, at least 0 */
    int complex_noise; /* 1: circular complex noise with E|delta_j|^2 = sigma^2; 0: real noise (see variance) */
    int no_variance; /* 1: the variance is not wanted and left NaN, which saves more than half of the time */
    uint64_t seed;
    int threads;
    kspec_progress progress;
} kspec_wls_opts;

typedef struct {
    size_t p;
    kspec_wls_regime regime;
    double error_noise_free; /* E|theta^ - theta|^2 without noise */
    double error_noise; /* what noise adds to it: E|n|^2 of n, the part of theta^ that comes from noise */
    double variance;    /* of |n|^2, over normally distributed noise */
    double accuracy;    /* how far, relatively, these may be off; measured where p < N, see below */
} kspec_wls_point;

/*
 * The expected errors for each of `count` values of p, 1 <= p <= P, to out[0 ... count-1].
 *
 * p >= N: sums over modes k, k+N, k+2N, ... that cannot be told apart on the grid; all of the list together costs O(P).
 *
 * p < N: the normal matrix is Hermitian and Toeplitz. Its orthogonal polynomial of degree p (conjugate gradients with
 * transforms of length N, preconditioned by the inverse weights, refined on the residual of the data) gives the fit of
 * every mode by a recursion, and the variance by the matrices' displacement structure: O(p^2 + p (N-p)) for each p. The
 * recursion ends in a value that is known, and what is missing there is `accuracy`. Above 1e-9 (weights that span more
 * than about 1e12: alpha > 1.5 at N = 4096) a QR factorisation takes over, which costs O(N p^2); past 1e11 of that, or
 * where it is no better than 1e-6 either, the call fails with KSPEC_E_NUMERIC.
 */
KSPEC_API kspec_status kspec_wls_theory(const kspec_wls_opts *opts, const size_t *p, size_t count,
                                        kspec_wls_point *out, kspec_error *err);

typedef struct {
    kspec_wls_regime regime;
    double residual; /* root mean square of y - f^ at the data points, unweighted */
    int iterations;  /* of conjugate gradients, all refinements together; 0: none were needed */
    double seconds;
} kspec_wls_fit_info;

/*
 * The estimate itself: theta^ (p pairs of doubles) from y, N doubles or, with `complex_data`, N pairs. opts: N, alpha,
 * beta; the rest plays no part. p >= N: one Fourier transform, O(p + N log N). p < N: conjugate gradients as
 * above, O(N log N) each, or QR. info may be NULL.
 */
KSPEC_API kspec_status kspec_wls_fit(const kspec_wls_opts *opts, size_t p, const double *y, int complex_data,
                                     double *theta, kspec_wls_fit_info *info, kspec_error *err);

/* f(x) = sum_{k<p} theta_k e^{ikx} at `count` points, to f (count pairs of doubles). */
KSPEC_API kspec_status kspec_wls_predict(const double *theta, size_t p, const double *x, size_t count,
                                         double *f, int threads, kspec_error *err);

typedef struct {
    size_t p;
    double error, error_se; /* mean of |theta^ - theta|^2 over draws, its standard error */
    double error_noise_free, error_noise_free_se; /* the same without noise */
    double error_noise, error_noise_se;           /* mean of |n|^2 */
    double variance, variance_se;                 /* of |n|^2 over draws, and the standard error of that */
} kspec_wls_measured;

/*
 * The same by simulation: `draws` >= 2 times, circular complex normal theta and normal noise are drawn, data made, and
 * theta^ fitted as by kspec_wls_fit(). All values of p see the same draws. opts: seed.
 */
KSPEC_API kspec_status kspec_wls_empirical(const kspec_wls_opts *opts, const size_t *p, size_t count,
                                           size_t draws, kspec_wls_measured *out, kspec_error *err);

/*
 * The p of least expected error (noise-free plus noise; the smallest of equals), among `count` candidates or, where p is
 * NULL, among 1 ... P. The whole range costs O(P) where p >= N and O(N^3) where p < N and alpha is not 0.
 */
KSPEC_API kspec_status kspec_wls_best_p(const kspec_wls_opts *opts, const size_t *p, size_t count,
                                        kspec_wls_point *best, kspec_error *err);

/*
 * The weight of least expected error for a given p: alpha where p < N, beta where p > N (the other has no influence), in
 * [low, high], low < high. A grid of 25 values, then golden-section search around the best to 1e-6 of the interval: the
 * error as a function of the weight may have more than one minimum. Weights so steep that the recursion above is no better
 * than 1e-6 are passed over. At p = N no weight has any influence: *weight is low.
 */
KSPEC_API kspec_status kspec_wls_best_weight(const kspec_wls_opts *opts, size_t p, double low, double high,
                                             double *weight, kspec_wls_point *best, kspec_error *err);

/* ------------------------------------------------------------------------------ features that smooth
 *
 * The model of Theorem 5.1 of "A Generalized Weighted Optimization Method for Computational Learning and Inversion":
 * Psi = U S V* with singular values t_k^-zeta; in the bases U and V, y_k = t_k^-zeta theta_k + delta_k, of which the
 * first p are inverted. opts: N, P, gamma, sigma (of each delta_k, k < N), and the exponents alpha and beta of the norms.
 */
typedef struct {
    size_t p;
    double error; /* sum_{k<p} sigma^2 t_k^(2 zeta) + sum_{k>=p} E|theta_k|^2, exact */
    double bound; /* p^(2(zeta-alpha)) E|L^alpha delta|^2 + p^(-2 beta) E|L^beta theta|^2, never below it */
} kspec_wls_bound_point;

typedef struct {
    double
        theorem; /* (E|L^beta theta|^2 / E|L^alpha delta|^2)^(1/(2(zeta+beta-alpha))): the theorem's, to leading order */
    double least; /* where the bound is least over real p: the same with the ratio times beta/(zeta-alpha) */
} kspec_wls_bound_best; /* both infinite without noise */

/*
 * For each p of the list, 1 <= p <= N; all together O(P). Needs zeta > alpha >= 0 and beta > 0. (The paper prints L^-alpha and L^-beta, for
 * which the bound does not hold.) best may be NULL.
 */
KSPEC_API kspec_status kspec_wls_bound(const kspec_wls_opts *opts, double zeta, const size_t *p, size_t count,
                                       kspec_wls_bound_point *out, kspec_wls_bound_best *best,
                                       kspec_error *err);

/* ------------------------------------------------------------------------------------------ any features */

typedef struct {
    size_t size;
    size_t p; /* learn the first p columns of Psi; default all */
    /*
     * Weights: theta^ = B w, w minimises |A (Psi_p B w - y)|. Each is a diagonal (a column of N, or of p numbers), a
     * square matrix, or NULL: the identity.
     */
    const kspec_matrix *data_weights, *feature_weights; /* A, B */
    const kspec_matrix
        *prior; /* K, the covariance of all P coefficients: P x P, or its diagonal; NULL: none */
    const kspec_matrix *noise_cov; /* the covariance of the noise: N x N, or its diagonal; NULL: none */
    const kspec_matrix
        *at; /* features of other points, of at least p columns, at which to predict; NULL: none */
    double
        rank_tol; /* singular values below rank_tol times the largest count as 0; default max(N,p) 2.2e-16 */
    int threads;
    kspec_progress progress;
} kspec_wls_features_opts;

typedef struct {
    size_t p, rank;
    double *theta;           /* p x outputs, row-major; NULL without y */
    double *fitted;          /* Psi_p theta, N x outputs; NULL without y */
    double *predicted;       /* the same for the rows of `at`; NULL without it or y */
    double *singular_values; /* of A Psi_p B, min(N,p) of them, decreasing */
    double residual;         /* root mean square of y - Psi_p theta; NaN without y */
    double error_noise_free; /* tr(E K E^T), E = M Psi - I, M the map from y to theta; NaN without prior */
    double error_noise;      /* tr(M C M^T), C the covariance of the noise; NaN without noise_cov */
    double variance;         /* of |M delta|^2, delta ~ N(0,C) real: 2 |M C M^T|_F^2 */
    double seconds;
} kspec_wls_features_result;

/*
 * Weighted least squares with a real feature matrix Psi (N x P), through the singular value decomposition of A Psi_p B
 * and a decision on its rank: of all minimisers, the one of least |w|. y is N x outputs, or NULL where only errors are
 * wanted. The errors are those of the general trace form (Lemmas A.1 and A.2 of the paper), without its assumption that
 * K is diagonal. Both covariances must be symmetric and positive semidefinite.
 */
KSPEC_API kspec_status kspec_wls_features(const kspec_matrix *psi, const kspec_matrix *y,
                                          const kspec_wls_features_opts *opts, kspec_wls_features_result *out,
                                          kspec_error *err);
KSPEC_API void kspec_wls_features_free(kspec_wls_features_result *r);

/* ------------------------------------------------------------------------------------------- kernel decay */

typedef enum {
    KSPEC_WLS_GAUSSIAN = 1, /* exp(-|x-y|^2 / (2 scale^2)) */
    KSPEC_WLS_POLYNOMIAL    /* (scale x.y + 1)^degree */
} kspec_wls_kernel;

typedef struct {
    size_t size;
    kspec_wls_kernel kernel;
    double scale;    /* default 1 */
    int degree;      /* of the polynomial; default 3 */
    int unit_sphere; /* 1: every row of X is divided by its length first */
    int threads;
    kspec_progress progress;
} kspec_wls_decay_opts;

/*
 * The singular values of the n x n kernel matrix of the n rows of X, in decreasing order, to values[0 ... n-1]; and in
 * *exponent, where it is not NULL, the zeta of values ~ k^-zeta fitted by least squares on logarithms of the values that
 * are above 1e-12 of the first and among the first half; NaN where those are fewer than 3.
 */
KSPEC_API kspec_status kspec_wls_decay(const kspec_matrix *X, const kspec_wls_decay_opts *opts,
                                       double *values, double *exponent, kspec_error *err);

#ifdef __cplusplus
}
#endif
#endif
