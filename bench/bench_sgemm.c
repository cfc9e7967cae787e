/*
 * The rate of SGEMM on one thread: bench_sgemm SHAPE...
 *
 * A SHAPE is MxNxK, the product of an M x K and a K x N matrix, or MxNxK:nt, whose two letters say how the
 * factors are stored: n as they are, t transposed. Prints a line for each shape: SHAPE, seconds, 10^9
 * multiply-adds per second; the best of several runs. repro/doc_learning.py compares training with it.
 */
#include "base/clock.h"
#include "linalg/linalg.h"

#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 9 };

typedef struct {
    size_t m, n, k;
    int ta, tb;
} shape;

static int parse(const char *text, shape *s) {
    char a = 'n', b = 'n', rest;
    int found = sscanf(text, "%zux%zux%zu:%c%c%c", &s->m, &s->n, &s->k, &a, &b, &rest);
    s->ta = a == 't', s->tb = b == 't';
    return (found == 3 || found == 5) && s->m && s->n && s->k && strchr("nt", a) && strchr("nt", b);
}

static float *filled(size_t count) {
    float *x = malloc(count * sizeof *x);
    for (size_t i = 0; x && i < count; i++) x[i] = 1 / (float)(i % 97 + 1);
    return x;
}

/* The least seconds of a product; < 0 without memory. */
static double seconds(const shape *s) {
    float *A = filled(s->m * s->k), *B = filled(s->k * s->n), *C = filled(s->m * s->n);
    double best = A && B && C ? 1e300 : -1;
    for (int r = 0; r < REPEATS && best > 0; r++) {
        double start = ks_thread_seconds();
        cblas_sgemm(CblasRowMajor, s->ta ? CblasTrans : CblasNoTrans, s->tb ? CblasTrans : CblasNoTrans,
                    (int)s->m, (int)s->n, (int)s->k, 1, A, (int)(s->ta ? s->m : s->k), B,
                    (int)(s->tb ? s->k : s->n), 0, C, (int)s->n);
        double t = ks_thread_seconds() - start;
        if (t < best) best = t;
    }
    free(A), free(B), free(C);
    return best;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: bench_sgemm MxNxK[:nt]...\n");
        return 2;
    }
    if (ks_blas_enter(1, NULL)) return 1; /* one thread */
    for (int i = 1; i < argc; i++) {
        shape s;
        if (!parse(argv[i], &s)) {
            fprintf(stderr, "bench_sgemm: '%s' is not a shape such as 32x1024x784:nt\n", argv[i]);
            return 2;
        }
        double t = seconds(&s);
        if (t < 0) {
            fprintf(stderr, "bench_sgemm: no memory for %s\n", argv[i]);
            return 1;
        }
        printf("%s %.4g %.1f\n", argv[i], t, 1e-9 * (double)s.m * (double)s.n * (double)s.k / t);
    }
    ks_blas_exit();
    return 0;
}
