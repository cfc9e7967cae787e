#include "linalg/single.h"

#include <cblas.h>

void ks_sgemm(int ta, int tb, size_t m, size_t n, size_t k, const float *A, size_t lda, const float *B,
              size_t ldb, float *C, size_t ldc) {
    cblas_sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, (int)m, (int)n,
                (int)k, 1, A, (int)lda, B, (int)ldb, 0, C, (int)ldc);
}
