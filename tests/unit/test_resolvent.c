/* The resolvent of ridge and its traces, whose matrices are cut into tiles and pieces, by plain loops. */
#include "help/ridge.h"
#include "linalg/linalg.h"
#include "ridge/resolvent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* C = A B, n x n */
static void product(size_t n, const double *A, const double *B, double *C) {
    memset(C, 0, n * n * sizeof *C);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            for (size_t j = 0; j < n; j++) C[i * n + j] += A[i * n + k] * B[k * n + j];
}

/* The sum of A_ij B_ij or, if turned, of A_ij B_ji */
static double inner(size_t n, const double *A, const double *B, int turned) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) sum += A[i * n + j] * (turned ? B[j * n + i] : B[i * n + j]);
    return sum;
}

static void is(double got, double wanted, const char *what, size_t n) {
    CHECK_MSG(fabs(got - wanted) <= 1e-10 * fabs(wanted), "n %zu: %s is %.17g, not %.17g", n, what, got,
              wanted);
}

/* (sum_a k_a K_a + ridge I) Q = I, in some rows */
static void check_inverse(const kspec_ridge *r, const double k[2], double ridge) {
    const size_t n = r->n;
    for (size_t i = 0; i < n; i += n / 7 + 1)
        for (size_t j = 0; j < n; j++) {
            double sum = ridge * r->Q[i * n + j];
            for (size_t l = 0; l < n; l++)
                sum += (k[COS] * r->K[COS][i * n + l] + k[SIN] * r->K[SIN][i * n + l]) * r->Q[l * n + j];
            CHECK_MSG(fabs(sum - (i == j)) < 1e-9, "n %zu: entry %zu, %zu is %g", n, i, j, sum);
        }
}

static void check(size_t n) {
    problem q = make_problem(n, n, 0, 4);
    kspec_ridge *r = open_problem(&q, NULL);
    const ks_ridge_system sys = {40, 1, 0.05};
    const double x[2] = {0.6, 0.4}, c = sys.N / (double)n, k[2] = {c / 1.6, c / 1.4};
    double *M = malloc(n * n * sizeof *M);
    ks_ridge_traces t, again;
    kspec_error err;
    for (int threads = 1; threads <= 3; threads++) {
        ks_run run = {.threads = threads, .to = 1};
        CHECK(ks_ridge_resolvent(r, &run, &sys, x, 1, &t, &err) == KSPEC_OK);
        if (threads == 1) {
            again = t;
            check_inverse(r, k, sys.ridge);
            product(n, r->Q, r->K[COS], M);
            is(t.G[COS], inner(n, r->Q, r->K[COS], 0) / (double)n, "G_cos", n);
            is(t.G[SIN], inner(n, r->Q, r->K[SIN], 0) / (double)n, "G_sin", n);
            is(t.t0[COS], inner(n, M, r->Q, 0) / (double)n, "tr(Q K_cos Q)/n", n);
            is(t.D[COS][COS], c / (1.6 * 1.6) * inner(n, M, M, 1) / (double)n, "D_cos,cos", n);
        }
        CHECK(memcmp(&t, &again, sizeof t) == 0);
        /* without the second traces the first are the same */
        CHECK(ks_ridge_resolvent(r, &run, &sys, x, 0, &t, &err) == KSPEC_OK);
        CHECK(t.G[COS] == again.G[COS] && t.G[SIN] == again.G[SIN] && t.t0[COS] == 0);
    }
    free(M);
    kspec_ridge_close(r);
    free_problem(&q);
}

/* Around tiles of 128 and 256, and pieces of 512 columns */
TEST(inverse_and_traces) {
    static const size_t sizes[] = {1, 2, 127, 128, 129, 257, 512, 530, 1030};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) check(sizes[s]);
}

int main(void) {
    CHECK(ks_blas_enter(3, NULL) == KSPEC_OK); /* as every call of the library does */
    RUN(inverse_and_traces);
    ks_blas_exit();
    return test_done();
}
