/* Computes the kernel matrices K_cos and K_sin. */
#include "ridge/kernels.h"

#include "base/error.h"
#include "linalg/cholesky.h"
#include "linalg/linalg.h"
#include "ridge/activation.h"

#include <math.h>

/*
 * Subtracts the mean training row. Far from the origin, inner products would lose the digits of distances.
 */
static void subtract_mean(const kspec_ridge *r, const double *A, size_t rows, double *out) {
    size_t n = r->n, p = r->p;
    for (size_t j = 0; j < p; j++) {
        double mean = 0;
        for (size_t i = 0; i < n; i++) mean += r->X[i * p + j] / (double)n;
        for (size_t i = 0; i < rows; i++) out[i * p + j] = A[i * p + j] - mean;
    }
}

typedef struct {
    const kspec_ridge *r;
    const double *A;      /* the rows for which the kernel matrix is computed */
    const double *Ac, *C; /* these rows minus the mean training row, and the training rows minus their mean */
    const double *qa, *q; /* half the squared lengths of these rows, |x|^2/2 */
    double *const *K;
    size_t rows, tile;
    int symmetric;
} kernel_job;

/* Returns e = exp(-2|x|^2) - 1. The kernels of a row with itself are 1 + e/2 and -e/2. */
static double minus_one(const double *x, size_t p) { return expm1(-2 * ks_dot(p, x, x)); }

/*
 * Computes one tile of K_cos(x,x') = (e^(-|x-x'|^2/2) + e^(-|x+x'|^2/2))/2, and of K_sin, with a minus
 * instead of the plus. BLAS computes the inner products of the rows, and of the rows minus their mean. One
 * pass then computes the exponentials. For a symmetric matrix, it computes only tiles on and below the
 * diagonal, and mirrors them.
 */
static kspec_status kernel_tile(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const kernel_job *j = ctx;
    const kspec_ridge *r = j->r;
    size_t n = r->n, tiles = (n + j->tile - 1) / j->tile, bi, bj;
    if (j->symmetric)
        ks_lower(chunk, &bi, &bj);
    else
        bi = chunk / tiles, bj = chunk % tiles;
    size_t i = bi * j->tile, k = bj * j->tile;
    size_t rows = j->rows - i < j->tile ? j->rows - i : j->tile, cols = n - k < j->tile ? n - k : j->tile;
    double *c = j->K[COS] + i * n + k, *s = j->K[SIN] + i * n + k;
    ks_gemm(0, 1, rows, cols, r->p, 1, j->A + i * r->p, r->p, r->X + k * r->p, r->p, 0, c, n);
    ks_gemm(0, 1, rows, cols, r->p, 1, j->Ac + i * r->p, r->p, j->C + k * r->p, r->p, 0, s, n);
    for (size_t a = 0; a < rows; a++) r->simd->cosh_sinh(c + a * n, s + a * n, j->qa[i + a], j->q + k, cols);
    if (!j->symmetric) return KSPEC_OK;
    if (bi == bj) /* Sets |x-x|^2 to exactly 0, because inner products have rounding errors. */
        for (size_t a = 0; a < rows; a++) {
            double m = minus_one(r->X + (i + a) * r->p, r->p);
            c[a * n + a] = 1 + m / 2, s[a * n + a] = -m / 2;
        }
    for (int h = COS; h <= SIN; h++)
        for (size_t b = 0; b < cols; b++)
            for (size_t a = bi == bj ? b + 1 : 0; a < rows; a++)
                j->K[h][(k + b) * n + i + a] = j->K[h][(i + a) * n + k + b];
    return KSPEC_OK;
}

/*
 * Computes C = A minus the mean row, q = |c|^2/2 for the rows c of C, and the traces of the kernels of A
 * with itself. own (unless NULL) receives the kernel of each row with itself.
 */
static void prepare(const kspec_ridge *r, const double *A, size_t rows, double *C, double *q, double trace[2],
                    double *const own[2]) {
    size_t p = r->p;
    trace[COS] = trace[SIN] = 0;
    subtract_mean(r, A, rows, C);
    for (size_t i = 0; i < rows; i++) {
        q[i] = ks_dot(p, C + i * p, C + i * p) / 2;
        double m = minus_one(A + i * p, p);
        trace[COS] += 1 + m / 2;
        trace[SIN] -= m / 2;
        if (own) own[COS][i] = 1 + m / 2, own[SIN][i] = -m / 2;
    }
}

/* Centres the kernels, for features minus their means; mean has room for n doubles. */
static void center(kspec_ridge *r, double *mean) {
    const size_t n = r->n, nt = r->nt;
    for (int a = COS; a <= SIN; a++) {
        double *K = r->K[a];
        const double all = ks_kernel_means(K, n, mean);
        ks_kernel_center(K, n, n, mean, NULL, all);
        if (nt) ks_kernel_center(r->Kt[a], nt, n, mean, r->own[a], all);
        r->trace[a] = r->trace_t[a] = 0;
        for (size_t i = 0; i < n; i++) r->trace[a] += K[i * n + i];
        for (size_t t = 0; t < nt; t++) r->trace_t[a] += r->own[a][t];
    }
}

kspec_status ks_ridge_kernels(kspec_ridge *r, const ks_run *run, kspec_error *err) {
    ks_arena scratch = {0};
    double *q = ks_arena_alloc(&scratch, r->n, sizeof *q), *qt = ks_arena_alloc(&scratch, r->nt, sizeof *qt);
    double *C = ks_arena_alloc(&scratch, ks_size(r->n, r->p), sizeof *C);
    double *Ct = ks_arena_alloc(&scratch, ks_size(r->nt, r->p), sizeof *Ct);
    kspec_status st = scratch.failed ? ks_nomem(err, "centred rows", scratch.failed) : KSPEC_OK;
    if (!st) {
        prepare(r, r->X, r->n, C, q, r->trace, NULL);
        prepare(r, r->Xt, r->nt, Ct, qt, r->trace_t, r->own);
        kernel_job j = {r, r->X, C, C, q, q, r->K, r->n, ks_tile(r->n), 1};
        size_t tiles = (r->n + j.tile - 1) / j.tile;
        double share = (double)r->n / (double)(r->n + 2 * r->nt);
        ks_run first = ks_run_part(run, 0, share), second = ks_run_part(run, share, 1);
        st = ks_parallel_for(&first, tiles * (tiles + 1) / 2, kernel_tile, &j, err);
        if (!st && r->nt) {
            j.A = r->Xt, j.Ac = Ct, j.qa = qt, j.K = r->Kt, j.rows = r->nt, j.symmetric = 0;
            st = ks_parallel_for(&second, (r->nt + j.tile - 1) / j.tile * tiles, kernel_tile, &j, err);
        }
    }
    if (!st && r->o.intercept) center(r, q);
    ks_arena_free(&scratch);
    return st;
}
