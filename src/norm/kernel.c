/* kspec_features() and kspec_gram(): the parts of the norm that stand by themselves. */
#include "base/error.h"
#include "features/fourier.h"
#include "linalg/linalg.h"
#include "norm/gram.h"
#include "kspec/norm.h"

#include <math.h>

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
    if ((st = ks_inputs_copy(x, KSPEC_SCALING_NONE, &j->in, &j->arena, err))) return st;
    if (!features) ks_inputs_center(&j->in);
    return ks_inputs_divide(&j->in, j->o.sigma, features, err);
}

enum { BAND = 128 }; /* rows of a chunk: those of a tile of ks_fourier_rows() */

typedef struct {
    const ks_fourier *f;
    const kspec_matrix *x;
    double sigma;
    /* per worker: BAND x p, for a band of x in units of sigma. A copy of all of x would take longer than its features */
    double **room;
    double *Z;
} features_job;

static kspec_status features_band(void *ctx, size_t chunk, const ks_worker *worker) {
    const features_job *j = ctx;
    size_t from = chunk * BAND, rows = j->x->rows - from < BAND ? j->x->rows - from : BAND, p = j->f->p;
    double *room = j->room[worker->index];
    for (size_t i = 0; i < rows; i++) {
        const double *x = j->x->data + (ptrdiff_t)(from + i) * j->x->row_stride;
        for (size_t l = 0; l < p; l++) {
            double v = x[(ptrdiff_t)l * j->x->col_stride] / j->sigma;
            room[i * p + l] = v;
            if (!(fabs(v) < KS_LARGEST_PHASE)) return KSPEC_E_ARG;
        }
    }
    ks_fourier_rows(j->f, KS_FOURIER_BOTH, room, rows, sqrt(2 / (double)j->f->q), j->Z + from * j->f->q);
    return KSPEC_OK;
}

static kspec_status make_features(job *j, const ks_fourier *f, const kspec_matrix *x, double *Z,
                                  kspec_error *err) {
    features_job features = {f, x, j->o.sigma, NULL, Z};
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
        st = make_features(&j, &f, x, out, err);
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
