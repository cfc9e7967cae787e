#include "linalg/cholesky.h"

#include "linalg/linalg.h"
#include "team/team.h"

#include <cblas.h>
#include <string.h>

/* A team shares out the square of a matrix of this size; a smaller one takes less than a message. */
enum { SHARED_FROM = 384 };

size_t ks_tile(size_t n) { return n < 1024 ? 128 : 256; }

typedef struct {
    size_t n, tile, k; /* k: the tile column at work */
    double *A, *W;
} job;

static size_t extent(const job *j, size_t tile) {
    size_t left = j->n - tile * j->tile;
    return left < j->tile ? left : j->tile;
}

static double *at(const job *j, double *A, size_t row, size_t col) {
    return A + row * j->tile * j->n + col * j->tile;
}

/* A_ik -= sum over l < k of A_il A_kl^T, for one tile i >= k */
static kspec_status update(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const job *j = ctx;
    size_t i = j->k + chunk;
    ks_gemm(0, 1, extent(j, i), extent(j, j->k), j->k * j->tile, -1, at(j, j->A, i, 0), j->n,
            at(j, j->A, j->k, 0), j->n, 1, at(j, j->A, i, j->k), j->n);
    return KSPEC_OK;
}

/* A_ik becomes L_ik = A_ik L_kk^-T, for one tile i > k */
static kspec_status below(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const job *j = ctx;
    size_t i = j->k + 1 + chunk;
    ks_blas_begin();
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)extent(j, i),
                (int)extent(j, j->k), 1, at(j, j->A, j->k, j->k), (int)j->n, at(j, j->A, i, j->k), (int)j->n);
    ks_blas_end();
    return KSPEC_OK;
}

/* Left-looking: each tile is written once, by products as long as the matrix has columns to its left. */
kspec_status ks_potrf_tiled(const ks_run *run, size_t n, double *A, size_t *bad, kspec_error *err) {
    job j = {.n = n, .tile = ks_tile(n), .A = A};
    size_t tiles = (n + j.tile - 1) / j.tile;
    kspec_status st = KSPEC_OK;
    *bad = 0;
    for (j.k = 0; j.k < tiles && !st && !*bad; j.k++) {
        if (j.k > 0) st = ks_parallel_for(run, tiles - j.k, update, &j, err);
        if (st) break;
        size_t k = ks_potrf(extent(&j, j.k), at(&j, A, j.k, j.k), n);
        if (k)
            *bad = j.k * j.tile + k;
        else if (j.k + 1 < tiles)
            st = ks_parallel_for(run, tiles - j.k - 1, below, &j, err);
    }
    return st;
}

/* Column k of W = L^-1, tile by tile downwards: W_ik = L_ii^-1 (I_ik - sum over k <= l < i of L_il W_lk) */
static kspec_status invert_column(void *ctx, size_t k, const ks_worker *worker) {
    (void)worker;
    const job *j = ctx;
    size_t tiles = (j->n + j->tile - 1) / j->tile, width = extent(j, k);
    for (size_t i = k; i < tiles; i++) {
        double *W = at(j, j->W, i, k);
        size_t rows = extent(j, i);
        if (i == k) {
            for (size_t r = 0; r < rows; r++) {
                memset(W + r * j->n, 0, width * sizeof *W);
                W[r * j->n + r] = 1;
            }
        } else {
            ks_gemm(0, 0, rows, width, (i - k) * j->tile, -1, at(j, j->A, i, k), j->n, at(j, j->W, k, k),
                    j->n, 0, W, j->n);
        }
        ks_blas_begin();
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, (int)rows, (int)width,
                    1, at(j, j->A, i, i), (int)j->n, W, (int)j->n);
        ks_blas_end();
    }
    return KSPEC_OK;
}

/* Tile (i,k), i >= k, of A^-1 = W^T W, where W has no rows above tile i in column i; and its mirror image */
static kspec_status square(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const job *j = ctx;
    size_t i = 0;
    for (; chunk > i; i++) chunk -= i + 1;
    size_t k = chunk, rows = extent(j, i), cols = extent(j, k);
    double *A = at(j, j->A, i, k);
    ks_gemm(1, 0, rows, cols, j->n - i * j->tile, 1, at(j, j->W, i, i), j->n, at(j, j->W, i, k), j->n, 0, A,
            j->n);
    double *mirror = at(j, j->A, k, i);
    for (size_t c = 0; c < cols; c++)
        for (size_t r = 0; r < rows; r++) mirror[c * j->n + r] = A[r * j->n + c];
    return KSPEC_OK;
}

/* A row of tiles of A^-1 from the diagonal to the left, for a team */
static kspec_status square_strip(void *ctx, size_t i, const ks_worker *worker) {
    for (size_t k = 0; k <= i; k++) square(ctx, i * (i + 1) / 2 + k, worker);
    return KSPEC_OK;
}

/* The mirror images of a row of tiles */
static kspec_status mirror_strip(void *ctx, size_t i, const ks_worker *worker) {
    (void)worker;
    const job *j = ctx;
    const size_t end = i * j->tile + extent(j, i);
    for (size_t r = i * j->tile; r < end; r++)
        for (size_t c = 0; c < r; c++) j->A[c * j->n + r] = j->A[r * j->n + c];
    return KSPEC_OK;
}

/*
 * In a team every rank has all of W, whose columns do not lie together, and its rows of tiles of the square
 * are handed round.
 */
static kspec_status square_shared(const ks_run *run, job *j, size_t tiles, kspec_error *err) {
    const ks_share rows = {j->A, j->n * sizeof *j->A, j->n, j->tile};
    kspec_status st = ks_team_for(run, "inverse", tiles, square_strip, j, &rows, 1, err);
    return st ? st : ks_parallel_for(run, tiles, mirror_strip, j, err);
}

kspec_status ks_potri_tiled(const ks_run *run, size_t n, double *A, double *work, kspec_error *err) {
    job j = {.n = n, .tile = ks_tile(n), .A = A, .W = work};
    size_t tiles = (n + j.tile - 1) / j.tile;
    kspec_status st = ks_parallel_for(run, tiles, invert_column, &j, err);
    if (!st && run->team && n >= SHARED_FROM) return square_shared(run, &j, tiles, err);
    return st ? st : ks_parallel_for(run, tiles * (tiles + 1) / 2, square, &j, err);
}

void ks_trsm(size_t n, size_t m, const double *L, size_t ldl, double *B, size_t ldb) {
    ks_blas_begin();
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, (int)n, (int)m, 1, L,
                (int)ldl, B, (int)ldb);
    ks_blas_end();
}

void ks_potrs(size_t n, size_t m, const double *L, size_t ldl, double *B, size_t ldb) {
    ks_blas_begin();
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, (int)n, (int)m, 1, L,
                (int)ldl, B, (int)ldb);
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, (int)n, (int)m, 1, L,
                (int)ldl, B, (int)ldb);
    ks_blas_end();
}

void ks_syrk(int ta, size_t n, size_t k, double alpha, const double *A, size_t lda, double *C, size_t ldc) {
    ks_blas_begin();
    cblas_dsyrk(CblasRowMajor, CblasLower, ta ? CblasTrans : CblasNoTrans, (int)n, (int)k, alpha, A, (int)lda,
                0, C, (int)ldc);
    ks_blas_end();
}
