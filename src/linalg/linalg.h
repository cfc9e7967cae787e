/*
 * Wraps BLAS and LAPACK, which only this folder calls. All matrices are row-major. Each call uses one thread,
 * and several threads may call at once. The _tiled functions cut their result into fixed tiles and compute
 * these on the threads of `run`, with the same bits at any thread count.
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
 * Call ks_blas_enter() before a computation, and ks_blas_exit() after it; pairs may nest. The first enter
 * sets OpenBLAS to one thread, and the last exit restores the setting. ks_blas_enter() also provides buffers
 * of OpenBLAS for up to `threads` calls at once. With fewer buffers, calls wait for each other. Without any
 * buffer it fails with KSPEC_E_NOMEM; then no exit is needed.
 */
kspec_status ks_blas_enter(int threads, kspec_error *err) __attribute__((warn_unused_result));
void ks_blas_exit(void);

/* Call these two around each call of BLAS and LAPACK that uses a buffer. They do not nest. */
void ks_blas_begin(void);
void ks_blas_end(void);

/*
 * Call this before LAPACK. It fails with KSPEC_E_NOMEM if not even a megabyte is free, because products
 * inside LAPACK may allocate memory in OpenBLAS, which does not check the result (small.c).
 */
kspec_status ks_lapack_reserve(kspec_error *err);

/* C (m x n) = alpha op(A) op(B) + beta C; ta, tb: 1 to transpose. A is m x k (k x m if ta), B is k x n. */
void ks_gemm(int ta, int tb, size_t m, size_t n, size_t k, double alpha, const double *A, size_t lda,
             const double *B, size_t ldb, double beta, double *C, size_t ldc);

/*
 * The upper triangle of C (n x n) = alpha A A^T + beta C, or alpha A^T A + beta C if ta: a block on the
 * diagonal of a symmetric product. Every process computes such a block by this call, with the same bits.
 */
void ks_gemm_diagonal(int ta, size_t n, size_t k, double alpha, const double *A, size_t lda, double beta,
                      double *C, size_t ldc);

/*
 * Adds x_i' M y_i to form[i] for `rows` rows of X (Q columns) and Y (R columns). symmetric: Y is X and M is
 * symmetric. Blocks above the diagonal of M then count twice, which halves the work. T is scratch of rows x
 * KS_FORM_BLOCK.
 */
enum { KS_FORM_BLOCK = 256 };
void ks_add_forms(int symmetric, size_t rows, size_t Q, size_t R, const double *X, size_t ldx,
                  const double *M, size_t ldm, const double *Y, size_t ldy, double *T, double *form);

/* ks_gemm() on the threads of `run`, in tiles of C. */
kspec_status ks_gemm_tiled(const ks_run *run, int ta, int tb, size_t m, size_t n, size_t k, double alpha,
                           const double *A, size_t lda, const double *B, size_t ldb, double beta, double *C,
                           size_t ldc, kspec_error *err);

/* C (n x n) = alpha op(A) op(B), known to be symmetric: half the work. A is n x k (k x n if ta), B k x n. */
kspec_status ks_gemm_symmetric_tiled(const ks_run *run, int ta, int tb, size_t n, size_t k, double alpha,
                                     const double *A, size_t lda, const double *B, size_t ldb, double *C,
                                     size_t ldc, kspec_error *err);

/*
 * One of the products above as a list of tiles, for callers who divide the tiles themselves. One call writes
 * each tile, with the bits of the whole product. A symmetric product has the tiles on and above the diagonal,
 * by KS_STRIP.
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
