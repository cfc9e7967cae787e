/* Computes the training and test errors at a solution of the fixed point. */
#include "ridge/errors.h"

#include "base/error.h"
#include "linalg/cholesky.h"
#include "linalg/linalg.h"
#include "ridge/classify.h"
#include "ridge/device.h"
#include "team/team.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Returns the sum of A_ij B_ij over a tile. */
static double inner(size_t rows, size_t cols, const double *A, size_t lda, const double *B, size_t ldb) {
    double sum = 0;
    for (size_t i = 0; i < rows; i++) sum += ks_dot(cols, A + i * lda, B + i * ldb);
    return sum;
}

/* ---- the traces of Theta ---- */

typedef struct {
    const kspec_ridge *r;
    double k[2]; /* 1/(shift + x_a) */
    size_t tile;
    double (*sums)[2];
    /* 1: the chunks are rows of H, which predict_rows() computes */
    int rows;
    double *scratch;
    size_t scratch_size; /* by worker */
} theta_job;

/*
 * Computes rows of H = Phi Q, where Phi = sum_a K_a(Xt,X)/(shift + x_a), and the share of these rows in
 * tr(H^T K_a(Xt,X)).
 */
static kspec_status predict_rows(void *ctx, size_t chunk, const ks_worker *worker) {
    const theta_job *t = ctx;
    const kspec_ridge *r = t->r;
    size_t n = r->n, i = chunk * t->tile, rows = r->nt - i < t->tile ? r->nt - i : t->tile;
    double *phi = t->scratch + (size_t)worker->index * t->scratch_size, *H = r->H + i * n;
    const double *c = r->Kt[COS] + i * n, *s = r->Kt[SIN] + i * n;
    for (size_t k = 0; k < rows * n; k++) phi[k] = t->k[COS] * c[k] + t->k[SIN] * s[k];
    ks_gemm(0, 0, rows, n, n, 1, phi, n, r->Q, n, 0, H, n);
    t->sums[chunk][COS] = ks_dot(rows * n, H, c);
    t->sums[chunk][SIN] = ks_dot(rows * n, H, s);
    return KSPEC_OK;
}

/* Computes tile (i,j), i >= j, of H^T H, and the share of this tile in tr(H^T H K_a). */
static kspec_status square_tile(void *ctx, size_t chunk, const ks_worker *worker) {
    const theta_job *t = ctx;
    const kspec_ridge *r = t->r;
    size_t n = r->n, bi, bj;
    ks_lower(chunk, &bi, &bj);
    size_t i = bi * t->tile, j = bj * t->tile;
    size_t rows = n - i < t->tile ? n - i : t->tile, cols = n - j < t->tile ? n - j : t->tile;
    double *S = t->scratch + (size_t)worker->index * t->scratch_size;
    ks_gemm(1, 0, rows, cols, r->nt, 1, r->H + i, n, r->H + j, n, 0, S, cols);
    for (int a = COS; a <= SIN; a++)
        t->sums[chunk][a] = (bi == bj ? 1 : 2) * inner(rows, cols, S, cols, r->K[a] + i * n + j, n);
    return KSPEC_OK;
}

static kspec_status sum_chunks(const ks_run *run, theta_job *t, size_t chunks, ks_chunk_fn fn,
                               double total[2], kspec_error *err) {
    const ks_share shares[] = {{t->sums, sizeof *t->sums, chunks, 1},
                               {t->r->H, t->r->n * sizeof *t->r->H, t->r->nt, t->tile}};
    kspec_status st = ks_team_for(run, "testerror", chunks, fn, t, shares, t->rows ? 2 : 1, err);
    for (size_t c = 0; c < chunks && !st; c++)
        for (int a = COS; a <= SIN; a++) total[a] += t->sums[c][a];
    return st;
}

/* Computes cross_a = tr(H^T K_a(Xt,X)) and square_a = tr(H^T H K_a), and leaves H in r->H. */
static kspec_status theta(kspec_ridge *r, const ks_run *run, const double k[2], double cross[2],
                          double square[2], kspec_error *err) {
    /*
     * This is the number of rows of H in a chunk. Tiles of 256 rows would be too few chunks for 16
     * threads.
     */
    enum { HIGH = 128 };
    ks_arena scratch = {0};
    theta_job t = {.r = r, .k = {k[COS], k[SIN]}, .tile = HIGH, .rows = 1};
    const size_t side = ks_tile(r->n), tiles = (r->n + side - 1) / side, lower = tiles * (tiles + 1) / 2;
    const size_t rows = (r->nt + HIGH - 1) / HIGH;
    t.scratch_size = HIGH * r->n > side * side ? HIGH * r->n : side * side;
    t.sums = ks_arena_alloc(&scratch, rows > lower ? rows : lower, sizeof *t.sums);
    t.scratch = ks_arena_alloc(&scratch, ks_size((size_t)run->threads, t.scratch_size), sizeof(double));
    kspec_status st = scratch.failed ? ks_nomem(err, "tiles of the test error", scratch.failed) : KSPEC_OK;
    if (!st) st = sum_chunks(run, &t, rows, predict_rows, cross, err);
    t.rows = 0, t.tile = side;
    if (!st) st = sum_chunks(run, &t, lower, square_tile, square, err);
    ks_arena_free(&scratch);
    return st;
}

/* Computes V = Q Y, Z_a = K_a V, fit = c H Y and the traces of Theta, on the CPU. */
static kspec_status parts(kspec_ridge *r, const ks_run *run, const double k[2], double c, double *V,
                          double *const Z[2], double *fit, double cross[2], double square[2],
                          kspec_error *err) {
    size_t n = r->n, nt = r->nt, m = r->m;
    kspec_status st = nt ? theta(r, run, k, cross, square, err) : KSPEC_OK;
    if (!st) st = ks_gemm_tiled(run, 0, 0, n, m, n, 1, r->Q, n, r->Y, m, 0, V, m, err);
    for (int a = COS; a <= SIN && !st; a++)
        st = ks_gemm_tiled(run, 0, 0, n, m, n, 1, r->K[a], n, V, m, 0, Z[a], m, err);
    if (nt && !st) st = ks_gemm_tiled(run, 0, 0, nt, m, n, c, r->H, n, r->Y, m, 0, fit, m, err);
    return st;
}

/* ---- errors ---- */

/* Returns the sum over i of (A_ij - B_ij)^2 for column j. B NULL: zeros */
static double column_square(const double *A, const double *B, size_t rows, size_t m, size_t j) {
    double sum = 0;
    for (size_t i = 0; i < rows; i++) {
        double d = A[i * m + j] - (B ? B[i * m + j] : 0);
        sum += d * d;
    }
    return sum;
}

/*
 * Computes the share of wrong classes. Over draws of W, the outputs of test row t have the covariance
 * sum_b scale_bt V^T K_b V. Here scale_bt = (N/n)^2 sum_a Theta_at Omega_ab/(shift+x_a)^2, where Theta_at
 * is row t's share of Theta_a. The caller must compute H and V first.
 */
static kspec_status class_error(kspec_ridge *r, const ks_run *run, const ks_ridge_system *sys,
                                const ks_ridge_solution *s, const double *V, double *const Z[2],
                                const double *fit, double *wrong, kspec_error *err) {
    ks_arena scratch = {0};
    const size_t n = r->n, nt = r->nt, m = r->m;
    const double c = sys->N / (double)n;
    double *HK = ks_arena_alloc(&scratch, ks_size(nt, n), sizeof *HK);
    double *scale[2] = {ks_arena_zalloc(&scratch, nt, sizeof **scale),
                        ks_arena_zalloc(&scratch, nt, sizeof **scale)};
    double *form[2] = {ks_arena_alloc(&scratch, ks_size(m, m), sizeof **form),
                       ks_arena_alloc(&scratch, ks_size(m, m), sizeof **form)};
    kspec_status st = scratch.failed ? ks_nomem(err, "spreads of the outputs", scratch.failed) : KSPEC_OK;
    double omega[2][2] = {{NAN, NAN}, {NAN, NAN}}; /* omega[b][a] */
    for (int b = COS; b <= SIN; b++) ks_ridge_omega(&s->t, (const double[2]){b == COS, b == SIN}, omega[b]);
    for (int a = COS; a <= SIN && !st; a++) {
        const double weight = c * c / ((sys->shift + s->x[a]) * (sys->shift + s->x[a]));
        st = ks_gemm_tiled(run, 0, 0, nt, n, n, 1, r->H, n, r->K[a], n, 0, HK, n, err);
        for (size_t t = 0; t < nt && !st; t++) {
            const double *h = r->H + t * n;
            const double theta = r->own[a][t] / sys->N +
                                 sys->N / (double)n / (double)n * ks_dot(n, h, HK + t * n) -
                                 2 / (double)n * ks_dot(n, h, r->Kt[a] + t * n);
            for (int b = COS; b <= SIN; b++) scale[b][t] += weight * theta * omega[b][a];
        }
        for (size_t j = 0; j < m; j++)
            for (size_t k = 0; k < m; k++) {
                double sum = 0;
                for (size_t i = 0; i < n; i++) sum += V[i * m + j] * Z[a][i * m + k];
                form[a][j * m + k] = sum;
            }
    }
    if (!st)
        st = ks_ridge_class_error(r, fit, 2, (const double *const[2]){scale[0], scale[1]}, form, wrong, err);
    ks_arena_free(&scratch);
    return st;
}

/*
 * With v = Q y, c_a = v^T K_a v and z = Omega c:
 *     E_train = (ridge^2/n) |v|^2 + (N ridge^2/n^2) sum_a tr(Q K_a Q)/n / (shift+x_a)^2 z_a
 *     E_test = |yt - (N/n) H y|^2/nt + (N/n)^2/nt sum_a Theta_a/(shift+x_a)^2 z_a
 *     Theta_a = tr K_a(Xt,Xt)/N + (N/n^2) tr(H^T H K_a) - (2/n) tr(H^T K_a(Xt,X))
 */
kspec_status ks_ridge_errors(kspec_ridge *r, const ks_run *run, const ks_ridge_system *sys,
                             const ks_ridge_solution *s, double *train, double *test, double *wrong,
                             kspec_error *err) {
    ks_arena scratch = {0};
    size_t n = r->n, nt = r->nt, m = r->m;
    double *V = ks_arena_alloc(&scratch, ks_size(n, m), sizeof *V);
    double *Z[2] = {ks_arena_alloc(&scratch, ks_size(n, m), sizeof **Z),
                    ks_arena_alloc(&scratch, ks_size(n, m), sizeof **Z)};
    double *fit = ks_arena_alloc(&scratch, ks_size(nt, m), sizeof *fit);
    double c = sys->N / (double)n, ridge2 = sys->ridge * sys->ridge;
    double k[2], weight[2], big[2] = {0, 0}, cross[2] = {0, 0}, square[2] = {0, 0};
    for (int a = COS; a <= SIN; a++) {
        k[a] = 1 / (sys->shift + s->x[a]);
        weight[a] = 1 / ((sys->shift + s->x[a]) * (sys->shift + s->x[a]));
    }
    kspec_status st = scratch.failed ? ks_nomem(err, "residuals", scratch.failed) : KSPEC_OK;
    if (!st)
        st = r->on_device ? ks_ridge_device_errors(r, run, k, c, V, Z, fit, cross, square, err)
                          : parts(r, run, k, c, V, Z, fit, cross, square, err);
    for (int a = COS; a <= SIN && nt && !st; a++)
        big[a] =
            r->trace_t[a] / sys->N + sys->N / (double)n / (double)n * square[a] - 2 / (double)n * cross[a];
    for (size_t j = 0; j < m && !st; j++) {
        /* The errors are NaN if rounding errors prevent computing Omega. */
        double form[2] = {0, 0}, z[2] = {NAN, NAN};
        for (int a = COS; a <= SIN; a++)
            for (size_t i = 0; i < n; i++) form[a] += V[i * m + j] * Z[a][i * m + j];
        ks_ridge_omega(&s->t, form, z);
        const double *t0 = s->t.t0;
        train[j] = ridge2 / (double)n *
                   (column_square(V, NULL, n, m, j) +
                    c * (t0[COS] * weight[COS] * z[COS] + t0[SIN] * weight[SIN] * z[SIN]));
        if (nt)
            test[j] = (column_square(r->Yt, fit, nt, m, j) +
                       c * c * (big[COS] * weight[COS] * z[COS] + big[SIN] * weight[SIN] * z[SIN])) /
                      (double)nt;
    }
    if (!st && nt && r->o.classify && !r->on_device) st = class_error(r, run, sys, s, V, Z, fit, wrong, err);
    ks_arena_free(&scratch);
    return st;
}

/* Computes V and fit on the CPU; ks_ridge_device_kernel() computes them on a GPU. */
static kspec_status kernel_parts(kspec_ridge *r, const ks_run *run, double c, double lambda, size_t *bad,
                                 double *V, double *fit, kspec_error *err) {
    size_t n = r->n, nt = r->nt, m = r->m;
    double k[2] = {c, c};
    kspec_status st = ks_ridge_combine(r, run, k, lambda, r->work, err);
    if (!st) st = ks_potrf_tiled(run, n, r->work, bad, err);
    if (st) return st;
    /* Checks that the matrix is positive definite, as for Q without a ridge. */
    for (size_t i = 0; i < n && !*bad; i++)
        if (!(r->work[i * n + i] * r->work[i * n + i] > (double)n * DBL_EPSILON * c)) *bad = lambda == 0;
    if (*bad) return KSPEC_OK;
    memcpy(V, r->Y, n * m * sizeof *V);
    ks_potrs(n, m, r->work, n, V, m);
    for (int a = COS; a <= SIN && nt && !st; a++)
        st = ks_gemm_tiled(run, 0, 0, nt, m, n, c, r->Kt[a], n, V, m, a == SIN, fit, m, err);
    return st;
}

kspec_status ks_ridge_kernel_errors(kspec_ridge *r, const ks_run *run, double N, double lambda, double *train,
                                    double *test, kspec_error *err) {
    ks_arena scratch = {0};
    size_t n = r->n, nt = r->nt, m = r->m, bad;
    double c = N / (double)n;
    double *V = ks_arena_alloc(&scratch, ks_size(n, m), sizeof *V);
    double *fit = ks_arena_alloc(&scratch, ks_size(nt, m), sizeof *fit);
    kspec_status st = scratch.failed ? ks_nomem(err, "residuals", scratch.failed) : KSPEC_OK;
    if (!st)
        st = r->on_device ? ks_ridge_device_kernel(r, run, c, lambda, &bad, V, fit, err)
                          : kernel_parts(r, run, c, lambda, &bad, V, fit, err);
    for (size_t j = 0; j < m && !st; j++) {
        train[j] = bad ? NAN : lambda * lambda / (double)n * column_square(V, NULL, n, m, j);
        if (nt) test[j] = bad ? NAN : column_square(r->Yt, fit, nt, m, j) / (double)nt;
    }
    ks_arena_free(&scratch);
    return st;
}
