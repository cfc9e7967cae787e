#include "linalg/linalg.h"

#include "base/error.h"
#include "linalg/small.h"
#include "team/team.h"

#include <cblas.h>
#include <lapacke.h>
#include <pthread.h>
#include <stdio.h>

const char *kspec_blas(void) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static char text[128];
    pthread_mutex_lock(&lock);
    if (!text[0]) {
        char version[40] = "";
        if (sscanf(openblas_get_config(), "OpenBLAS %39s", version) != 1) version[0] = 0;
        snprintf(text, sizeof text, "OpenBLAS %s %s", version, openblas_get_corename());
    }
    pthread_mutex_unlock(&lock);
    return text;
}

void ks_gemm(int ta, int tb, size_t m, size_t n, size_t k, double alpha, const double *A, size_t lda,
             const double *B, size_t ldb, double beta, double *C, size_t ldc) {
    ks_blas_begin();
    if (!ta && !tb && ks_small_product_allocates(m, n, k))
        ks_small_product(m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
    else
        cblas_dgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, (int)m,
                    (int)n, (int)k, alpha, A, (int)lda, B, (int)ldb, beta, C, (int)ldc);
    ks_blas_end();
}

double ks_dot(size_t n, const double *x, const double *y) {
    double sum = 0;
    for (size_t i = 0; i < n; i += 1 << 30) { /* BLAS counts in int */
        size_t c = n - i < 1 << 30 ? n - i : 1 << 30;
        sum += cblas_ddot((int)c, x + i, 1, y + i, 1);
    }
    return sum;
}

size_t ks_potrf(size_t n, double *A, size_t lda) {
    /* the row-major lower triangle is the column-major upper one: no transposition needed */
    ks_blas_begin();
    int info = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', (int)n, A, (int)lda);
    ks_blas_end();
    return info > 0 ? (size_t)info : 0;
}

/*
 * A chunk stays short enough to be cancelled between chunks: 256 * 1024 * 16384 multiply-adds take about
 * 0.1 s on one core.
 */
typedef struct {
    int ta, tb;
    size_t m, n, k;
    double alpha;
    const double *A;
    size_t lda;
    const double *B;
    size_t ldb;
    double beta;
    double *C;
    size_t ldc, tiles_n, k0;
} gemm_job;

static kspec_status gemm_tile(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const gemm_job *g = ctx;
    size_t i = chunk / g->tiles_n * KS_STRIP, j = chunk % g->tiles_n * KS_STRIP_COLS;
    size_t m = g->m - i < KS_STRIP ? g->m - i : KS_STRIP;
    size_t n = g->n - j < KS_STRIP_COLS ? g->n - j : KS_STRIP_COLS;
    size_t k = g->k - g->k0 < KS_DEPTH ? g->k - g->k0 : KS_DEPTH;
    const double *A = g->A + (g->ta ? g->k0 * g->lda + i : i * g->lda + g->k0);
    const double *B = g->B + (g->tb ? j * g->ldb + g->k0 : g->k0 * g->ldb + j);
    ks_gemm(g->ta, g->tb, m, n, k, g->alpha, A, g->lda, B, g->ldb, g->k0 ? 1 : g->beta, g->C + i * g->ldc + j,
            g->ldc);
    return KSPEC_OK;
}

/* BLAS counts in int. */
static kspec_status check_strides(size_t lda, size_t ldb, size_t ldc, kspec_error *err) {
    const size_t limit = 2147483647;
    if (lda <= limit && ldb <= limit && ldc <= limit) return KSPEC_OK;
    return ks_fail(err, KSPEC_E_ARG, "a matrix of %zu columns exceeds the limit of BLAS, %zu",
                   lda > limit   ? lda
                   : ldb > limit ? ldb
                                 : ldc,
                   limit);
}

/* A row of tiles, for a team */
static kspec_status gemm_strip(void *ctx, size_t chunk, const ks_worker *worker) {
    gemm_job g = *(const gemm_job *)ctx;
    for (g.k0 = 0; g.k0 < g.k; g.k0 += KS_DEPTH)
        for (size_t t = 0; t < g.tiles_n; t++) gemm_tile(&g, chunk * g.tiles_n + t, worker);
    return KSPEC_OK;
}

/* Is it shared out? A product that takes less than a message is made by every rank. */
static int shared(const ks_run *run, const gemm_job *g) {
    return run->team && g->ldc == g->n && (double)g->m * (double)g->n * (double)g->k > 1e8;
}

kspec_status ks_gemm_tiled(const ks_run *run, int ta, int tb, size_t m, size_t n, size_t k, double alpha,
                           const double *A, size_t lda, const double *B, size_t ldb, double beta, double *C,
                           size_t ldc, kspec_error *err) {
    kspec_status st = check_strides(lda, ldb, ldc, err);
    if (st) return st;
    gemm_job g = {
        ta, tb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc, (n + KS_STRIP_COLS - 1) / KS_STRIP_COLS, 0};
    if (shared(run, &g)) {
        const ks_share rows = {C, n * sizeof *C, m, KS_STRIP};
        return ks_team_for(run, "product", (m + KS_STRIP - 1) / KS_STRIP, gemm_strip, &g, &rows, 1, err);
    }
    size_t chunks = (m + KS_STRIP - 1) / KS_STRIP * g.tiles_n;
    for (g.k0 = 0; g.k0 < k; g.k0 += KS_DEPTH) {
        size_t k1 = g.k0 + KS_DEPTH < k ? g.k0 + KS_DEPTH : k;
        ks_run part = ks_run_part(run, (double)g.k0 / (double)k, (double)k1 / (double)k);
        st = ks_parallel_for(&part, chunks, gemm_tile, &g, err);
        if (st) return st;
    }
    return KSPEC_OK;
}

/* Only tiles on and above the diagonal are computed; each is mirrored by the chunk that made it. */
static void upper_tile(const gemm_job *g, size_t bi, size_t bj) {
    size_t i = bi * KS_STRIP, j = bj * KS_STRIP;
    size_t m = g->n - i < KS_STRIP ? g->n - i : KS_STRIP, n = g->n - j < KS_STRIP ? g->n - j : KS_STRIP;
    size_t k = g->k - g->k0 < KS_DEPTH ? g->k - g->k0 : KS_DEPTH;
    const double *A = g->A + (g->ta ? g->k0 * g->lda + i : i * g->lda + g->k0);
    const double *B = g->B + (g->tb ? j * g->ldb + g->k0 : g->k0 * g->ldb + j);
    ks_gemm(g->ta, g->tb, m, n, k, g->alpha, A, g->lda, B, g->ldb, g->k0 ? 1 : 0, g->C + i * g->ldc + j,
            g->ldc);
}

static void mirror_tile(const gemm_job *g, size_t bi, size_t bj) {
    size_t i0 = bi * KS_STRIP, j0 = bj * KS_STRIP;
    for (size_t j = j0; j < j0 + KS_STRIP && j < g->n; j++)
        for (size_t i = i0; i < i0 + KS_STRIP && i < j; i++) g->C[j * g->ldc + i] = g->C[i * g->ldc + j];
}

static kspec_status symmetric_tile(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const gemm_job *g = ctx;
    size_t bi = 0, row = g->tiles_n; /* chunk = tiles of the rows of tiles above + bj - bi */
    while (chunk >= row) chunk -= row--, bi++;
    upper_tile(g, bi, bi + chunk);
    if (g->k - g->k0 <= KS_DEPTH) mirror_tile(g, bi, bi + chunk);
    return KSPEC_OK;
}

/* A row of tiles from the diagonal on, for a team, which mirrors all of them when it has them */
static kspec_status symmetric_strip(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    gemm_job g = *(const gemm_job *)ctx;
    for (g.k0 = 0; g.k0 < g.k; g.k0 += KS_DEPTH)
        for (size_t t = chunk; t < g.tiles_n; t++) upper_tile(&g, chunk, t);
    return KSPEC_OK;
}

static kspec_status mirror_strip(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const gemm_job *g = ctx;
    for (size_t t = chunk; t < g->tiles_n; t++) mirror_tile(g, chunk, t);
    return KSPEC_OK;
}

static kspec_status symmetric_shared(const ks_run *run, gemm_job *g, kspec_error *err) {
    const ks_share rows = {g->C, g->n * sizeof *g->C, g->n, KS_STRIP};
    const ks_run made = ks_run_part(run, 0, 0.95), mirrored = ks_run_part(run, 0.95, 1);
    kspec_status st = ks_team_for_falling(&made, "square", g->tiles_n, symmetric_strip, g, &rows, 1, err);
    return st ? st : ks_parallel_for(&mirrored, g->tiles_n, mirror_strip, g, err);
}

kspec_status ks_gemm_symmetric_tiled(const ks_run *run, int ta, int tb, size_t n, size_t k, double alpha,
                                     const double *A, size_t lda, const double *B, size_t ldb, double *C,
                                     size_t ldc, kspec_error *err) {
    kspec_status st = check_strides(lda, ldb, ldc, err);
    if (st) return st;
    size_t tiles = (n + KS_STRIP - 1) / KS_STRIP;
    gemm_job g = {ta, tb, n, n, k, alpha, A, lda, B, ldb, 0, C, ldc, tiles, 0};
    if (shared(run, &g)) return symmetric_shared(run, &g, err);
    for (g.k0 = 0; g.k0 < k; g.k0 += KS_DEPTH) {
        size_t k1 = g.k0 + KS_DEPTH < k ? g.k0 + KS_DEPTH : k;
        ks_run part = ks_run_part(run, (double)g.k0 / (double)k, (double)k1 / (double)k);
        st = ks_parallel_for(&part, tiles * (tiles + 1) / 2, symmetric_tile, &g, err);
        if (st) return st;
    }
    return KSPEC_OK;
}
