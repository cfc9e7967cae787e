/*
 * The path estimator beside DGEMM, in one process: bench_path [P [Q]]
 *
 * Prints fused multiply-adds per second of each, and their ratio. One FMA is one multiply and one add of
 * doubles; path makes (nmax-1) P (P-1) Q of them, DGEMM m n k. KSPEC_ISA chooses the instruction set of path,
 * not that of DGEMM.
 */
#include "base/clock.h"
#include "linalg/linalg.h"
#include "path/path.h"
#include "kspec/host.h"

#include <stdio.h>
#include <stdlib.h>

enum { REPEATS = 9, DGEMM_SIZE = 1000 };

/* Seconds of one ks_path(), with leave-one-out estimates if loo; < 0 on failure. */
static double path_seconds(const ks_pair *p, int threads, int loo, double *scratch) {
    ks_run run;
    kspec_error err;
    if (ks_run_init(&run, threads, (kspec_progress){0}, &err)) return -1;
    size_t n = (size_t)p->nmax;
    ks_moments_out out = {scratch, loo ? scratch + n : NULL, loo ? scratch + n + n * p->P : NULL};
    double t = ks_now();
    return ks_path(&run, p, &out, &err) ? -1 : ks_now() - t;
}

static double dgemm_seconds(size_t n, const double *A, const double *B, double *C) {
    if (ks_blas_enter(1, NULL)) return -1;
    double t = ks_now();
    ks_gemm(0, 0, n, n, n, 1, A, n, B, n, 0, C, n);
    t = ks_now() - t;
    ks_blas_exit();
    return t;
}

static void keep_best(double *best, double t) {
    if (*best == 0 || t < *best) *best = t;
}

int main(int argc, char **argv) {
    size_t P = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000, Q = argc > 2 ? strtoul(argv[2], NULL, 10) : P;
    const size_t n = DGEMM_SIZE, most = P * Q > n * n ? P * Q : n * n;
    double *X = malloc(most * sizeof *X), *Y = malloc(most * sizeof *Y), *Z = malloc(n * n * sizeof *Z);
    double *scratch = malloc(16 * (P + Q + 1) * sizeof *scratch);
    if (!X || !Y || !Z || !scratch || P < 16 || Q < 16) return 2;
    kspec_random_normal(1, 0, 0, most, X);
    kspec_random_normal(2, 0, 0, most, Y);
    printf("DGEMM %zu: %s; path %zu x %zu: %s\n", n, kspec_blas(), P, Q, kspec_isa());
    printf("nmax  seconds  GFMA/s  DGEMM  ratio   two trials\n");

    const int orders[] = {2, 4, 6, 8, 16};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        /* in turn, so that both see the processor in the same state */
        double gemm = 0, one = 0, two = 0;
        for (int r = 0; r < REPEATS; r++) {
            keep_best(&gemm, dgemm_seconds(n, X, Y, Z));
            keep_best(&one, path_seconds(&(ks_pair){X, X, P, Q, orders[i]}, 1, 0, scratch));
            keep_best(&two, path_seconds(&(ks_pair){X, Y, P, Q, orders[i]}, 1, 0, scratch));
        }
        double fma = (orders[i] - 1.0) * (double)P * ((double)P - 1) * (double)Q / 1e9;
        double rate = (double)n * (double)n * (double)n / 1e9 / gemm;
        printf("%4d %8.3f %7.1f %6.1f %5.1f%% %11.1f%%\n", orders[i], one, fma / one, rate,
               100 * fma / one / rate, 100 * fma / two / rate);
    }

    ks_pair p = {X, X, P, Q, 8};
    double one = 0, threads = 0, loo = 0;
    for (int r = 0; r < REPEATS; r++) {
        keep_best(&one, path_seconds(&p, 1, 0, scratch));
        keep_best(&threads, path_seconds(&p, 2, 0, scratch));
        keep_best(&loo, path_seconds(&p, 1, 1, scratch));
    }
    printf("nmax 8: two threads %.2f times as fast; leave-one-out %.2f times as long\n", one / threads,
           loo / one);
    free(X), free(Y), free(Z), free(scratch);
    return 0;
}
