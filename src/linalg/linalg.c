/* Multiplies matrices in tiles on several threads. */
#include "linalg/linalg.h"

#include "base/error.h"
#include "base/shared.h"
#include "kspec/host.h"
#include "linalg/blas.h"
#include "linalg/small.h"

#include <pthread.h>
#include <stdio.h>

const char *kspec_blas(void) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static char text[128];
    pthread_mutex_lock(&lock);
    if (!text[0]) {
        char version[40];
        if (sscanf(ks_blas_config(), "OpenBLAS %39s", version) == 1)
            snprintf(text, sizeof text, "OpenBLAS %s %s", version, ks_blas_core_name());
        else
            snprintf(text, sizeof text, "%s", KSPEC_BLAS);
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
 * A call can be cancelled between chunks, so chunks are short: 256 * 1024 * 16384 multiply-adds take about
 * 0.1 s on one core.
 */
/* A product of matrices in tiles, restricted to the piece of the inner dimension that begins at k0 */
typedef struct {
    const ks_tiled *of;
    size_t k0;
} piece;

static size_t strips(size_t n) { return (n + KS_STRIP - 1) / KS_STRIP; }

static size_t tiles_across(const ks_tiled *g) {
    return g->symmetric ? strips(g->n) : (g->n + KS_STRIP_COLS - 1) / KS_STRIP_COLS;
}

/*
 * The position of a tile: rows i, columns j. A symmetric product has the tiles on and above the diagonal
 * only.
 */
static void place_of(const ks_tiled *g, size_t tile, size_t *bi, size_t *bj) {
    size_t across = tiles_across(g);
    *bi = g->symmetric ? 0 : tile / across, *bj = g->symmetric ? tile : tile % across;
    for (; g->symmetric && *bj >= across; ++*bi) *bj -= across--; /* subtracts the tiles of the rows above */
    if (g->symmetric) *bj += *bi;
}

void ks_gemm_diagonal(int ta, size_t n, size_t k, double alpha, const double *A, size_t lda, double beta,
                      double *C, size_t ldc) {
    ks_blas_begin();
    cblas_dsyrk(CblasRowMajor, CblasUpper, ta ? CblasTrans : CblasNoTrans, (int)n, (int)k, alpha, A, (int)lda,
                beta, C, (int)ldc);
    ks_blas_end();
}

void ks_add_forms(int symmetric, size_t rows, size_t Q, size_t R, const double *X, size_t ldx,
                  const double *M, size_t ldm, const double *Y, size_t ldy, double *T, double *form) {
    for (size_t c = 0; c < R; c += KS_FORM_BLOCK) {
        const size_t n = R - c < KS_FORM_BLOCK ? R - c : KS_FORM_BLOCK, above = symmetric ? c : Q;
        if (above) ks_gemm(0, 0, rows, n, above, symmetric ? 2 : 1, X, ldx, M + c, ldm, 0, T, n);
        if (symmetric) ks_gemm(0, 0, rows, n, n, 1, X + c, ldx, M + c * ldm + c, ldm, above ? 1 : 0, T, n);
        for (size_t i = 0; i < rows; i++) form[i] += ks_dot(n, Y + i * ldy + c, T + i * n);
    }
}

static void multiply(const ks_tiled *g, size_t k0, size_t bi, size_t bj) {
    const size_t width = g->symmetric ? KS_STRIP : KS_STRIP_COLS, i = bi * KS_STRIP, j = bj * width;
    const size_t m = g->m - i < KS_STRIP ? g->m - i : KS_STRIP, n = g->n - j < width ? g->n - j : width;
    const size_t k = g->k - k0 < KS_DEPTH ? g->k - k0 : KS_DEPTH;
    const double *A = g->A + (g->ta ? k0 * g->lda + i : i * g->lda + k0);
    const double *B = g->B + (g->tb ? j * g->ldb + k0 : k0 * g->ldb + j);
    double *C = g->C + i * g->ldc + j, beta = k0 ? 1 : g->beta;
    if (g->symmetric && bi == bj && A == B && g->lda == g->ldb && !g->ta != !g->tb)
        ks_gemm_diagonal(g->ta, n, k, g->alpha, A, g->lda, beta, C, g->ldc);
    else
        ks_gemm(g->ta, g->tb, m, n, k, g->alpha, A, g->lda, B, g->ldb, beta, C, g->ldc);
}

static void mirror(const ks_tiled *g, size_t bi, size_t bj) {
    size_t i0 = bi * KS_STRIP, j0 = bj * KS_STRIP;
    for (size_t j = j0; j < j0 + KS_STRIP && j < g->n; j++)
        for (size_t i = i0; i < i0 + KS_STRIP && i < j; i++) g->C[j * g->ldc + i] = g->C[i * g->ldc + j];
}

size_t ks_tiled_count(const ks_tiled *g) {
    const size_t n = tiles_across(g);
    return g->symmetric ? n * (n + 1) / 2 : strips(g->m) * n;
}

void ks_tiled_make(const ks_tiled *g, size_t tile) {
    size_t bi, bj;
    place_of(g, tile, &bi, &bj);
    for (size_t k0 = 0; k0 < g->k; k0 += KS_DEPTH) multiply(g, k0, bi, bj);
}

/* The chunk with a tile's last piece also mirrors the tile. */
static kspec_status one_tile(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const piece *x = ctx;
    size_t bi, bj;
    place_of(x->of, chunk, &bi, &bj);
    multiply(x->of, x->k0, bi, bj);
    if (x->of->symmetric && x->of->k - x->k0 <= KS_DEPTH) mirror(x->of, bi, bj);
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

/* ---- teams ---- */

/* A row of tiles; for a symmetric product, from the diagonal on */
static kspec_status one_strip(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const ks_tiled *g = ctx;
    for (size_t k0 = 0; k0 < g->k; k0 += KS_DEPTH)
        for (size_t t = g->symmetric ? chunk : 0; t < tiles_across(g); t++) multiply(g, k0, chunk, t);
    return KSPEC_OK;
}

static kspec_status mirror_strip(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const ks_tiled *g = ctx;
    for (size_t t = chunk; t < tiles_across(g); t++) mirror(g, chunk, t);
    return KSPEC_OK;
}

/* Does the team divide it? Every rank computes a product that takes less time than a message. */
static int is_shared(const ks_run *run, const ks_tiled *g) {
    return run->team && g->ldc == g->n && (double)g->m * (double)g->n * (double)g->k > 1e8;
}

/* The team mirrors a symmetric product after the ranks have exchanged it. */
static kspec_status share(const ks_run *run, ks_tiled *g, kspec_error *err) {
    const ks_share rows = {g->C, g->n * sizeof *g->C, g->m, KS_STRIP};
    const ks_run made = ks_run_part(run, 0, 0.95), mirrored = ks_run_part(run, 0.95, 1);
    if (!g->symmetric)
        return ks_calls_of(run->team)->loop(run, "product", strips(g->m), one_strip, g, &rows, 1, err);
    kspec_status st =
        ks_calls_of(run->team)->falling(&made, "square", strips(g->m), one_strip, g, &rows, 1, err);
    return st ? st : ks_parallel_for(&mirrored, strips(g->m), mirror_strip, g, err);
}

/* ---- all ---- */

static kspec_status make_tiled(const ks_run *run, ks_tiled *g, kspec_error *err) {
    kspec_status st = check_strides(g->lda, g->ldb, g->ldc, err);
    if (st) return st;
    if (is_shared(run, g)) return share(run, g, err);
    const double k = (double)g->k;
    for (piece x = {g, 0}; x.k0 < g->k && !st; x.k0 += KS_DEPTH) {
        const double end = g->k - x.k0 < KS_DEPTH ? k : (double)(x.k0 + KS_DEPTH);
        const ks_run part = ks_run_part(run, (double)x.k0 / k, end / k);
        st = ks_parallel_for(&part, ks_tiled_count(g), one_tile, &x, err);
    }
    return st;
}

kspec_status ks_gemm_tiled(const ks_run *run, int ta, int tb, size_t m, size_t n, size_t k, double alpha,
                           const double *A, size_t lda, const double *B, size_t ldb, double beta, double *C,
                           size_t ldc, kspec_error *err) {
    ks_tiled g = {ta, tb, m, n, k, alpha, A, lda, B, ldb, beta, C, ldc, 0};
    return make_tiled(run, &g, err);
}

kspec_status ks_gemm_symmetric_tiled(const ks_run *run, int ta, int tb, size_t n, size_t k, double alpha,
                                     const double *A, size_t lda, const double *B, size_t ldb, double *C,
                                     size_t ldc, kspec_error *err) {
    ks_tiled g = {ta, tb, n, n, k, alpha, A, lda, B, ldb, 0, C, ldc, 1};
    return make_tiled(run, &g, err);
}
