/* Part of kspec.h: weighted least squares with Fourier or any other features. */
#ifndef KSPEC_WLS_H
#define KSPEC_WLS_H
#include "kspec/doubt.h"

/* -------------------------------------------------------------------------- on the Fourier grid */
/* Data y_j, j < N, at x_j = 2 pi j/N come from f(x) = sum_{k<P} theta_k e^{ikx} plus noise delta_j of
 * standard deviation s. E|theta_k|^2 is proportional to t_k^(-2 gamma), t_k = 1+k, with sum 1. The estimate
 * theta^ fits the first p of the P modes, with weights t^-alpha of the data if p < N, and t^-beta of the
 * modes if p > N (docs/explanation/wls.md). Complex arrays are pairs of doubles, real part first.
 *
 * UNDER: p < N, no fit meets all data. OVER: p >= N, the fit meets all data, in many ways if p > N. */
typedef enum { KSPEC_WLS_REGIME_UNDER = 0, KSPEC_WLS_REGIME_OVER } kspec_wls_regime;

typedef struct {
    size_t size;
    size_t P;                  /* modes of the truth, at least N; default: N, or the largest p if more */
    double alpha, beta, gamma; /* exponents of the data weights, of the feature weights, and of the truth */
    double noise;              /* s, at least 0 */
    int complex_noise;         /* 1: circular complex noise with E|delta_j|^2 = s^2. 0: real noise. */
    int complex_data;          /* kspec_wls_fit(): 1: y is N pairs of doubles. 0: N doubles. */
    int no_variance;           /* 1: no variance, which saves more than half of the time */
    uint64_t seed;
    int threads;
    kspec_progress progress;
    /* The N eigenvalues s_m of the covariance of any stationary noise, E delta_j conj(delta_l) = (1/N) sum_m
     * s_m e^{2 pi i (j-l) m/N}, instead of `noise`; real noise has s_m = s_{N-m}. The variance then takes N
     * p^2 multiply-adds for p < N. NULL: white noise. */
    const double *noise_spectrum;
    kspec_team *team; /* for the points of theory and best_p and the draws of empirical */
} kspec_wls_opts;

/* The errors at one p, expected or measured. n is the part of theta^ due to the noise. */
typedef struct {
    size_t p;
    kspec_wls_regime regime;
    double alpha, beta; /* the exponents of the weights, one of them chosen by kspec_wls_best_weight() */
    double error, error_noise_free, error_noise; /* E|theta^ - theta|^2, and its parts without n and E|n|^2 */
    double variance;                             /* of |n|^2 over normally distributed noise */
    /* The standard errors of the four if they are measured, or a bound on their relative error if expected */
    double error_se, error_noise_free_se, error_noise_se, variance_se, accuracy;
} kspec_wls_point;

typedef struct {
    size_t N, P, draws; /* as used; draws of kspec_wls_empirical() */
    size_t count;       /* in the order of the list of p */
    kspec_wls_point **points;
    double seconds;
} kspec_wls_result;

/* The expected errors at each of `count` values of p, 1 <= p <= P. p >= N: the whole list costs O(P). p < N:
 * O(p^2 + p (N-p)) for each p, by a recursion (docs/explanation/wls.md) with the error `accuracy`. If that
 * exceeds 1e-9 (weights that span more than about 1e12: alpha > 1.5 at N = 4096), the call uses a QR
 * factorisation, O(N p^2). If that costs more than 1e11, or is less accurate than 1e-6, the call fails with
 * KSPEC_E_NUMERIC. */
KSPEC_API kspec_status kspec_wls_theory(size_t N, const size_t *p, size_t count, const kspec_wls_opts *opts,
                                        kspec_wls_result **out, kspec_error *err);

/* The same by simulation: `draws` >= 2 times it draws circular complex normal coefficients and normal noise,
 * computes data, and fits theta^ as kspec_wls_fit() does. All values of p use the same draws. */
KSPEC_API kspec_status kspec_wls_empirical(size_t N, const size_t *p, size_t count, size_t draws,
                                           const kspec_wls_opts *opts, kspec_wls_result **out,
                                           kspec_error *err);

/* The p of least expected error (the smallest of equals) among `count` candidates or, if p is NULL, among 1
 * ... P. The result has one point. All of 1 ... P cost O(P) for p >= N, O(N^3) for p < N and alpha not 0. */
KSPEC_API kspec_status kspec_wls_best_p(size_t N, const size_t *p, size_t count, const kspec_wls_opts *opts,
                                        kspec_wls_result **out, kspec_error *err);

/* The weight of least expected error at a given p, in [low, high], low < high: alpha if p < N, beta if p > N.
 * The result is one point with that weight; at p = N none has any influence, and beta is `low`. The search
 * tries 25 values, then golden sections around the best, to 1e-6 of the interval. It skips weights so steep
 * that kspec_wls_theory() is less accurate than 1e-6. */
KSPEC_API kspec_status kspec_wls_best_weight(size_t N, size_t p, double low, double high,
                                             const kspec_wls_opts *opts, kspec_wls_result **out,
                                             kspec_error *err);

typedef struct {
    size_t N, p;
    kspec_wls_regime regime;
    double *theta, *fitted; /* theta^: p pairs of doubles; f^ at the data points: N pairs of doubles */
    double residual;        /* root mean square of y - f^ at the data points, unweighted */
    int iterations;         /* of conjugate gradients, all refinements together */
    double seconds;
} kspec_wls_fit_result;

/* The estimate theta^ itself, from y: N doubles, or N pairs with `complex_data`. Only the options alpha, beta
 * and complex_data have an effect. p >= N: one Fourier transform, O(p + N log N). p < N: conjugate gradients,
 * O(N log N) each, or QR. */
KSPEC_API kspec_status kspec_wls_fit(size_t N, size_t p, const double *y, const kspec_wls_opts *opts,
                                     kspec_wls_fit_result **out, kspec_error *err);

/* f(x) = sum_{k<p} theta_k e^{ikx} at `count` points, to f (count pairs of doubles). */
KSPEC_API kspec_status kspec_wls_predict(const double *theta, size_t p, const double *x, size_t count,
                                         double *f, int threads, kspec_error *err);

/* -------------------------------------------------------------------------------- smooth curves */
/* A curve through data at any x, with a band: y_i = f(x_i) + noise of standard deviation s/sqrt(weight_i). f
 * = sum_k theta_k phi_k in a basis of p functions, the first of them 1. The coefficients of the others are
 * normal, with variances that fall with the level of phi_k (its frequency or degree). The marginal likelihood
 * of the data compares bases, variances and s (docs/explanation/smoothing.md). */
typedef enum {
    KSPEC_WLS_BASIS_AUTO = 0,  /* one of the next three, or FOURIER for complex data */
    KSPEC_WLS_BASIS_REAL,      /* 1, sqrt(2) cos(lu), sqrt(2) sin(lu), l = 1, 2, ...: periodic */
    KSPEC_WLS_BASIS_COSINE,    /* 1, sqrt(2) cos(lu), u from 0 to pi */
    KSPEC_WLS_BASIS_LEGENDRE,  /* polynomials sqrt(2l+1) P_l(u), u from -1 to 1 */
    KSPEC_WLS_BASIS_CHEBYSHEV, /* 1, sqrt(2) T_l(u) */
    KSPEC_WLS_BASIS_FOURIER    /* e^{ilu}, l = 0, 1, ..., the modes of the grid above: for complex data */
} kspec_wls_basis;

/* How variances depend on the level l: as (1+l)^(-2 beta), as e^(-2 b l), or equal up to a degree, then 0 */
typedef enum { KSPEC_WLS_PRIOR_POWER = 0, KSPEC_WLS_PRIOR_EXP, KSPEC_WLS_PRIOR_SHARP } kspec_wls_prior;

typedef struct {
    size_t size;
    kspec_wls_basis basis;
    size_t p;              /* functions to fit, at most as many as different x; 0: as many as are useful */
    double beta;           /* above 0: variances are (1+l)^(-2 beta); 0: chosen */
    double noise;          /* s, above 0; 0: estimated */
    double period;         /* of the periodic bases; 0: chosen */
    int complex_data;      /* 1: y is N pairs of doubles. 0: N doubles. */
    int gaps;              /* 1: NaN in y is a gap, where the result gives the curve. 0: it is an error. */
    int stop_at_noise;     /* 1: least squares with the fewest functions that leave a residual of s */
    const double *weights; /* N numbers of at least 0, as scikit-learn's sample_weight. NULL: all 1. */
    const double *at;      /* at_count further x, where the result gives the curve */
    size_t at_count;
    int threads;
    kspec_progress progress;
} kspec_wls_smooth_opts;

/* One of the compared bases, its probability, and the probability of each kspec_wls_prior in it. */
typedef struct {
    kspec_wls_basis basis;
    double probability, prior[3];
} kspec_wls_choice;

/* Least squares with p functions: the squared error at the data points, expected from the priors and s. */
typedef struct {
    size_t p;
    double error, residual;
} kspec_wls_curve_point;

typedef struct {
    size_t N, gaps, p;     /* points, points without a value, functions */
    kspec_wls_basis basis; /* in use, on [low, high]; period is high - low for a periodic basis */
    double low, high, period;
    int regular;   /* 1: a grid on which the functions are orthogonal */
    double *theta; /* posterior means: p doubles, for FOURIER p pairs */
    /* The curve: N doubles, for complex data N pairs. The 95% band is +- half_width, for either part. */
    double *fitted, *half_width;
    double *at_fitted, *at_half_width; /* the same at the further x */
    /* s with its 95% interval, and the exponent of the power law in this basis; NaN if given */
    double noise, noise_low, noise_high, beta, beta_low, beta_high;
    size_t choice_count;
    kspec_wls_choice **choices; /* the most probable first */
    double error;               /* the expected squared error of the curve at the points */
    /* Least squares with each of several p, and the p of least expected error. For p = N the error is s^2. */
    size_t curve_count;
    kspec_wls_curve_point **curve, *best;
    size_t doubt_count;
    kspec_doubt **doubts;
    double seconds;
} kspec_wls_smooth_result;

/* N points x (NULL: x_j = 2 pi j/N) and y. A regular grid costs O(N log N) in a Fourier or cosine basis, all
 * other cases O(N p^2 + p^3). */
KSPEC_API kspec_status kspec_wls_smooth(size_t N, const double *x, const double *y,
                                        const kspec_wls_smooth_opts *opts, kspec_wls_smooth_result **out,
                                        kspec_error *err);

/* ------------------------------------------------------------------------- features that smooth */
/* The model of Theorem 5.1 of "A Generalized Weighted Optimization Method for Computational Learning and
 * Inversion": Psi = U S V* with singular values t_k^-zeta. In the bases U and V, y_k = t_k^-zeta theta_k +
 * delta_k; the estimate inverts the first p. Each delta_k, k < N, has the standard deviation s. */
typedef struct {
    size_t p;
    double error; /* sum_{k<p} s^2 t_k^(2 zeta) + sum_{k>=p} E|theta_k|^2, exact */
    double bound; /* p^(2(zeta-alpha)) E|L^alpha delta|^2 + p^(-2 beta) E|L^beta theta|^2, at least `error` */
} kspec_wls_bound_point;

typedef struct {
    size_t N, P, count; /* the points are in the order of the list of p */
    kspec_wls_bound_point **points;
    /* The theorem's p, (E|L^beta theta|^2 / E|L^alpha delta|^2)^(1/(2(zeta+beta-alpha))) to leading order,
     * and the real p that minimises the bound: the same with the ratio times beta/(zeta-alpha) */
    double theorem_p, least_p, seconds;
} kspec_wls_bound_result;

/* Error and bound at each of `count` values of p, 1 <= p <= N; all together O(P). Needs zeta > alpha >= 0 and
 * beta > 0. Only the options P, alpha, gamma and noise have an effect. Without noise theorem_p and least_p
 * are infinite. */
KSPEC_API kspec_status kspec_wls_bound(size_t N, double zeta, double beta, const size_t *p, size_t count,
                                       const kspec_wls_opts *opts, kspec_wls_bound_result **out,
                                       kspec_error *err);

/* ---------------------------------------------------------------------------------- any features */
typedef struct {
    size_t size;
    size_t p; /* learn the first p columns of Psi; default: all */
    /* The weights A and B: theta^ = B w, and w minimises |A (Psi_p B w - y)|. Each is a diagonal (a column of
     * N, or of p numbers), a square matrix, or NULL: the identity. */
    const kspec_matrix *data_weights, *feature_weights;
    /* K and C, the covariances of all P coefficients and of the noise: square, or the diagonal; or NULL */
    const kspec_matrix *prior, *noise_cov;
    const kspec_matrix *at; /* features of other points to predict at, with at least p columns; or NULL */
    double rank_tol; /* singular values below this fraction of the largest are 0; default max(N,p) 2.2e-16 */
    int threads;
    kspec_progress progress;
    double ridge; /* adds ridge |w|^2 to the objective, at least 0: equation (59) of the paper */
} kspec_wls_features_opts;

typedef struct {
    size_t N, P, p;
    size_t outputs, predicted_rows;     /* the columns of y, and the rows of `at` */
    double *theta, *fitted, *predicted; /* p x outputs; Psi_p theta, N x outputs; the same at `at` */
    size_t singular_count, rank;        /* of A Psi_p B: min(N,p), and how many of them are above 0 */
    double *singular_values;            /* decreasing */
    double residual;                    /* root mean square of y - Psi_p theta */
    double error_noise_free;            /* tr(E K E^T), E = M Psi - I, M the map from y to theta */
    double error_noise;                 /* tr(M C M^T) */
    double variance;                    /* of |M delta|^2, delta ~ N(0,C) real: 2 |M C M^T|_F^2 */
    double seconds;
} kspec_wls_features_result;

/* Weighted least squares with a real feature matrix Psi (N x P), through the singular value decomposition of
 * A Psi_p B and a decision on its rank: among all minimisers it takes the one of least |w|. y is N x outputs,
 * or NULL if you only want errors. Every entry must be finite, and both covariances symmetric and positive
 * semidefinite; otherwise KSPEC_E_DATA. */
KSPEC_API kspec_status kspec_wls_features(const kspec_matrix *psi, const kspec_matrix *y,
                                          const kspec_wls_features_opts *opts,
                                          kspec_wls_features_result **out, kspec_error *err);
/* Features of the neural tangent kernel (equation (64) of the paper) of the network f(x) = sum_m a_m
 * max(w_m.x, 0)/sqrt(M) with M neurons, w_m ~ N(0, scale^2 I) and a_m uniform on (-1,1): column m p + k of
 * psi (n x M p) is the derivative a_m [w_m.x > 0] x_k/sqrt(M). start (n) receives f: a linearised network
 * fits the target minus start. The network depends only on the seed, so that several calls may compute rows.
 */
KSPEC_API kspec_status kspec_wls_ntk(const kspec_matrix *x, size_t neurons, double scale, uint64_t seed,
                                     double *psi, double *start, kspec_error *err);

/* ---------------------------------------------------------------------------------- kernel decay */
/* exp(-|x-y|^2 / (2 sigma^2)), or (slope x.y + 1)^degree */
typedef enum { KSPEC_WLS_KERNEL_GAUSSIAN = 0, KSPEC_WLS_KERNEL_POLYNOMIAL } kspec_wls_kernel;

typedef struct {
    size_t size;
    kspec_wls_kernel kernel;
    double sigma;
    double slope;             /* above 0; default 1 */
    int degree;               /* at least 1; default 3 */
    int unit_sphere, threads; /* unit_sphere, 1: divide every row of X by its length first */
    kspec_progress progress;
} kspec_wls_decay_opts;

typedef struct {
    size_t count;
    double *values; /* the singular values, one for each row of X, decreasing */
    /* The zeta of values ~ k^-zeta, by least squares on the logarithms of the values in the first half that
     * are above 1e-12 of the first; NaN if these are fewer than 3. */
    double exponent, seconds;
} kspec_wls_decay_result;

/* The singular values of the n x n kernel matrix of the n rows of X, and how fast they decay: O(n^3). */
KSPEC_API kspec_status kspec_wls_decay(const kspec_matrix *X, const kspec_wls_decay_opts *opts,
                                       kspec_wls_decay_result **out, kspec_error *err);
#endif
