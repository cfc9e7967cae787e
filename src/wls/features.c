/*
 * Solves weighted least squares with arbitrary features. With A Psi_p B = U S V^T (r singular values
 * kept), the map from y to theta is M = B V (S + ridge S^-1)^-1 U^T A. All other results are products with
 * M.
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/matrix.h"
#include "base/result.h"
#include "linalg/eigen.h"
#include "linalg/linalg.h"
#include "linalg/svd.h"
#include "kspec/wls.h"

#include <math.h>
#include <string.h>

/* Holds a weight or covariance: a diagonal, a square matrix, or the identity. */
typedef struct {
    double *diagonal, *matrix;
} square;

typedef struct {
    size_t N, P, p, outputs;
    /*
     * dense copies: the features at the data (N x P), the targets (N x outputs), and the features at the
     * points to predict
     */
    double *psi, *y, *at;
    size_t at_rows, at_cols;
    square A, B, K, C;
    ks_run run;
    ks_arena arena;
} job;

static kspec_status copy(job *j, const char *name, const kspec_matrix *m, double **out, kspec_error *err) {
    double *to = *out = ks_arena_alloc(&j->arena, ks_size(m->rows, m->cols), sizeof *to);
    if (!to) return ks_nomem(err, name, j->arena.failed);
    return ks_matrix_copy(m, 0, m->rows, name, to, err);
}

static kspec_status take_square(job *j, const char *name, const kspec_matrix *m, size_t n, int covariance,
                                square *out, kspec_error *err) {
    if (!m) return KSPEC_OK;
    kspec_status st = ks_matrix_check(m, name, err);
    if (st) return st;
    double *x;
    int vector = (m->rows == n && m->cols == 1) || (m->rows == 1 && m->cols == n);
    if (!vector && (m->rows != n || m->cols != n))
        return ks_fail(err, KSPEC_E_ARG, "%s is %zu x %zu, neither %zu numbers nor %zu x %zu", name, m->rows,
                       m->cols, n, n, n);
    if ((st = copy(j, name, m, &x, err))) return st;
    *(vector ? &out->diagonal : &out->matrix) = x;
    for (size_t i = 0; i < n && covariance; i++) {
        double d = vector ? x[i] : x[i * n + i];
        if (d < 0) return ks_fail(err, KSPEC_E_DATA, "%s has %g on its diagonal, which is below 0", name, d);
        for (size_t k = 0; k < i && !vector; k++)
            if (!(fabs(x[i * n + k] - x[k * n + i]) <= 1e-10 * (fabs(x[i * n + k]) + fabs(d))))
                return ks_fail(err, KSPEC_E_DATA,
                               "%s is not symmetric: entries (%zu,%zu) and (%zu,%zu) are %g and %g", name, i,
                               k, k, i, x[i * n + k], x[k * n + i]);
    }
    return KSPEC_OK;
}

/*
 * Fails if a covariance matrix has an eigenvalue below -1e-10 times its largest variance. A Cholesky
 * factorisation detects this quickly; the eigenvalues then explain the failure.
 */
static kspec_status check_semidefinite(job *j, const char *name, const square *c, size_t n,
                                       kspec_error *err) {
    if (!c->matrix) return KSPEC_OK;
    double *L = ks_arena_alloc(&j->arena, ks_size(n, n), sizeof *L),
           *w = ks_arena_alloc(&j->arena, n, sizeof *w), most = 0;
    if (j->arena.failed) return ks_nomem(err, name, j->arena.failed);
    for (size_t i = 0; i < n; i++) most = fmax(most, c->matrix[i * n + i]);
    memcpy(L, c->matrix, n * n * sizeof *L);
    for (size_t i = 0; i < n; i++) L[i * n + i] += 1e-10 * most;
    if (ks_potrf(n, L, n) == 0) return KSPEC_OK;
    memcpy(L, c->matrix, n * n * sizeof *L);
    kspec_status st = ks_syevd(0, n, L, n, w, err);
    if (!st && w[0] < -1e-10 * most)
        st = ks_fail(err, KSPEC_E_DATA,
                     "%s is not positive semidefinite: its eigenvalues are from %.6g to %.6g", name, w[0],
                     w[n - 1]);
    return st;
}

static int all_finite(const double *x, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i])) return 0;
    return 1;
}

/* Computes out = w X, where w has order m, and X and out are m x n. */
static kspec_status from_left(job *j, const square *w, const double *X, size_t m, size_t n, double *out,
                              kspec_error *err) {
    if (w->matrix) return ks_gemm_tiled(&j->run, 0, 0, m, n, m, 1, w->matrix, m, X, n, 0, out, n, err);
    for (size_t i = 0; i < m; i++)
        for (size_t k = 0; k < n; k++) out[i * n + k] = (w->diagonal ? w->diagonal[i] : 1) * X[i * n + k];
    return KSPEC_OK;
}

/* Computes out = X w, where w has order n, and X and out are m x n. */
static kspec_status from_right(job *j, const square *w, const double *X, size_t m, size_t n, double *out,
                               kspec_error *err) {
    if (w->matrix) return ks_gemm_tiled(&j->run, 0, 0, m, n, n, 1, X, n, w->matrix, n, 0, out, n, err);
    for (size_t i = 0; i < m; i++)
        for (size_t k = 0; k < n; k++) out[i * n + k] = X[i * n + k] * (w->diagonal ? w->diagonal[k] : 1);
    return KSPEC_OK;
}

/* Computes M (p x N) with scratch arrays x and y of N p numbers. */
static kspec_status make_map(job *j, double rank_tol, double ridge, double *M, double *x, double *y,
                             kspec_wls_features_result *out, kspec_error *err) {
    size_t N = j->N, p = j->p, r = N < p ? N : p;
    double *U = ks_arena_alloc(&j->arena, ks_size(N, r), sizeof *U),
           *Vt = ks_arena_alloc(&j->arena, ks_size(r, p), sizeof *Vt), *s = out->singular_values;
    if (j->arena.failed) return ks_nomem(err, "a singular value decomposition", j->arena.failed);
    for (size_t i = 0; i < N; i++) memcpy(x + i * p, j->psi + i * j->P, p * sizeof *x);
    kspec_status st = from_left(j, &j->A, x, N, p, y, err);
    if (!st) st = from_right(j, &j->B, y, N, p, x, err);
    if (!st && !all_finite(x, N * p))
        st = ks_fail(err, KSPEC_E_NUMERIC, "the weighted features exceed the largest double");
    if (!st) st = ks_svd(N, p, x, U, s, Vt, err);
    if (st) return st;
    while (out->rank < r && s[out->rank] > rank_tol * s[0]) out->rank++;
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < out->rank; k++) U[i * r + k] /= s[k] + ridge / s[k];
    if (out->rank)
        st = ks_gemm_tiled(&j->run, 1, 1, p, N, out->rank, 1, Vt, p, U, r, 0, x, N, err);
    else
        memset(x, 0, N * p * sizeof *x);
    if (!st) st = from_left(j, &j->B, x, p, N, y, err);
    if (!st) st = from_right(j, &j->A, y, p, N, M, err);
    if (!st && !all_finite(M, N * p))
        st = ks_fail(
            err, KSPEC_E_NUMERIC,
            "the fit exceeds the largest double: the weighted features have singular values down to %g",
            s[out->rank - 1]);
    return st;
}

/* Computes E_0 = tr(E K E^T). In the rows of learned features, E is M Psi - I; in the other rows it is -I. */
static kspec_status prior_error(job *j, const double *M, double *error, kspec_error *err) {
    size_t P = j->P, p = j->p;
    double *E = ks_arena_alloc(&j->arena, ks_size(p, P), sizeof *E),
           *EK = ks_arena_alloc(&j->arena, ks_size(p, P), sizeof *EK);
    if (j->arena.failed) return ks_nomem(err, "the noise-free error", j->arena.failed);
    kspec_status st = ks_gemm_tiled(&j->run, 0, 0, p, P, j->N, 1, M, j->N, j->psi, P, 0, E, P, err);
    for (size_t k = 0; k < p && !st; k++) E[k * P + k] -= 1;
    if (!st) st = from_right(j, &j->K, E, p, P, EK, err);
    if (st) return st;
    *error = ks_dot(p * P, E, EK);
    for (size_t k = p; k < P; k++) *error += j->K.diagonal ? j->K.diagonal[k] : j->K.matrix[k * P + k];
    return KSPEC_OK;
}

/* Computes E_noise = tr(M C M^T), and its variance 2 |M C M^T|^2. */
static kspec_status noise_error(job *j, const double *M, double *MC, double *error, double *variance,
                                kspec_error *err) {
    size_t N = j->N, p = j->p;
    double *H = ks_arena_alloc(&j->arena, ks_size(p, p), sizeof *H);
    if (!H) return ks_nomem(err, "the error of noise", j->arena.failed);
    kspec_status st = from_right(j, &j->C, M, p, N, MC, err);
    if (!st) st = ks_gemm_tiled(&j->run, 0, 1, p, p, N, 1, MC, N, M, N, 0, H, p, err);
    if (st) return st;
    *error = 0;
    for (size_t k = 0; k < p; k++) *error += H[k * p + k];
    *variance = 2 * ks_dot(p * p, H, H);
    return KSPEC_OK;
}

static kspec_status fit(job *j, const double *M, kspec_wls_features_result *out, kspec_error *err) {
    size_t N = j->N, p = j->p, n = j->outputs;
    ks_arena *arena = ks_result_arena(out);
    out->theta = ks_arena_alloc(arena, ks_size(p, n), sizeof *out->theta);
    out->fitted = ks_arena_alloc(arena, ks_size(N, n), sizeof *out->fitted);
    if (arena->failed) return ks_nomem(err, "the fit", arena->failed);
    kspec_status st = ks_gemm_tiled(&j->run, 0, 0, p, n, N, 1, M, N, j->y, n, 0, out->theta, n, err);
    if (!st)
        st = ks_gemm_tiled(&j->run, 0, 0, N, n, p, 1, j->psi, j->P, out->theta, n, 0, out->fitted, n, err);
    double sum = 0;
    for (size_t i = 0; i < N * n && !st; i++) sum += (j->y[i] - out->fitted[i]) * (j->y[i] - out->fitted[i]);
    out->residual = sqrt(sum / (double)(N * n));
    if (st || !j->at) return st;
    out->predicted = ks_arena_alloc(arena, ks_size(j->at_rows, n), sizeof *out->predicted);
    if (!out->predicted) return ks_nomem(err, "the predictions", arena->failed);
    out->predicted_rows = j->at_rows;
    return ks_gemm_tiled(&j->run, 0, 0, j->at_rows, n, p, 1, j->at, j->at_cols, out->theta, n, 0,
                         out->predicted, n, err);
}

static kspec_status compute(job *j, const kspec_matrix *psi, const kspec_matrix *y,
                            const kspec_wls_features_opts *o, kspec_wls_features_result *out,
                            kspec_error *err) {
    size_t N = j->N, P = j->P, p = j->p, r = N < p ? N : p;
    size_t bytes = ks_size(ks_size_add(ks_size(ks_size_add(N, 2 * p), P), ks_size(ks_size_add(5 * N, p), p)),
                           sizeof(double));
    kspec_status st = ks_check_memory(err, bytes, "a fit of %zu x %zu features", N, P);
    if (!st) st = copy(j, "features", psi, &j->psi, err);
    if (!st && y) st = copy(j, "target", y, &j->y, err);
    if (!st && o->at) st = copy(j, "features to predict at", o->at, &j->at, err);
    if (!st) st = take_square(j, "data weights", o->data_weights, N, 0, &j->A, err);
    if (!st) st = take_square(j, "feature weights", o->feature_weights, p, 0, &j->B, err);
    if (!st) st = take_square(j, "prior covariance", o->prior, P, 1, &j->K, err);
    if (!st) st = take_square(j, "noise covariance", o->noise_cov, N, 1, &j->C, err);
    if (!st) st = check_semidefinite(j, "prior covariance", &j->K, P, err);
    if (!st) st = check_semidefinite(j, "noise covariance", &j->C, N, err);
    if (st) return st;
    double *M = ks_arena_alloc(&j->arena, ks_size(p, N), sizeof *M),
           *x = ks_arena_alloc(&j->arena, ks_size(p, N), sizeof *x),
           *z = ks_arena_alloc(&j->arena, ks_size(p, N), sizeof *z);
    out->singular_values = ks_arena_alloc(ks_result_arena(out), r, sizeof *out->singular_values);
    out->singular_count = r;
    if (j->arena.failed || !out->singular_values)
        return ks_nomem(err, "the features", ks_size(ks_size(3 * p, N), sizeof *M));
    double tol = o->rank_tol > 0 ? o->rank_tol : 2.220446049250313e-16 * (double)(N > p ? N : p);
    st = make_map(j, tol, o->ridge, M, x, z, out, err);
    if (!st && y) st = fit(j, M, out, err);
    if (!st && o->prior) st = prior_error(j, M, &out->error_noise_free, err);
    if (!st && o->noise_cov) st = noise_error(j, M, x, &out->error_noise, &out->variance, err);
    return st;
}

static kspec_status check(job *j, const kspec_matrix *psi, const kspec_matrix *y,
                          const kspec_wls_features_opts *o, kspec_error *err) {
    kspec_status st = ks_matrix_check(psi, "the feature matrix", err);
    if (!st && y) st = ks_matrix_check(y, "the target", err);
    if (!st && o->at) st = ks_matrix_check(o->at, "the matrix of features to predict at", err);
    if (st) return st;
    j->N = psi->rows, j->P = psi->cols, j->p = o->p ? o->p : psi->cols;
    if (j->p > j->P)
        return ks_fail(err, KSPEC_E_ARG, "p = %zu exceeds the %zu features there are", j->p, j->P);
    if (y && y->rows != j->N)
        return ks_fail(err, KSPEC_E_ARG, "the target is %zu x %zu, but the features have %zu rows", y->rows,
                       y->cols, j->N);
    j->outputs = y ? y->cols : 0;
    if (o->at && o->at->cols < j->p)
        return ks_fail(err, KSPEC_E_ARG, "features to predict at are %zu x %zu, but p = %zu of them are used",
                       o->at->rows, o->at->cols, j->p);
    if (o->at) j->at_rows = o->at->rows, j->at_cols = o->at->cols;
    if (!(o->ridge >= 0 && o->ridge <= 1e300))
        return ks_fail(err, KSPEC_E_ARG, "ridge %g is not between 0 and 1e300", o->ridge);
    if (!(o->rank_tol >= 0 && o->rank_tol < 1))
        return ks_fail(err, KSPEC_E_ARG, "rank tolerance %g is not between 0 and 1", o->rank_tol);
    return ks_run_init(&j->run, o->threads, o->progress, err);
}

kspec_status kspec_wls_features(const kspec_matrix *psi, const kspec_matrix *y,
                                const kspec_wls_features_opts *opts, kspec_wls_features_result **out,
                                kspec_error *err) {
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    double start = ks_now();
    kspec_wls_features_opts o;
    job j = {0};
    kspec_wls_features_result *r = NULL;
    kspec_status st = ks_take_opts(&o, sizeof o, opts, err);
    if (!st) st = check(&j, psi, y, &o, err);
    if (!st && !(r = ks_result_new(sizeof *r))) st = ks_nomem(err, "the fit", sizeof *r);
    if (!st) {
        r->N = j.N, r->P = j.P, r->p = j.p, r->outputs = j.outputs;
        r->residual = r->error_noise_free = r->error_noise = r->variance = NAN;
        st = ks_blas_enter(j.run.threads, err);
        if (!st) {
            st = compute(&j, psi, y, &o, r, err);
            ks_blas_exit();
        }
    }
    ks_arena_free(&j.arena);
    return ks_end(st, r, start, out);
}
