/* kspec_features() and kspec_gram(): the parts of the norm that stand by themselves, and where their time goes. */
#include "base/clock.h"
#include "base/error.h"
#include "features/fourier.h"
#include "linalg/linalg.h"
#include "norm/gram.h"

#include <math.h>
#include <string.h>

typedef struct {
    kspec_kernel_opts o;
    ks_run run;
    ks_arena arena;
    ks_inputs in;
} job;

/* Options and inputs in units of sigma: as they are for random features, else centred */
static kspec_status prepare(job *j, const kspec_matrix *x, const kspec_kernel_opts *opts, int features,
                            kspec_error *err) {
    *j = (job){0};
    kspec_status st = ks_take_opts(&j->o, sizeof j->o, opts, err);
    if (!st) st = ks_run_init(&j->run, j->o.threads, j->o.progress, err);
    if (st) return st;
    if (!kspec_kernel_name(j->o.kernel))
        return ks_fail(err, KSPEC_E_ARG, "kernel %d is none of gaussian, laplace, cauchy", (int)j->o.kernel);
    if (j->o.sigma == 0) j->o.sigma = 1;
    if (!(j->o.sigma > 0 && j->o.sigma <= 1e300))
        return ks_fail(err, KSPEC_E_ARG, "sigma %g is not between 0 and 1e300", j->o.sigma);
    if (!j->o.features) j->o.features = 256;
    if (j->o.features > 1000000)
        return ks_fail(err, KSPEC_E_ARG, "features %zu exceed 1000000", j->o.features);
    if ((st = ks_inputs_copy(x, KSPEC_SCALE_NONE, &j->in, &j->arena, err))) return st;
    if (!features) ks_inputs_center(&j->in);
    return ks_inputs_divide(&j->in, j->o.sigma, features, err);
}

enum { BAND = 512 }; /* rows of a chunk */

typedef struct {
    const ks_fourier *f;
    const ks_inputs *in;
    int stages;
    double *Z;
} features_job;

static kspec_status features_band(void *ctx, size_t chunk, int worker) {
    (void)worker;
    const features_job *j = ctx;
    size_t from = chunk * BAND, rows = j->in->n - from < BAND ? j->in->n - from : BAND;
    ks_fourier_rows(j->f, j->stages, j->in->x + from * j->f->p, rows, sqrt(2 / (double)j->f->q),
                    j->Z + from * j->f->q);
    return KSPEC_OK;
}

static kspec_status make_features(const ks_run *run, const ks_fourier *f, const ks_inputs *in, int stages,
                                  double *Z, kspec_error *err) {
    features_job j = {f, in, stages, Z};
    return ks_parallel_for(run, (in->n + BAND - 1) / BAND, features_band, &j, err);
}

kspec_status kspec_features(const kspec_matrix *x, const kspec_kernel_opts *opts, double *out,
                            kspec_error *err) {
    ks_clear(err);
    job j;
    ks_fourier f;
    kspec_status st = prepare(&j, x, opts, 1, err);
    if (!st) st = ks_fourier_draw(&f, j.o.kernel, j.in.p, j.o.features, j.o.seed, 0, &j.arena, err);
    if (!st) {
        ks_blas_enter();
        st = make_features(&j.run, &f, &j.in, KS_FOURIER_BOTH, out, err);
        ks_blas_leave();
    }
    ks_arena_free(&j.arena);
    return st;
}

kspec_status kspec_gram(const kspec_matrix *x, const kspec_kernel_opts *opts, double *out, kspec_error *err) {
    ks_clear(err);
    job j;
    ks_gram g;
    kspec_status st = prepare(&j, x, opts, 0, err);
    ks_blas_enter();
    if (!st) st = ks_gram_open(&g, &j.run, &j.in, j.o.kernel, 0, &j.arena, err);
    if (!st) st = ks_gram_matrix(&g, &j.run, out, err);
    ks_blas_leave();
    ks_arena_free(&j.arena);
    return st;
}

/* ---- times ---- */

/* Normal rows, of length about 1 each, and room for the result; fails for want of memory */
static kspec_status bench_inputs(job *j, size_t n, size_t p, size_t cols, double **result, kspec_error *err) {
    *j = (job){0};
    kspec_status st = ks_run_init(&j->run, 1, (kspec_progress){0}, err);
    if (st) return st;
    if (n == 0 || p == 0 || cols == 0)
        return ks_fail(err, KSPEC_E_ARG, "rows %zu, columns %zu and features %zu must be at least 1", n, p,
                       cols);
    j->in = (ks_inputs){ks_arena_alloc(&j->arena, ks_size(n, p), sizeof(double)), n, p, 0};
    *result = ks_arena_alloc(&j->arena, ks_size(n, cols), sizeof(double));
    if (j->arena.failed) return ks_nomem(err, "a measurement", j->arena.failed);
    kspec_random_normal(0, 0, 0, n * p, j->in.x);
    for (size_t k = 0; k < n * p; k++) j->in.x[k] /= sqrt((double)p);
    memset(*result, 0, n * cols * sizeof **result);
    return KSPEC_OK;
}

kspec_status kspec_features_times(size_t n, size_t p, size_t q, int repeats, kspec_kernel_times *out,
                                  kspec_error *err) {
    ks_clear(err);
    job j;
    double *Z;
    ks_fourier f;
    *out = (kspec_kernel_times){INFINITY, INFINITY, INFINITY, INFINITY};
    kspec_status st = bench_inputs(&j, n, p, q, &Z, err);
    if (!st) st = ks_fourier_draw(&f, KSPEC_KERNEL_GAUSSIAN, p, q, 0, 0, &j.arena, err);
    ks_blas_enter();
    for (int r = 0; r < repeats && !st; r++) {
        double t[5] = {ks_now()};
        memset(Z, 0, n * q * sizeof *Z);
        t[1] = ks_now();
        ks_gemm(0, 1, n, q, p, 1, j.in.x, p, f.W, p, 0, Z, q);
        t[2] = ks_now();
        st = make_features(&j.run, &f, &j.in, KS_FOURIER_COSINE, Z, err);
        t[3] = ks_now();
        if (!st) st = make_features(&j.run, &f, &j.in, KS_FOURIER_BOTH, Z, err);
        t[4] = ks_now();
        out->pass = fmin(out->pass, t[1] - t[0]);
        out->product = fmin(out->product, t[2] - t[1]);
        out->function = fmin(out->function, t[3] - t[2]);
        out->total = fmin(out->total, t[4] - t[3]);
    }
    ks_blas_leave();
    ks_arena_free(&j.arena);
    return st;
}

/* All tiles of the upper triangle in turn, in the scratch tile of the first worker */
static void gram_stages(const ks_gram *g, int stages) {
    for (size_t I = 0; I < g->bands; I++)
        for (size_t J = I; J < g->bands; J++) ks_gram_tile(g, stages, I, J, g->tile[0]);
}

kspec_status kspec_gram_times(size_t n, size_t p, int repeats, kspec_kernel_times *out, kspec_error *err) {
    ks_clear(err);
    job j;
    double *K;
    ks_gram g;
    *out = (kspec_kernel_times){INFINITY, INFINITY, INFINITY, INFINITY};
    kspec_status st = bench_inputs(&j, n, p, (n + 1) / 2, &K, err); /* as many entries as the triangle has */
    ks_blas_enter();
    if (!st) st = ks_gram_open(&g, &j.run, &j.in, KSPEC_KERNEL_GAUSSIAN, 0, &j.arena, err);
    for (int r = 0; r < repeats && !st; r++) {
        double t[5] = {ks_now()};
        memset(K, 0, n * ((n + 1) / 2) * sizeof *K);
        t[1] = ks_now();
        gram_stages(&g, 1);
        t[2] = ks_now();
        gram_stages(&g, 2);
        t[3] = ks_now();
        gram_stages(&g, 3);
        t[4] = ks_now();
        out->pass = fmin(out->pass, t[1] - t[0]);
        out->product = fmin(out->product, t[2] - t[1]);
        out->function = fmin(out->function, t[3] - t[2]);
        out->total = fmin(out->total, t[4] - t[3]);
    }
    ks_blas_leave();
    ks_arena_free(&j.arena);
    return st;
}
