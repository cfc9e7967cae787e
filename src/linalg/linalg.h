/*
 * Wraps BLAS and LAPACK, which only this folder calls. Row-major throughout; each call is single-threaded and
 * may run in several threads at once. The _tiled functions cut their result into fixed tiles and run those on
 * the threads of `run`: the same bits at any thread count.
 */
#pragma once

#include "base/parallel.h"

/*
 * Tiles of a product are KS_STRIP rows high; the inner dimension is cut into pieces of KS_DEPTH. Processes
 * divide rows in strips of KS_STRIP rows (device/strips.h), so that every process makes the same calls as a
 * single one, with the same bits.
 */
enum { KS_STRIP = 256, KS_STRIP_COLS = 1024, KS_DEPTH = 16384 };

/*
 * Call it before a computation: it sets the process's OpenBLAS to one thread; the last exit restores the
 * setting. Nests. It provides OpenBLAS's buffers for up to `threads` calls at once: with fewer buffers, calls
 * wait for each other. Without any, it fails with KSPEC_E_NOMEM, and no exit is needed.
 */
kspec_status ks_blas_enter(int threads, kspec_error *err) __attribute__((warn_unused_result));
void ks_blas_exit(void);

/* Call these around each call of BLAS and LAPACK that uses a buffer; they do not nest. */
void ks_blas_begin(void);
void ks_blas_end(void);

/*
 * LAPACK's own products may allocate memory in OpenBLAS, which does not check the result (small.c). Fails
 * with KSPEC_E_NOMEM if not even a megabyte is free; call it before LAPACK.
 */
kspec_status ks_lapack_reserve(kspec_error *err);

/* C (m x n) = alpha op(A) op(B) + beta C; ta, tb: 1 to transpose. A is m x k (k x m if ta), B is k x n. */
void ks_gemm(int ta, int tb, size_t m, size_t n, size_t k, double alpha, const double *A, size_t lda,
             const double *B, size_t ldb, double beta, double *C, size_t ldc);

/* The same over threads, in tiles of C. */
kspec_status ks_gemm_tiled(const ks_run *run, int ta, int tb, size_t m, size_t n, size_t k, double alpha,
                           const double *A, size_t lda, const double *B, size_t ldb, double beta, double *C,
                           size_t ldc, kspec_error *err);

/* C (n x n) = alpha op(A) op(B), known to be symmetric: half the work. A is n x k (k x n if ta), B k x n. */
kspec_status ks_gemm_symmetric_tiled(const ks_run *run, int ta, int tb, size_t n, size_t k, double alpha,
                                     const double *A, size_t lda, const double *B, size_t ldb, double *C,
                                     size_t ldc, kspec_error *err);

/*
 * One of the above as a list of tiles, for callers who divide the tiles themselves. One call writes each
 * tile, with the bits of the whole product. A symmetric product has the tiles on and above the diagonal, by
 * KS_STRIP.
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
    size_t ldc;
    int symmetric;
} ks_tiled;
size_t ks_tiled_count(const ks_tiled *g);
void ks_tiled_make(const ks_tiled *g, size_t tile);

/* Sum of x[i] y[i]. */
double ks_dot(size_t n, const double *x, const double *y);

/*
 * Cholesky: replaces A (n x n, lower triangle read) by L with A = L L^T, without touching the upper triangle.
 * Returns 0, or k > 0 if the leading k x k block is not positive definite.
 */
size_t ks_potrf(size_t n, double *A, size_t lda);
