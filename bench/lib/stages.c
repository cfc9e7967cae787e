#include "base/clock.h"
#include "base/error.h"
#include "bench/lib/rates.h"
#include "features/fourier.h"
#include "linalg/linalg.h"
#include "norm/gram.h"

#include <math.h>
#include <string.h>

static const ks_kernel gaussian = {.kind = KSPEC_KERNEL_GAUSSIAN};

typedef struct {
    ks_run run;
    ks_arena arena;
    ks_inputs in;
    double *result;
} desk;

/* Normal rows, of length about 1 each, and room for the result. */
static kspec_status lay_out(desk *d, size_t n, size_t p, size_t cols, kspec_error *err) {
    *d = (desk){0};
    kspec_status st = ks_run_init(&d->run, 1, (kspec_progress){0}, err);
    if (st) return st;
    if (n == 0 || p == 0 || cols == 0)
        return ks_fail(err, KSPEC_E_ARG, "rows %zu, columns %zu and features %zu must be at least 1", n, p,
                       cols);
    d->in = (ks_inputs){ks_arena_alloc(&d->arena, ks_size(n, p), sizeof(double)), n, p, 0};
    d->result = ks_arena_zalloc(&d->arena, ks_size(n, cols), sizeof(double));
    if (d->arena.failed) return ks_nomem(err, "a measurement", d->arena.failed);
    kspec_random_normal(0, 0, 0, n * p, d->in.x);
    for (size_t k = 0; k < n * p; k++) d->in.x[k] /= sqrt((double)p);
    return KSPEC_OK;
}

/* The clock before and after the pass, the product, the function and all of it: the best of each. */
static void keep_best(bench_stages *best, const double t[5]) {
    best->pass = fmin(best->pass, t[1] - t[0]);
    best->product = fmin(best->product, t[2] - t[1]);
    best->function = fmin(best->function, t[3] - t[2]);
    best->total = fmin(best->total, t[4] - t[3]);
}

kspec_status bench_features_stages(size_t n, size_t p, size_t q, int repeats, bench_stages *out,
                                   kspec_error *err) {
    desk d;
    ks_fourier f;
    *out = (bench_stages){INFINITY, INFINITY, INFINITY, INFINITY};
    kspec_status st = lay_out(&d, n, p, q, err);
    if (!st) st = ks_fourier_draw(&f, &gaussian, p, q, 0, 0, &d.arena, err);
    const kspec_norm_opts opts = {.size = sizeof opts, .features = q, .threads = 1};
    const kspec_matrix x = {d.in.x, n, p, (ptrdiff_t)p, 1};
    if (!st) st = ks_blas_enter(1, err);
    int entered = !st;
    for (int r = 0; r < repeats && !st; r++) {
        double t[5] = {ks_now()};
        memset(d.result, 0, n * q * sizeof *d.result);
        t[1] = ks_now();
        ks_gemm(0, 1, n, q, p, 1, d.in.x, p, f.W, p, 0, d.result, q);
        t[2] = ks_now();
        ks_fourier_rows(&f, KS_FOURIER_COSINE, d.in.x, n, sqrt(2 / (double)q), d.result);
        t[3] = ks_now();
        st = kspec_features(&x, &opts, d.result, err);
        t[4] = ks_now();
        keep_best(out, t);
    }
    if (entered) ks_blas_exit();
    ks_arena_free(&d.arena);
    return st;
}

/* All tiles of the upper triangle in turn, in the scratch tile of the first worker. */
static void tiles(const ks_gram *g, int stages) {
    for (size_t I = 0; I < g->bands; I++)
        for (size_t J = I; J < g->bands; J++) ks_gram_tile(g, stages, I, J, g->tile[0]);
}

kspec_status bench_gram_stages(size_t n, size_t p, int repeats, bench_stages *out, kspec_error *err) {
    desk d;
    ks_gram g;
    *out = (bench_stages){INFINITY, INFINITY, INFINITY, INFINITY};
    const size_t half = (n + 1) / 2; /* n x half are as many entries as the triangle has */
    kspec_status st = lay_out(&d, n, p, half, err);
    if (!st) st = ks_blas_enter(1, err);
    int entered = !st;
    if (!st) st = ks_gram_open(&g, &d.run, &d.in, &gaussian, 0, &d.arena, err);
    for (int r = 0; r < repeats && !st; r++) {
        double t[5] = {ks_now()};
        memset(d.result, 0, n * half * sizeof *d.result);
        t[1] = ks_now();
        tiles(&g, 1);
        t[2] = ks_now();
        tiles(&g, 2);
        t[3] = ks_now();
        tiles(&g, 3);
        t[4] = ks_now();
        keep_best(out, t);
    }
    if (entered) ks_blas_exit();
    ks_arena_free(&d.arena);
    return st;
}
