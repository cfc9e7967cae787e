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

static kspec_status take_options(job *j, const kspec_kernel_opts *opts, kspec_error *err) {
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
    return KSPEC_OK;
}

/* A copy of the inputs in units of sigma: as they are for random features, else centred */
static kspec_status copy_inputs(job *j, const kspec_matrix *x, int features, kspec_error *err) {
    kspec_status st;
    if ((st = ks_inputs_copy(x, KSPEC_SCALE_NONE, &j->in, &j->arena, err))) return st;
    if (!features) ks_inputs_center(&j->in);
    return ks_inputs_divide(&j->in, j->o.sigma, features, err);
}

enum { BAND = 128 }; /* rows of a chunk: those of a tile of ks_fourier_rows() */

typedef struct {
    const ks_fourier *f;
    const kspec_matrix *x;
    double sigma;
    int stages;
    double **
        room; /* per worker: BAND x p, for a band of x in units of sigma. All of x is not copied: that would take
                      longer than the features of many columns */
    double *Z;
} features_job;

static kspec_status features_band(void *ctx, size_t chunk, int worker) {
    const features_job *j = ctx;
    size_t from = chunk * BAND, rows = j->x->rows - from < BAND ? j->x->rows - from : BAND, p = j->f->p;
    double *room = j->room[worker];
    for (size_t i = 0; i < rows && j->stages == KS_FOURIER_BOTH; i++) {
        const double *x = j->x->data + (ptrdiff_t)(from + i) * j->x->row_stride;
        for (size_t l = 0; l < p; l++) {
            double v = x[(ptrdiff_t)l * j->x->col_stride] / j->sigma;
            room[i * p + l] = v;
            if (!(fabs(v) < KS_LARGEST_PHASE)) return KSPEC_E_ARG;
        }
    }
    ks_fourier_rows(j->f, j->stages, room, rows, sqrt(2 / (double)j->f->q), j->Z + from * j->f->q);
    return KSPEC_OK;
}

static kspec_status make_features(job *j, const ks_fourier *f, const kspec_matrix *x, int stages, double *Z,
                                  kspec_error *err) {
    features_job features = {f, x, j->o.sigma, stages, NULL, Z};
    features.room = ks_arena_zalloc(&j->arena, (size_t)j->run.threads, sizeof *features.room);
    for (int w = 0; w < j->run.threads && features.room; w++)
        features.room[w] = ks_arena_alloc(&j->arena, ks_size(BAND, f->p), sizeof(double));
    if (j->arena.failed) return ks_nomem(err, "rows in units of sigma", j->arena.failed);
    return ks_parallel_for(&j->run, (x->rows + BAND - 1) / BAND, features_band, &features, err);
}

kspec_status kspec_features(const kspec_matrix *x, const kspec_kernel_opts *opts, double *out,
                            kspec_error *err) {
    ks_clear(err);
    job j;
    ks_fourier f;
    kspec_status st = take_options(&j, opts, err);
    if (!st && (x->rows == 0 || x->cols == 0))
        st = ks_fail(err, KSPEC_E_ARG, "the matrix is empty: %zu x %zu", x->rows, x->cols);
    if (!st) st = ks_fourier_draw(&f, j.o.kernel, x->cols, j.o.features, j.o.seed, 0, &j.arena, err);
    if (!st) {
        ks_blas_enter();
        st = make_features(&j, &f, x, KS_FOURIER_BOTH, out, err);
        ks_blas_leave();
        if (st == KSPEC_E_ARG) st = copy_inputs(&j, x, 1, err); /* says which entry will not do */
    }
    ks_arena_free(&j.arena);
    return st;
}

kspec_status kspec_gram(const kspec_matrix *x, const kspec_kernel_opts *opts, double *out, kspec_error *err) {
    ks_clear(err);
    job j;
    ks_gram g;
    kspec_status st = take_options(&j, opts, err);
    if (!st) st = copy_inputs(&j, x, 0, err);
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
    *j = (job){.o.sigma = 1};
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

/* Moments before and after the pass, the product, the function and all of it: the best of each */
static void keep_best(kspec_kernel_times *best, const double t[5]) {
    best->pass = fmin(best->pass, t[1] - t[0]);
    best->product = fmin(best->product, t[2] - t[1]);
    best->function = fmin(best->function, t[3] - t[2]);
    best->total = fmin(best->total, t[4] - t[3]);
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
    kspec_matrix x = {j.in.x, n, p, (ptrdiff_t)p, 1};
    ks_blas_enter();
    for (int r = 0; r < repeats && !st; r++) {
        double t[5] = {ks_now()};
        memset(Z, 0, n * q * sizeof *Z);
        t[1] = ks_now();
        ks_gemm(0, 1, n, q, p, 1, j.in.x, p, f.W, p, 0, Z, q);
        t[2] = ks_now();
        st = make_features(&j, &f, &x, KS_FOURIER_COSINE, Z, err);
        t[3] = ks_now();
        if (!st) st = make_features(&j, &f, &x, KS_FOURIER_BOTH, Z, err);
        t[4] = ks_now();
        keep_best(out, t);
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
        keep_best(out, t);
    }
    ks_blas_leave();
    ks_arena_free(&j.arena);
    return st;
}
