/*
 * Small products without a malloc. OpenBLAS 0.3 has a routine for C = A B on AVX-512, used if neither matrix
 * is transposed, m n k <= 100^3 and k >= 16. It copies the columns of B that do not fill a vector of 8 to
 * memory from malloc(), and does not check the result. This file computes those columns itself: a few columns
 * as products of a matrix and a vector, more columns in a panel of 8 that ends in zero columns.
 */
#include "linalg/small.h"

#include "linalg/blas.h"
#include "linalg/core.h"

#include <string.h>

enum { LANES = 8, BLOCK = 256 };

int ks_small_product_allocates(size_t m, size_t n, size_t k) {
    if (n % LANES == 0 || k < 16 || m > 1000000 || n > 1000000 || m * n > 1000000 / k) return 0;
    return ks_blas_is_of(ks_blas_core_name(), KS_ISA_AVX512);
}

/* C += alpha A B for m <= BLOCK rows and the `cols` <= 8 columns of B and C */
static void panel(size_t m, size_t cols, size_t k, double alpha, const double *A, size_t lda, const double *B,
                  size_t ldb, double *C, size_t ldc) {
    double b[BLOCK * LANES], c[BLOCK * LANES] = {0};
    for (size_t l = 0; l < k; l += BLOCK) {
        size_t depth = k - l < BLOCK ? k - l : BLOCK;
        memset(b, 0, depth * LANES * sizeof *b);
        for (size_t r = 0; r < depth; r++) memcpy(b + r * LANES, B + (l + r) * ldb, cols * sizeof *b);
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)m, LANES, (int)depth, alpha, A + l,
                    (int)lda, b, LANES, 1, c, LANES);
    }
    for (size_t r = 0; r < m; r++)
        for (size_t j = 0; j < cols; j++) C[r * ldc + j] += c[r * LANES + j];
}

void ks_small_product(size_t m, size_t n, size_t k, double alpha, const double *A, size_t lda,
                      const double *B, size_t ldb, double beta, double *C, size_t ldc) {
    size_t left = n % LANES, whole = n - left;
    if (whole)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)m, (int)whole, (int)k, alpha, A, (int)lda,
                    B, (int)ldb, beta, C, (int)ldc);
    for (size_t j = whole; j < n && left <= 2; j++)
        cblas_dgemv(CblasRowMajor, CblasNoTrans, (int)m, (int)k, alpha, A, (int)lda, B + j, (int)ldb, beta,
                    C + j, (int)ldc);
    if (left <= 2) return;
    for (size_t r = 0; r < m; r++) /* as in BLAS: beta = 0 does not read C */
        for (size_t j = whole; j < n; j++) C[r * ldc + j] = beta == 0 ? 0 : beta * C[r * ldc + j];
    for (size_t i = 0; i < m; i += BLOCK)
        panel(m - i < BLOCK ? m - i : BLOCK, left, k, alpha, A + i * lda, lda, B + whole, ldb,
              C + i * ldc + whole, ldc);
}
