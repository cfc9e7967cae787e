/* Part of kspec.h: ridge regression on random Fourier features, its errors predicted and measured. */
#ifndef KSPEC_RIDGE_H
#define KSPEC_RIDGE_H

#include "kspec/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The model. Rows of X (n x p) are samples, W (p x N) has independent standard normal entries, and the
 * features are S = [cos(XW), sin(XW)] (n x 2N): random Fourier features of the Gaussian kernel
 * exp(-|x-x'|^2/2). Ridge regression minimises |y - S b|^2/n + lambda |b|^2; its errors are the mean squares
 * of y - S b on the training rows and of the same on test rows. They depend on W; where n, p and N are all
 * large they hardly do, and can be predicted from X, y and the test set alone (Liao, Couillet and Mahoney):
 *
 *     Q = ((N/n) (K_cos/(1+delta_cos) + K_sin/(1+delta_sin)) + lambda I)^-1,   delta_a = tr(K_a Q)/n.
 *
 * A bandwidth sigma of the kernel divides X. Ridgeless (lambda = 0) is the limit lambda -> 0, which differs
 * for 2N < n (delta grows as theta/lambda) and 2N > n (the features interpolate: no training error), and does
 * not exist at 2N = n.
 */

typedef enum {
    KSPEC_RIDGE_NEWTON = 0, /* on (delta_cos, delta_sin): a few factorisations per point */
    KSPEC_RIDGE_FIXED_POINT /* delta <- tr(K Q)/n, as published: thousands near 2N = n with a small lambda */
} kspec_ridge_solver;

typedef struct {
    size_t size;
    int center;        /* subtract the mean row of the training and test rows taken together */
    int scale;         /* then divide by the root mean square of their lengths: the mean of |x|^2 is 1 */
    double test_noise; /* without test rows: the training rows are, with N(0, test_noise^2) added */
    double sigma;      /* then divide by sigma; default 1 */
    int median_sigma; /* sigma is the median distance between training rows (2048 of them, by the seed) instead */
    kspec_ridge_solver solver;
    double tolerance;   /* relative, of delta; default 1e-12. Rounding may not allow it: see delta_error */
    int max_iterations; /* per point; default 200 (Newton), 100000 (fixed point) */
    uint64_t seed;      /* of the draws of W, and of the test noise */
    int threads;
    kspec_progress progress;
} kspec_ridge_opts;

/*
 * Opens a prediction for training rows x (n x p) and targets y (n x m; each column is a regression of its
 * own, and the factorisations are shared), and, unless both are NULL, test rows (n_test x p) and targets
 * (n_test x m). The data are copied. Holds 4 n x n and 3 n_test x n matrices: 3.6 GB at n = n_test = 8000.
 * What is needed is compared with the memory that is free before it is taken. A plan may be used by one
 * thread at a time.
 */
typedef struct kspec_ridge kspec_ridge;
KSPEC_API kspec_status kspec_ridge_open(const kspec_matrix *x, const kspec_matrix *y,
                                        const kspec_matrix *x_test, const kspec_matrix *y_test,
                                        const kspec_ridge_opts *opts, kspec_ridge **out, kspec_error *err);
KSPEC_API void kspec_ridge_close(kspec_ridge *r); /* NULL is allowed */

/* The sigma by which the rows were divided. */
KSPEC_API double kspec_ridge_sigma(const kspec_ridge *r);

typedef enum {
    KSPEC_RIDGE_CONVERGED = 0,
    KSPEC_RIDGE_AT_FLOOR,   /* as close as rounding lets it come, which is delta_error */
    KSPEC_RIDGE_UNFINISHED, /* max_iterations were not enough; what is given belongs to the last delta */
    KSPEC_RIDGE_DIVERGENT   /* lambda = 0 and 2N = n: there is no limit; all values are NaN */
} kspec_ridge_state;

/* A prediction. Errors are means over the columns of y; NaN where there is none. */
typedef struct {
    size_t features; /* N; there are 2N columns */
    double lambda;
    double delta_cos, delta_sin; /* infinite for lambda = 0, 2N < n */
    double theta_cos, theta_sin; /* lambda delta, or its limit for lambda = 0 */
    double train_mse, test_mse;
    /* as if N -> infinity alone: Q = ((N/n) K + lambda I)^-1 with K = K_cos + K_sin */
    double kernel_train_mse, kernel_test_mse;
    int iterations;     /* factorisations made: Newton or fixed-point steps, and one for the errors */
    double residual;    /* max_a |tr(K_a Q)/n - delta_a| / delta_a */
    double delta_error; /* relative error of delta, estimated: the Newton step left, or the rounding floor */
    kspec_ridge_state state;
} kspec_ridge_point;

/*
 * Predicts for N features and each of `count` values of lambda, 0 or 1e-100 to 1e100, in any order (they are
 * solved from the largest down, each started from those before it). `columns`, unless NULL, receives the
 * errors of each column of y: count x 2 x m values, for each lambda those of training, then those of testing.
 *
 * KSPEC_E_NUMERIC if lambda = 0 and the kernel matrix does not allow the limit: rows that repeat, or nearly
 * do.
 */
KSPEC_API kspec_status kspec_ridge_predict(kspec_ridge *r, size_t features, const double *lambda,
                                           size_t count, kspec_ridge_point *points, double *columns,
                                           kspec_error *err);

/*
 * The lambda in [low, high] (1e-100 <= low < high <= 1e100) with the least predicted test error for N
 * features: a grid of four values per decade, then a search by parabolas around the best. *at_end is -1 or 1
 * where that is low or high itself, else 0.
 */
KSPEC_API kspec_status kspec_ridge_best_lambda(kspec_ridge *r, size_t features, double low, double high,
                                               kspec_ridge_point *point, int *at_end, kspec_error *err);

/*
 * The multiply-adds of a regression on N features, for one value of lambda: features of training and test
 * rows, the smaller Gram matrix, its factorisation, and the predictions. Increases with N.
 */
KSPEC_API double kspec_ridge_cost(const kspec_ridge *r, size_t features);

/*
 * The number of features with the least predicted test error for lambda, among those that cost no more than
 * `cost_limit` multiply-adds: sixteen numbers per factor of 10, and the numbers around the best of them
 * halved down to one. *at_limit is 1 where it is the largest that the limit allows.
 */
KSPEC_API kspec_status kspec_ridge_best_features(kspec_ridge *r, double lambda, double cost_limit,
                                                 kspec_ridge_point *point, int *at_limit, kspec_error *err);

/* Measured errors, over draws of W: means over the columns of y; the spread is that over draws (NaN for
   one draw). */
typedef struct {
    double train_mse, train_sd;
    double test_mse, test_sd; /* NaN without a test set */
} kspec_ridge_measured;

/*
 * Draws W `draws` times and solves the regression itself for each lambda >= 0 (0: the solution of least
 * norm). W's column k of draw d is the same for every N. Draws run in parallel, as many at a time as memory
 * allows; each makes its Gram matrix, 2N x 2N or n x n, once for all values of lambda.
 */
KSPEC_API kspec_status kspec_ridge_empirical(kspec_ridge *r, size_t features, const double *lambda,
                                             size_t count, size_t draws, kspec_ridge_measured *out,
                                             kspec_error *err);

#ifdef __cplusplus
}
#endif
#endif
