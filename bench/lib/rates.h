/*
 * Shared by the programs that measure, kspec-bench among them: the speed of the BLAS, and how features and
 * Gram matrices spend their time. Not part of the library.
 */
#ifndef KSPEC_BENCH_RATES_H
#define KSPEC_BENCH_RATES_H

#include "kspec.h"

/*
 * Multiply-adds per second of DGEMM on one thread, for a product of two n x n matrices: the best of `repeats`
 * runs, or 0 if memory is short. Other speeds are measured against it.
 */
double bench_gemm_rate(size_t n, int repeats);

/*
 * The estimators on a GPU, without what a call does around them: a normal matrix P x Q (two trials:
 * another) is on the host; how long its copy to the device takes is told apart.
 */
typedef struct {
    const char *name;
    kspec_estimator method;
    int nmax, two, error_bars;
} bench_gpu_contest;

typedef struct {
    char device[144];
    /*
     * The best of the runs, and the part of it in which data are copied; the processor's on all its threads
     * (NaN where that would take longer than about 20 s); multiply-adds: of path (nmax-1) P (P-1) Q, else
     * those of its products.
     */
    double seconds, copying, cpu_seconds, multiply_adds;
    /* multiply-adds per second of the GPU's DGEMM, 8192 x 8192 (64 x 64 for a tiny matrix) */
    double gemm;
    /* the greatest difference from the processor, relative */
    double difference;
} bench_gpu_result;

/* That of a GPU's DGEMM for products of about n x n, as above */
kspec_status bench_gpu_gemm(kspec_device device, size_t n, double *rate, kspec_error *err);

kspec_status bench_gpu(kspec_device device, const bench_gpu_contest *c, size_t P, size_t Q, int repeats,
                       int threads, bench_gpu_result *out, kspec_error *err);

/*
 * Seconds on one thread for n rows of p coordinates, the best of `repeats` runs each: `product`, the product
 * of the inputs alone; `function`, the cosines or exponentials alone; `pass`, one pass over the result at the
 * speed of memory; `total`, all of it as the library does it.
 */
typedef struct {
    double product, function, pass, total;
} bench_stages;

/* q random Fourier features of each row. */
kspec_status bench_features_stages(size_t n, size_t p, size_t q, int repeats, bench_stages *out,
                                   kspec_error *err);

/* The upper triangle of a Gram matrix, tile by tile in the same place, as a product with K makes it. */
kspec_status bench_gram_stages(size_t n, size_t p, int repeats, bench_stages *out, kspec_error *err);

#endif
