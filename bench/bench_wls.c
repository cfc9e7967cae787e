/*
 * Weighted least squares on the Fourier grid beside LAPACK's SVD, in one run:
 *
 *     bench_wls [N ...]      (default 256 512 1024)
 *
 * For each N, with p = N/2 and alpha = 0.3, 0.8, 1.2, it computes the errors and their variance (complex
 * noise) by the library and by the singular value decomposition of L^alpha Psi_{p...N-1}, both on one thread,
 * and prints the times and the relative differences of the three numbers. Then it fits 10^6 points. It calls
 * LAPACK itself: the library needs no complex SVD.
 */
#include "base/clock.h"
#include "kspec.h"
#include "linalg/linalg.h"

#include <cblas.h>
#include <complex.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double gamma_ = 0.7;

static double t_of(size_t k, double e) { return pow(1 + (double)k, e); }

/* E_0, E_noise and tr G^2 at sigma = 1: Theorem 3.1 and Lemma 4.1, with P = 2N */
static double svd_form(size_t N, size_t p, double alpha, double out[3]) {
    size_t n = N - p, P = 2 * N;
    double complex *A = malloc(N * n * sizeof *A), *U = malloc(N * n * sizeof *U),
                   *V = malloc(n * n * sizeof *V), *E = malloc(n * n * sizeof *E),
                   *G = malloc(n * n * sizeof *G);
    double *s = malloc(n * sizeof *s), prior = 0, start = ks_now();
    const double complex one = 1, zero = 0;
    for (size_t k = 0; k < n; k++) /* column-major */
        for (size_t j = 0; j < N; j++)
            A[k * N + j] = t_of(j, alpha) * cexp(I * 2 * acos(-1.0) * (double)(j * (p + k) % N) / (double)N);
    if (LAPACKE_zgesdd(LAPACK_COL_MAJOR, 'S', (int)N, (int)n, A, (int)N, s, U, (int)N, V, (int)n))
        exit(1); /* V is V* */
    for (size_t i = 0; i < N * n; i++) A[i] = t_of(i % N, 2 * alpha) * U[i];
    cblas_zgemm(CblasColMajor, CblasConjTrans, CblasNoTrans, (int)n, (int)n, (int)N, &one, U, (int)N, A,
                (int)N, &zero, E, (int)n); /* e = U*L^(2 alpha)U */
    for (size_t k = 0; k < P; k++) prior += t_of(k, -2 * gamma_);
    for (size_t k = 0; k < n; k++) /* V* diag(kappa') */
        for (size_t i = 0; i < n; i++)
            A[k * n + i] = V[k * n + i] * (t_of(p + k, -2 * gamma_) + t_of(p + k + N, -2 * gamma_)) / prior;
    cblas_zgemm(CblasColMajor, CblasNoTrans, CblasConjTrans, (int)n, (int)n, (int)n, &one, A, (int)n, V,
                (int)n, &zero, G, (int)n);
    out[0] = 0, out[1] = (2.0 * (double)p - (double)N) / (double)N, out[2] = out[1] / (double)N;
    for (size_t k = p; k < P; k++) out[0] += t_of(k, -2 * gamma_) / prior;
    for (size_t m = 0; m < N; m++)
        out[0] +=
            (m < p ? t_of(m + N, -2 * gamma_) : -t_of(m, -2 * gamma_) - t_of(m + N, -2 * gamma_)) / prior;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double d = s[i] * s[j];
            out[0] += (double)N * creal(E[j * n + i] * G[i * n + j]) / d;
            if (i == j) out[1] += creal(E[j * n + i]) / d;
            out[2] += creal(E[j * n + i] * conj(E[j * n + i])) / (d * d);
        }
    free(A), free(U), free(V), free(E), free(G), free(s);
    return ks_now() - start;
}

static void compare(size_t N, double alpha) {
    kspec_wls_opts o = {
        .size = sizeof o, .P = 2 * N, .alpha = alpha, .gamma = gamma_, .noise = 1, .complex_noise = 1};
    size_t p = N / 2;
    kspec_wls_result *r = NULL;
    kspec_error e;
    double svd[3], fast = 1e300;
    o.threads = 1;
    for (int repeat = 0; repeat < 3; repeat++) {
        kspec_free(r);
        double start = ks_now();
        if (kspec_wls_theory(N, &p, 1, &o, &r, &e)) {
            fprintf(stderr, "%s\n", e.msg);
            exit(1);
        }
        fast = fmin(fast, ks_now() - start);
    }
    if (ks_blas_enter(1, NULL)) return; /* one thread */
    double slow = svd_form(N, p, alpha, svd);
    ks_blas_exit();
    const kspec_wls_point *q = r->points[0];
    printf("%6zu %6zu %6g %10.4f %10.4f %8.0f   %8.1e %8.1e %8.1e   %8.1e\n", N, p, alpha, fast, slow,
           slow / fast, fabs(q->error_noise_free / svd[0] - 1), fabs(q->error_noise / svd[1] - 1),
           fabs(q->variance / svd[2] - 1), q->accuracy);
    fflush(stdout);
    kspec_free(r);
}

static void fit(size_t N, size_t p, double alpha, double beta) {
    kspec_wls_opts o = {.size = sizeof o, .alpha = alpha, .beta = beta};
    double *y = malloc(N * sizeof *y);
    kspec_wls_fit_result *r;
    kspec_error e;
    kspec_random_normal(1, 0, 0, N, y);
    if (kspec_wls_fit(N, p, y, &o, &r, &e))
        printf("fit N = %zu, p = %zu, alpha = %g: %s\n", N, p, alpha, e.msg);
    else
        printf("fit N = %zu, p = %zu, alpha = %g, beta = %g: %.2f s, %d iterations\n", N, p, alpha, beta,
               r->seconds, r->iterations);
    fflush(stdout);
    kspec_free(r);
    free(y);
}

int main(int argc, char **argv) {
    const size_t usual[] = {256, 512, 1024};
    const double alphas[] = {0.3, 0.8, 1.2};
    printf("     N      p  alpha  kspec (s)    SVD (s)    times   relative differences        accuracy\n");
    for (int i = 0; i < (argc > 1 ? argc - 1 : 3); i++)
        for (int a = 0; a < 3; a++) compare(argc > 1 ? strtoul(argv[i + 1], NULL, 10) : usual[i], alphas[a]);
    fit(1000000, 1000000, 0, 0.5);
    fit(1000000, 2000000, 0, 0.5);
    fit(999983, 2000000, 0, 0.5); /* a prime */
    fit(1000000, 500000, 0.3, 0);
    return 0;
}
