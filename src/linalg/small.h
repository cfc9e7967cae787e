/* Small products for which OpenBLAS would allocate memory without checking the result. */
#pragma once

#include <stddef.h>

/* Would OpenBLAS do so for C (m x n) = A (m x k) B (k x n)? */
int ks_small_product_allocates(size_t m, size_t n, size_t k);

/* C = alpha A B + beta C without that allocation; row-major */
void ks_small_product(size_t m, size_t n, size_t k, double alpha, const double *A, size_t lda,
                      const double *B, size_t ldb, double beta, double *C, size_t ldc);
