/* Computes Cholesky factors and inverses on several threads. */
#include "linalg/cholesky.h"

#include "base/shared.h"
#include "linalg/blas.h"
#include "linalg/linalg.h"

#include <string.h>

/*
 * The smallest matrix whose square a team divides. A smaller square takes less time than a message.
 */
enum { SHARED_FROM = 384 };

size_t ks_tile(size_t n) { return n < 1024 ? 128 : 256; }

void ks_lower(size_t number, size_t *row, size_t *col) {
    size_t i = 0;
    for (; number > i; i++) number -= i + 1;
    *row = i, *col = number;
}

typedef struct {
    size_t n, tile, tiles; /* the size of the matrix, the side of a tile, and the number of tiles in a row */
    double *A, *W;
    /* the number of the first row that is not positive definite, from 1; 0: all rows are */
    size_t bad;
} job;

static job job_of(size_t n, double *A, double *W) {
    const size_t tile = ks_tile(n);
    return (job){n, tile, (n + tile - 1) / tile, A, W, 0};
}

static size_t extent(const job *j, size_t tile) {
    size_t left = j->n - tile * j->tile;
    return left < j->tile ? left : j->tile;
}

static double *at(const job *j, double *A, size_t row, size_t col) {
    return A + row * j->tile * j->n + col * j->tile;
}

/* ---- the factor ---- */

/* The diagonal tile k becomes L_kk */
static void factor(job *j, size_t k) {
    const size_t bad = ks_potrf(extent(j, k), at(j, j->A, k, k), j->n);
    if (bad) j->bad = k * j->tile + bad;
}

/* A_ik becomes L_ik = A_ik L_kk^-T, for one tile i > k */
static void below(const job *j, size_t k, size_t i) {
    ks_blas_begin();
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)extent(j, i),
                (int)extent(j, k), 1, at(j, j->A, k, k), (int)j->n, at(j, j->A, i, k), (int)j->n);
    ks_blas_end();
}

/* A_il -= L_ik L_lk^T, for one tile i >= l > k */
static void update(const job *j, size_t k, size_t i, size_t l) {
    ks_gemm(0, 1, extent(j, i), extent(j, l), j->tile, -1, at(j, j->A, i, k), j->n, at(j, j->A, l, k), j->n,
            1, at(j, j->A, i, l), j->n);
}

/* Steps 2k: the tiles below the diagonal of column k; 2k + 1: all tiles to its right */
static size_t factor_chunks(void *ctx, size_t step) {
    const job *j = ctx;
    const size_t left = j->tiles - step / 2 - 1;
    return j->bad ? 0 : step % 2 ? left * (left + 1) / 2 : left;
}

static kspec_status factor_step(void *ctx, size_t step, size_t chunk, const ks_worker *worker) {
    (void)worker;
    job *j = ctx;
    const size_t k = step / 2, first = k + 1;
    size_t i, l;
    if (step % 2 == 0) {
        below(j, k, first + chunk);
        return KSPEC_OK;
    }
    ks_lower(chunk, &i, &l);
    update(j, k, first + i, first + l);
    /* factors the next diagonal tile while other threads compute the remaining tiles */
    if (chunk == 0) factor(j, first);
    return KSPEC_OK;
}

/*
 * Right-looking: after each column the code updates all tiles to its right, so that many threads have work.
 */
kspec_status ks_potrf_tiled(const ks_run *run, size_t n, double *A, size_t *bad, kspec_error *err) {
    job j = job_of(n, A, NULL);
    if (n) factor(&j, 0);
    const ks_steps steps = {n && !j.bad ? 2 * (j.tiles - 1) : 0, j.tiles * (j.tiles - 1) / 2, factor_chunks,
                            factor_step};
    kspec_status st = ks_parallel_steps(run, &steps, &j, err);
    *bad = j.bad;
    return st;
}

/* ---- the inverse ---- */

/*
 * W_kl, l <= k, already reduced by the products of L_k0 ... L_k,k-1 with the rows above, is multiplied by
 * L_kk^-1
 */
static void substitute(const job *j, size_t k, size_t l) {
    ks_trsm(extent(j, k), extent(j, l), at(j, j->A, k, k), j->n, at(j, j->W, k, l), j->n);
}

/* W_kk, which is I, becomes L_kk^-1 */
static void begin(const job *j, size_t k) {
    double *W = at(j, j->W, k, k);
    for (size_t r = 0; r < extent(j, k); r++) {
        memset(W + r * j->n, 0, extent(j, k) * sizeof *W);
        W[r * j->n + r] = 1;
    }
    substitute(j, k, k);
}

/* W_il -= L_ik W_kl for one tile i > k >= l. At l = k the tile has no value yet, and becomes -L_ik W_kk. */
static void subtract(const job *j, size_t k, size_t i, size_t l) {
    ks_gemm(0, 0, extent(j, i), extent(j, l), j->tile, -1, at(j, j->A, i, k), j->n, at(j, j->W, k, l), j->n,
            l < k, at(j, j->W, i, l), j->n);
}

/*
 * Step k, with the rows of tiles of W = L^-1 down to k complete: updates all rows below, and completes row k
 * + 1
 */
static size_t invert_chunks(void *ctx, size_t k) {
    const job *j = ctx;
    return 1 + (j->tiles - k - 1) * (k + 1);
}

static kspec_status invert_step(void *ctx, size_t k, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const job *j = ctx;
    if (chunk == 0) {
        begin(j, k + 1);
        return KSPEC_OK;
    }
    const size_t i = k + 1 + (chunk - 1) / (k + 1), l = (chunk - 1) % (k + 1);
    subtract(j, k, i, l);
    if (i == k + 1) substitute(j, i, l);
    return KSPEC_OK;
}

/* Computes tile (i,k), i >= k, of A^-1 = W^T W, and its mirror image. In column i, W is zero above tile i. */
static kspec_status square(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const job *j = ctx;
    size_t i, k;
    ks_lower(chunk, &i, &k);
    const size_t rows = extent(j, i), cols = extent(j, k);
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
 * In a team every rank computes all of W, whose columns are not contiguous; the ranks exchange their rows of
 * tiles of the square.
 */
static kspec_status square_shared(const ks_run *run, job *j, kspec_error *err) {
    const ks_share rows = {j->A, j->n * sizeof *j->A, j->n, j->tile};
    kspec_status st = ks_calls_of(run->team)->loop(run, "inverse", j->tiles, square_strip, j, &rows, 1, err);
    return st ? st : ks_parallel_for(run, j->tiles, mirror_strip, j, err);
}

kspec_status ks_potri_tiled(const ks_run *run, size_t n, double *A, double *work, kspec_error *err) {
    job j = job_of(n, A, work);
    if (n) begin(&j, 0);
    const ks_steps steps = {n ? j.tiles - 1 : 0, 1 + j.tiles * j.tiles / 4, invert_chunks, invert_step};
    kspec_status st = ks_parallel_steps(run, &steps, &j, err);
    if (!st && run->team && n >= SHARED_FROM) return square_shared(run, &j, err);
    return st ? st : ks_parallel_for(run, j.tiles * (j.tiles + 1) / 2, square, &j, err);
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
