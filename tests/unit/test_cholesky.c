/* Cholesky in tiles, and the kernels of cosines and sines, against plain versions. */
#include "base/memory.h"
#include "simd/simd.h"
#include "linalg/cholesky.h"
#include "linalg/linalg.h"
#include "test.h"

/* A = B B^T + I, well conditioned, with sizes around those of a tile */
TEST(factor_and_inverse) {
    static const size_t sizes[] = {1, 2, 37, 127, 128, 129, 300, 530, 1100};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t n = sizes[s], bad;
        double *B = malloc(n * n * 8), *A = malloc(n * n * 8), *L = malloc(n * n * 8), *W = malloc(n * n * 8);
        double *first = malloc(n * n * 8), *V = malloc(n * 2 * 8);
        kspec_random_normal(n, 0, 0, n * n, B);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) {
                A[i * n + j] = i == j;
                if (n > 600) A[i * n + j] += exp(-fabs((double)i - (double)j) / 50); /* n^3 would take long */
                for (size_t k = 0; k < n && n <= 600; k++)
                    A[i * n + j] += B[i * n + k] * B[j * n + k] / (double)n;
            }
        for (int threads = 1; threads <= 3; threads++) {
            ks_run run;
            CHECK(ks_run_init(&run, threads, (kspec_progress){0}, NULL) == KSPEC_OK);
            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < n; j++)
                    L[i * n + j] = j > i ? NAN : A[i * n + j]; /* the upper is not read */
            CHECK(ks_potrf_tiled(&run, n, L, &bad, NULL) == KSPEC_OK && bad == 0);
            for (size_t i = 0; i<n; i += n> 600 ? 201 : 17)
                for (size_t j = 0; j <= i; j++) {
                    double sum = 0;
                    for (size_t k = 0; k <= j; k++) sum += L[i * n + k] * L[j * n + k];
                    CHECK(fabs(sum - A[i * n + j]) < 1e-13 * (double)n);
                }
            kspec_random_normal(n, 1, 0, n * 2, V);
            ks_potrs(n, 2, L, n, V, 2);
            CHECK(ks_potri_tiled(&run, n, L, W, NULL) == KSPEC_OK);
            for (size_t i = 0; i<n; i += n> 600 ? 199 : 13)
                for (size_t j = 0; j < n; j++) {
                    double sum = 0;
                    for (size_t k = 0; k < n; k++) sum += A[i * n + k] * L[k * n + j];
                    CHECK(fabs(sum - (i == j)) < 1e-12 * (double)n);
                    CHECK(L[i * n + j] == L[j * n + i]);
                }
            double b[2 * 1100], sum = 0;
            kspec_random_normal(n, 1, 0, n * 2, b);
            for (size_t k = 0; k < n; k++) sum += L[(n - 1) * n + k] * b[2 * k + 1];
            CHECK_MSG(fabs(sum - V[2 * n - 1]) < 1e-12 * (double)n, "%g %g", sum, V[2 * n - 1]);
            if (threads == 1)
                memcpy(first, L, n * n * 8);
            else
                CHECK_MSG(memcmp(first, L, n * n * 8) == 0, "n %zu, %d threads: other bits", n, threads);
        }
        /* the first block that is not positive definite is named */
        ks_run run = {.threads = 2, .to = 1};
        size_t at = n / 2;
        memcpy(L, A, n * n * 8);
        L[at * n + at] = -1;
        CHECK(ks_potrf_tiled(&run, n, L, &bad, NULL) == KSPEC_OK && bad == at + 1);
        memcpy(L, A, n * n * 8);
        L[at * n + at] = L[n * n - 1] = -1; /* and of two the first, wherever the other is */
        CHECK(ks_potrf_tiled(&run, n, L, &bad, NULL) == KSPEC_OK && bad == at + 1);
        free(A), free(B), free(L), free(W), free(first), free(V);
    }
}

TEST(gram) {
    enum { N = 7, K = 5 };
    double A[N * K], C[N * N];
    kspec_random_normal(1, 0, 0, N * K, A);
    for (int ta = 0; ta < 2; ta++) {
        ks_syrk(ta, ta ? K : N, ta ? N : K, 0.5, A, K, C, N);
        for (size_t i = 0; i < (ta ? K : N); i++)
            for (size_t j = 0; j <= i; j++) {
                double sum = 0;
                for (size_t k = 0; k < (ta ? N : K); k++)
                    sum += ta ? A[k * K + i] * A[k * K + j] : A[i * K + k] * A[j * K + k];
                CHECK(fabs(C[i * N + j] - sum / 2) < 1e-14);
            }
    }
}

TEST(cosines_and_sines) {
    for (int isa = 0; isa <= (int)ks_isa_best(); isa++) {
        const ks_simd *k = ks_simd_of((ks_isa)isa);
        for (size_t n = 1; n <= 37; n++) {
            double z[40], c[40], s[40], q[40], q0;
            kspec_random_normal(n, 0, 0, 40, z);
            kspec_random_normal(n, 1, 0, 40, q);
            z[0] *= 1e3, z[n / 2] *= 1e-9;
            for (size_t i = 0; i < 40; i++) c[i] = z[i], s[i] = 7;
            k->cos_sin(c, s, n);
            for (size_t i = 0; i < n; i++) {
                CHECK(fabs(c[i] - cos(z[i])) <= 3e-16 &&
                      fabs(s[i] - sin(z[i])) <= 3e-16 * fmax(fabs(s[i]), 1e-3));
            }
            CHECK(c[n] == z[n] && s[n] == 7);
            /* |x|^2/2 and |x'|^2/2 with g within sqrt(4 q0 q) */
            q0 = fabs(q[39]);
            for (size_t i = 0; i < 39; i++)
                q[i] = fabs(q[i]), z[i] = 2 * sqrt(q0 * q[i]) * tanh(z[i]), c[i] = z[i],
                s[i] = i < n ? z[i] : 7;
            k->cosh_sinh(c, s, q0, q, n);
            for (size_t i = 0; i < n; i++) {
                long double e = expl(-(long double)q0 - q[i]);
                CHECK_CLOSE(c[i], (double)(e * coshl(z[i])), 2e-15);
                CHECK_CLOSE(s[i], (double)(e * sinhl(z[i])), 2e-15);
            }
            CHECK(c[n] == z[n] && s[n] == 7);
        }
        /* no overflow: lengths whose cosh would; neighbours, opposites, and rounding that leaves an
           exponent above 0 */
        double c[4] = {1e6, -1e6, 1e6 + 1e-9, 0}, s[4], q[4] = {1e6 / 2 + 1, 1e6 / 2 + 1, 1e6 / 2, 1e6};
        memcpy(s, c, sizeof s);
        k->cosh_sinh(c, s, 1e6 / 2, q, 4);
        CHECK_CLOSE(c[0], exp(-1) / 2, 1e-15);
        CHECK_CLOSE(c[1], exp(-1) / 2, 1e-15);
        CHECK(s[0] == c[0] && s[1] == -c[1] && c[2] == 0.5 && s[2] == 0.5 && c[3] == 0 && s[3] == 0);
    }
}

int main(void) {
    CHECK(ks_blas_enter(4, NULL) == KSPEC_OK);
    RUN(factor_and_inverse);
    RUN(gram);
    RUN(cosines_and_sines);
    ks_blas_exit();
    return test_done();
}
