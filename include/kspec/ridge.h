/* Part of kspec.h: ridge regression on random features, its errors predicted and measured. */
#ifndef KSPEC_RIDGE_H
#define KSPEC_RIDGE_H
#include "kspec/doubt.h"
#include "kspec/kernel.h"

/* The model. Rows of X (n x p) are samples, W (p x N) has independent standard normal entries, and the
 * features are S = [cos(XW), sin(XW)] (n x 2N): random Fourier features of the Gaussian kernel
 * exp(-|x-x'|^2/2); a bandwidth sigma divides X. Ridge regression minimises |y - S b|^2/n + lambda |b|^2. For
 * large n, p and N its errors hardly depend on W; X, y and the test set predict them (Liao, Couillet and
 * Mahoney; docs/explanation/ridge.md), by Q = ((N/n) (K_cos/(1+delta_cos) + K_sin/(1+delta_sin)) + lambda
 * I)^-1, delta_a = tr(K_a Q)/n. lambda = 0 is the limit lambda -> 0, which does not exist at 2N = n. For 2N >
 * n the features then interpolate: no training error.
 *
 * Other features are S = f(XW), n x N, for a function f with a kernel in closed form. Then there is one
 * delta, and N replaces 2N. */
typedef enum {
    KSPEC_RIDGE_ACTIVATION_FOURIER = 0, /* cos(t) and sin(t): two columns for each w */
    KSPEC_RIDGE_ACTIVATION_RELU,        /* max(t, 0) */
    KSPEC_RIDGE_ACTIVATION_LEAKY,       /* t, or slope t below 0 */
    KSPEC_RIDGE_ACTIVATION_ERF,
    KSPEC_RIDGE_ACTIVATION_SIGN,
    KSPEC_RIDGE_ACTIVATION_ABS,
    KSPEC_RIDGE_ACTIVATION_COS,
    KSPEC_RIDGE_ACTIVATION_QUADRATIC, /* t^2 */
    KSPEC_RIDGE_ACTIVATION_PHASES     /* sqrt(2) cos(t + b), b uniform: the Gaussian kernel by N columns */
} kspec_ridge_activation;

/* Newton's method takes a few factorisations per point. FIXED_POINT, delta <- tr(K Q)/n as published, takes
 * thousands near 2N = n with a small lambda. */
typedef enum { KSPEC_RIDGE_SOLVER_NEWTON = 0, KSPEC_RIDGE_SOLVER_FIXED_POINT } kspec_ridge_solver;

typedef struct {
    size_t size;
    int center;        /* 1: subtract the mean row of the training and test rows taken together */
    int unit_length;   /* 1: then divide all rows by the root mean square of their lengths */
    double test_noise; /* without test rows: use the training rows plus noise of this standard deviation */
    double sigma;      /* divides X */
    int median_sigma;  /* 1: sigma is the median distance of training rows instead, as in kspec_norm_opts */
    kspec_ridge_solver solver; /* FIXED_POINT: for Fourier features and KSPEC_KERNEL_MATERN */
    double tolerance;          /* relative, of delta, between 0 and 1; default 1e-12; see delta_error */
    int max_iterations;        /* steps per point; default 200 (Newton) or 100,000 (fixed point) */
    uint64_t seed;
    int threads;
    kspec_progress progress;
    kspec_team *team; /* for every call with the handle */
    /* A GPU computes the resolvents and errors of predictions and searches, on each rank of a team. It needs
     * memory for four matrices of n x n and four of n_test x n. The CPU computes measured errors. */
    kspec_device device;
    kspec_ridge_activation activation; /* the CPU computes all but Fourier's */
    double slope;                      /* of KSPEC_RIDGE_ACTIVATION_LEAKY; default 0.1 */
    int standardize;      /* 1: columns get mean 0 and variance 1 in the training rows; a constant one is 0 */
    int center_target;    /* 1: subtract from each column of y its mean over the training rows */
    double test_fraction; /* without test rows: the seed draws this fraction of the rows as the test set */
    size_t most_rows;     /* the seed draws this number if there are more training or test rows; 0: all */
    /* This number of draws of W (8 suffice) checks every prediction, and the results of searches (`measured`
     * of a point). Doubts name the prediction farthest from its draws, beyond 10%. */
    size_t check_draws;
    /* The multiply-adds (kspec_ridge_cost) that all draws of a call may take; 0: 1e10, or as many as the
     * predictions, if that is more; INFINITY: no limit. The N with the smallest lambda n/N come first. */
    double check_work;
    int intercept; /* 1: an intercept without a penalty, as scikit-learn's Ridge; lambda is above 0 then */
    int classify;  /* 1: targets are classes, named by the largest of m columns or the sign of a single one */
    /* Gaussian, or Matern for Fourier's features, phases and cos, on the CPU: 10 to 26 matrices of n x n, and
     * 4 to 12 n^3 multiply-adds a step */
    kspec_kernel kernel;
    double nu; /* of KSPEC_KERNEL_MATERN, above 0; default 1.5 */
} kspec_ridge_opts;

/* Prepares predictions for training rows x (n x p) and targets y (n x m: a regression for each column) and,
 * unless both are NULL, test rows (n_test x p) and targets (n_test x m). n and n_test are at most 100,000.
 * The handle copies the data, and stores 4 n x n and 3 n_test x n matrices, 3.6 GB at n = n_test = 8000;
 * KSPEC_E_NOMEM if that exceeds the free memory. One thread at a time may use a handle. */
typedef struct kspec_ridge kspec_ridge;
KSPEC_API kspec_status kspec_ridge_open(const kspec_matrix *x, const kspec_matrix *y,
                                        const kspec_matrix *x_test, const kspec_matrix *y_test,
                                        const kspec_ridge_opts *opts, kspec_ridge **out, kspec_error *err);
KSPEC_API void kspec_ridge_close(kspec_ridge *r);
KSPEC_API double kspec_ridge_sigma(const kspec_ridge *r); /* the sigma in use */

typedef enum {
    KSPEC_RIDGE_STATE_CONVERGED = 0,
    KSPEC_RIDGE_STATE_AT_FLOOR,   /* as close as rounding allows; delta_error tells how close */
    KSPEC_RIDGE_STATE_UNFINISHED, /* max_iterations were not enough; the values belong to the last delta */
    KSPEC_RIDGE_STATE_DIVERGENT   /* lambda = 0 and 2N = n: there is no limit, and all values are NaN */
} kspec_ridge_state;

/* Measured errors, averaged over draws of W and the columns of y. */
typedef struct {
    double lambda, train_mse, test_mse;   /* mean squared errors */
    double train_sd, test_sd, test_error; /* standard deviations over the draws; as in kspec_ridge_point */
} kspec_ridge_measured;

/* A prediction. Test errors are NaN without a test set. */
typedef struct {
    size_t N;
    double lambda;
    /* Infinite for lambda = 0, 2N < n. For features other than Fourier's, delta is delta_cos, and delta_sin
     * is NaN. For a Matern kernel each is the mean over the scale of a frequency. */
    double delta_cos, delta_sin;
    double theta_cos, theta_sin; /* lambda delta, or its limit for lambda = 0 */
    double train_mse, test_mse;  /* mean squared errors, averaged over the columns of y */
    /* The same if N alone were large: Q = ((N/n) K + lambda I)^-1 with K = K_cos + K_sin. */
    double kernel_train_mse, kernel_test_mse;
    int iterations;     /* factorisations: Newton or fixed-point steps, and one for the errors */
    double residual;    /* max_a |tr(K_a Q)/n - delta_a| / delta_a */
    double delta_error; /* relative, of delta, estimated: the next Newton step, or the rounding floor */
    kspec_ridge_state state;
    double *train_columns, *test_columns; /* the errors of each column of y, m each */
    /* 1 - mse / variance of the column in that set, averaged over columns; NaN if a column is constant */
    double train_r2, test_r2;
    const kspec_ridge_measured *measured; /* by check_draws, the same for every lambda of an N; or NULL */
    double test_error; /* with opts.classify, on the CPU: the fraction of test rows with a wrong class */
} kspec_ridge_point;

typedef struct {
    size_t count;
    kspec_ridge_point **points;
    size_t targets;      /* m, the number of columns of y */
    int at_low, at_high; /* after a search, 1: the best value is the lowest or the highest allowed one */
    double seconds;
    kspec_device_used device;
    size_t doubt_count; /* for a point, `where` is its N and lambda */
    kspec_doubt **doubts;
    size_t rows, test_rows;               /* in use, after test_fraction and most_rows */
    double mean_train_mse, mean_test_mse; /* of predicting the mean of the training targets */
    size_t draws;                         /* behind each point's `measured` */
} kspec_ridge_result;

/* Predicts for each of `paths` numbers N of feature pairs (at most 10^9) and of `count` values of lambda, 0
 * or 1e-100 to 1e100, in any order: the points of N[0] in the order of lambda, then the points of N[1] ... A
 * step takes about 3/2 n^3 multiply-adds, the errors on test rows 3/2 n^2 n_test more for each point.
 * KSPEC_E_NUMERIC: lambda = 0, and (nearly) repeated rows, so that the limit does not exist. */
KSPEC_API kspec_status kspec_ridge_predict(kspec_ridge *r, const size_t *N, size_t paths,
                                           const double *lambda, size_t count, kspec_ridge_result **out,
                                           kspec_error *err);

/* The lambda in [low, high] (1e-100 <= low < high <= 1e100) with the least predicted test error for N feature
 * pairs: one point. Tries four values per decade, then parabolas around the best. */
KSPEC_API kspec_status kspec_ridge_best_lambda(kspec_ridge *r, size_t N, double low, double high,
                                               kspec_ridge_result **out, kspec_error *err);

/* The multiply-adds of a regression on N feature pairs, for one value of lambda: features of training and
 * test rows, the smaller Gram matrix, its factorisation, and the fitted values. Increases with N. */
KSPEC_API double kspec_ridge_cost(const kspec_ridge *r, size_t N);

/* The N with the least predicted test error for lambda, among those that cost no more than `cost_limit`
 * multiply-adds: one point. Tries sixteen numbers per factor of 10, then halves the gaps around the best. */
KSPEC_API kspec_status kspec_ridge_best_features(kspec_ridge *r, double lambda, double cost_limit,
                                                 kspec_ridge_result **out, kspec_error *err);

/* A regression and its predicted errors. `ridgeless` is at the smallest lambda of the search. */
typedef struct {
    size_t N;
    double lambda, sigma, train_mse, test_mse, ridgeless_test_mse;
} kspec_ridge_curve_point;

/* The predicted errors along each choice, with the best lambda at each point of `features` and `sigmas`. */
typedef struct {
    kspec_ridge_curve_point *recommended, *best; /* the first: the fewest features within 2% of the best */
    size_t feature_count, lambda_count, sigma_count;
    kspec_ridge_curve_point **features;  /* the curve over N, at the recommended sigma */
    kspec_ridge_curve_point **lambdas;   /* the curve over lambda, at the recommended N and sigma */
    kspec_ridge_curve_point **sigmas;    /* the curve over sigma, at the recommended N */
    const kspec_ridge_curve_point *peak; /* of `features`, where the ridgeless error is largest; or NULL */
    size_t rows, test_rows, splits;      /* predictions are means over `splits` divisions of the rows */
    double mean_test_mse, seconds;
    size_t doubt_count;
    kspec_doubt **doubts;
} kspec_ridge_recommend_result;

/* Recommends a number of features up to `most` (0: four for each training row), a lambda, and a sigma of 0.3
 * to 3 times the median distance, by the predicted test error; the handle's sigma has no effect. If
 * test_fraction chose the test set, predictions are means over five random divisions of the same rows, or
 * over fewer if that takes long. Fourier's features here share the delta of random phases. */
KSPEC_API kspec_status kspec_ridge_recommend(kspec_ridge *r, size_t most, kspec_ridge_recommend_result **out,
                                             kspec_error *err);

/* The eigenvalues of S S^T/n: their limiting density, Im tr Q(-x - i0)/(n pi), and those in one draw. */
typedef struct {
    size_t count;              /* points x, increasing by equal factors, and the density there */
    double *x, *density, atom; /* without the atom, the fraction of eigenvalues at 0 */
    size_t n;                  /* eigenvalues of a draw of W, increasing */
    double *eigenvalues, seconds;
} kspec_ridge_density_result;

/* Time n count and an n x n eigenproblem; for pairs and Matern kernels 3 complex n x n inverses a point. */
KSPEC_API kspec_status kspec_ridge_density(kspec_ridge *r, size_t N, size_t count,
                                           kspec_ridge_density_result **out, kspec_error *err);

/* Forms a_k^T Q b_k at one (N, lambda), k < forms. */
typedef struct {
    size_t N;
    double lambda;
    double *predicted;         /* with the Q of the predictions */
    double *measured, *spread; /* with (S S^T/n + lambda I)^-1: mean and standard deviation over draws of W */
} kspec_ridge_bilinear_point;

typedef struct {
    size_t count, forms, draws;
    kspec_ridge_bilinear_point **points;
    double seconds;
} kspec_ridge_bilinear_result;

/* Bilinear forms of the resolvent, which Q approximates (Theorem 1 of the paper): the columns of a and b are
 * vectors with one entry for each training row. Points as in kspec_ridge_predict(), lambda above 0. On the
 * CPU. `draws` may be 0. */
KSPEC_API kspec_status kspec_ridge_bilinear(kspec_ridge *r, const kspec_matrix *a, const kspec_matrix *b,
                                            const size_t *N, size_t paths, const double *lambda, size_t count,
                                            size_t draws, kspec_ridge_bilinear_result **out,
                                            kspec_error *err);

typedef struct {
    size_t count;
    kspec_ridge_measured **points;
    double seconds;
} kspec_ridge_empirical_result;

/* Draws W `draws` times and solves the regression itself for each lambda, 0 or 1e-100 to 1e100 (0: the
 * solution of least norm). Column k of W of a draw is the same for every N. Draws run in parallel, as many as
 * memory allows; each computes its Gram matrix, 2N x 2N or n x n, once for all values of lambda. */
KSPEC_API kspec_status kspec_ridge_empirical(kspec_ridge *r, size_t N, const double *lambda, size_t count,
                                             size_t draws, kspec_ridge_empirical_result **out,
                                             kspec_error *err);
#endif
