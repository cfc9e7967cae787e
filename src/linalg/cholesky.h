/*
 * Cholesky factors, inverses and Gram matrices. The _tiled functions run over threads in fixed tiles, with
 * the same bits at any thread count, and have leading dimension n throughout. Row-major.
 */
#pragma once

#include "base/parallel.h"

/* The side of a tile of an n x n matrix: large enough for BLAS, small enough to give several threads work. */
size_t ks_tile(size_t n);

/* The row and column of a tile of a lower triangle, whose tiles are numbered row by row */
void ks_lower(size_t number, size_t *row, size_t *col);

/*
 * Replaces A (n x n, only the lower triangle is read) by its Cholesky factor L, A = L L^T, in the lower
 * triangle. Overwrites the upper triangle. *bad is 0, or k > 0 if the leading k x k block is not positive
 * definite.
 */
kspec_status ks_potrf_tiled(const ks_run *run, size_t n, double *A, size_t *bad, kspec_error *err);

/* Replaces A, from ks_potrf_tiled(), by (L L^T)^-1, both triangles; overwrites work (n x n). */
kspec_status ks_potri_tiled(const ks_run *run, size_t n, double *A, double *work, kspec_error *err);

/* Replaces B (n x m) by (L L^T)^-1 B; reads the lower triangle of L (leading dimension ldl). */
void ks_potrs(size_t n, size_t m, const double *L, size_t ldl, double *B, size_t ldb);

/* Replaces B (n x m) by L^-1 B; reads the lower triangle of L (n x n, leading dimension ldl). */
void ks_trsm(size_t n, size_t m, const double *L, size_t ldl, double *B, size_t ldb);

/* The lower triangle of C (n x n) = alpha A A^T, A n x k; or, if ta, of alpha A^T A, A k x n. */
void ks_syrk(int ta, size_t n, size_t k, double alpha, const double *A, size_t lda, double *C, size_t ldc);
