/* Matrix products in single precision: how fast the BLAS makes them, which other speeds are measured against. */
#ifndef KS_LINALG_SINGLE_H
#define KS_LINALG_SINGLE_H

#include <stddef.h>

/* C (m x n) = op(A) op(B), row-major; ta, tb: 1 to transpose. A is m x k (k x m if ta). */
void ks_sgemm(int ta, int tb, size_t m, size_t n, size_t k, const float *A, size_t lda, const float *B,
              size_t ldb, float *C, size_t ldc);

#endif
