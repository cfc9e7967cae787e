#include "linalg/eigen.h"
#include "linalg/linalg.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>

/* A v = w v, v orthonormal, w increasing; only the lower triangle is looked at; lda larger than n */
TEST(symmetric_eigenproblem) {
    for (size_t n = 1; n <= 40; n += 13) {
        size_t lda = n + 3;
        double *A = malloc(n * lda * sizeof *A), *V = malloc(n * lda * sizeof *V), w[64], u[64];
        kspec_random_normal(n, 1, 0, n * lda, A);
        for (size_t i = 0; i < n * lda; i++) V[i] = A[i];
        CHECK(ks_syevd(1, n, V, lda, w, NULL) == KSPEC_OK);
        for (size_t i = 0; i < n; i++)
            for (size_t j = i + 1; j < n; j++) A[i * lda + j] = A[j * lda + i];
        for (size_t k = 0; k < n; k++) {
            CHECK(k == 0 || w[k] >= w[k - 1]);
            for (size_t i = 0; i < n; i++) {
                double Av = 0, vv = 0;
                for (size_t j = 0; j < n; j++) Av += A[i * lda + j] * V[k * lda + j];
                for (size_t j = 0; j < n; j++) vv += V[k * lda + j] * V[i * lda + j];
                CHECK(fabs(Av - w[k] * V[k * lda + i]) < 1e-12 * (double)n);
                CHECK(fabs(vv - (i == k)) < 1e-12);
            }
        }
        CHECK(ks_syevd(0, n, A, lda, u, NULL) == KSPEC_OK);
        for (size_t k = 0; k < n; k++) CHECK(fabs(u[k] - w[k]) < 1e-12 * (double)n);
        free(A);
        free(V);
    }
    kspec_error e;
    CHECK_FAILS(ks_syevd(0, 40000, NULL, 40000, NULL, &e), KSPEC_E_ARG, e, "exceeds 32000");
}

/* All eigenvalues, and the last vectors, as those of the whole problem */
TEST(last_eigenvectors) {
    for (size_t n = 1; n <= 60; n += 7)
        for (size_t top = 1; top <= n; top += 5) {
            size_t lda = n + 2;
            double *A = malloc(n * lda * sizeof *A), *V = malloc(n * lda * sizeof *V),
                   *Z = malloc(top * n * sizeof *Z), w[64], u[64];
            kspec_random_normal(n, 2, 0, n * lda, A);
            for (size_t i = 0; i < n * lda; i++) V[i] = A[i];
            CHECK(ks_syevd(1, n, V, lda, w, NULL) == KSPEC_OK);
            CHECK(ks_syev_top(n, A, lda, u, top, Z, NULL) == KSPEC_OK);
            for (size_t k = 0; k < n; k++) CHECK(fabs(u[k] - w[k]) < 1e-12 * (double)n);
            for (size_t k = 0; k < top; k++) {
                double dot = 0, norm = 0;
                for (size_t i = 0; i < n; i++) {
                    dot += Z[k * n + i] * V[(n - top + k) * lda + i];
                    norm += Z[k * n + i] * Z[k * n + i];
                }
                CHECK(fabs(fabs(dot) - 1) < 1e-9 && fabs(norm - 1) < 1e-11);
            }
            free(A);
            free(V);
            free(Z);
        }
    kspec_error e;
    CHECK_FAILS(ks_syev_top(40000, NULL, 40000, NULL, 1, NULL, &e), KSPEC_E_ARG, e, "exceeds 32000");
    CHECK_FAILS(ks_syev_top(4, NULL, 4, NULL, 5, NULL, &e), KSPEC_E_ARG, e, "5 vectors of an eigenproblem");
}

int main(void) {
    CHECK(ks_blas_enter(1, NULL) == KSPEC_OK); /* as every call of the library does */
    RUN(symmetric_eigenproblem);
    RUN(last_eigenvectors);
    ks_blas_exit();
    return test_done();
}
