/* kspec_features() and kspec_gram(): compute the random features and the Gram matrix of a kernel. */
#include "base/error.h"
#include "base/matrix.h"
#include "features/fourier.h"
#include "features/kernel.h"
#include "linalg/linalg.h"
#include "norm/gram.h"
#include "kspec/norm.h"

#include <math.h>
#include <string.h>

typedef struct {
    kspec_norm_opts o;
    ks_kernel kernel;
    ks_bandwidth bandwidth;
    ks_run run;
    ks_arena arena;
} job;

/* Checks the options and the arguments, and fills in the defaults. */
static kspec_status begin(job *j, const kspec_matrix *x, const kspec_norm_opts *opts, const double *out,
                          kspec_error *err) {
    ks_clear(err);
    *j = (job){0};
    kspec_status st = ks_take_opts(&j->o, sizeof j->o, opts, err);
    if (!st) st = ks_run_init(&j->run, j->o.threads, j->o.progress, err);
    j->kernel = (ks_kernel){j->o.kernel, j->o.nu, j->o.frequencies};
    if (!st) st = ks_kernel_check(&j->kernel, err);
    j->bandwidth = (ks_bandwidth){j->o.sigma, j->o.gamma, j->o.median_sigma};
    if (!st) st = ks_bandwidth_check(&j->bandwidth, err);
    if (st) return st;
    if (j->o.scaling || j->o.gram)
        return ks_fail(err, KSPEC_E_ARG, "scaling %d and gram %d are for kspec_norm() alone, and must be 0",
                       (int)j->o.scaling, j->o.gram);
    if (!j->o.features) j->o.features = 256;
    if (j->o.features > 1000000)
        return ks_fail(err, KSPEC_E_ARG, "features %zu exceed 1000000", j->o.features);
    st = ks_matrix_check(x, "the matrix", err);
    return st ? st : ks_check_pointer(err, out, "the output array");
}

/* Holds a centred copy of the rows, and sigma. */
static kspec_status copy_rows(job *j, const kspec_matrix *x, ks_inputs *in, double *sigma, kspec_error *err) {
    kspec_status st = ks_inputs_copy(x, KSPEC_SCALING_NONE, in, &j->arena, err);
    if (st) return st;
    ks_inputs_center(in);
    return ks_bandwidth_sigma(&j->bandwidth, j->o.kernel, in, j->o.seed, sigma, err);
}

/*
 * sigma for features. Only the median needs a copy of the rows, because copying takes longer than the
 * features.
 */
static kspec_status features_sigma(job *j, const kspec_matrix *x, double *sigma, kspec_error *err) {
    ks_inputs in = {0};
    kspec_status st = j->bandwidth.median
                          ? copy_rows(j, x, &in, sigma, err)
                          : ks_bandwidth_sigma(&j->bandwidth, j->o.kernel, &in, j->o.seed, sigma, err);
    ks_arena_free(&j->arena);
    return st;
}

enum { BAND = KS_FOURIER_ROWS }; /* the number of rows in a chunk */

typedef struct {
    ks_fourier f;
    const kspec_matrix *x;
    double sigma;
    double **room; /* per worker: BAND x p numbers, for a band of x in units of sigma */
    double *few;   /* scratch for an incomplete last band */
    double *Z;
} features_job;

/* Reports the error in a row of x, by the same steps and with the same messages as the computation. */
static kspec_status unfit_row(const features_job *j, size_t row, double *room, kspec_error *err) {
    kspec_status st = ks_matrix_copy(j->x, row, 1, "the matrix", room, err);
    return st ? st : ks_rows_divide(room, row, 1, j->f.p, j->sigma, 1, err);
}

static kspec_status features_band(void *ctx, size_t chunk, const ks_worker *worker) {
    const features_job *j = ctx;
    size_t from = chunk * BAND, rows = j->x->rows - from < BAND ? j->x->rows - from : BAND, p = j->f.p;
    double *room = j->room[worker->index];
    /*
     * Copies, divides and checks the rows in one pass; the divisions take no extra time, because the pass
     * waits for memory.
     */
    for (size_t i = 0; i < rows; i++)
        for (size_t l = 0; l < p; l++) {
            double v = room[i * p + l] = ks_at(j->x, from + i, l) / j->sigma;
            if (!(fabs(v) < KS_LARGEST_PHASE)) return unfit_row(j, from + i, room, worker->err);
        }
    double scale = sqrt(2 / (double)j->f.q), *Z = j->Z + from * j->f.q;
    if (rows < BAND) {
        memset(room + rows * p, 0, (BAND - rows) * p * sizeof *room);
        ks_fourier_few(&j->f, room, rows, scale, j->few, Z);
    } else {
        ks_fourier_rows(&j->f, KS_FOURIER_BOTH, room, rows, scale, Z);
    }
    return KSPEC_OK;
}

static kspec_status make_features(job *j, features_job *f, kspec_error *err) {
    kspec_status st = features_sigma(j, f->x, &f->sigma, err);
    if (!st) st = ks_fourier_draw(&f->f, &j->kernel, f->x->cols, j->o.features, j->o.seed, 0, &j->arena, err);
    if (st) return st;
    f->room = ks_arena_zalloc(&j->arena, (size_t)j->run.threads, sizeof *f->room);
    for (int w = 0; w < j->run.threads && f->room; w++)
        f->room[w] = ks_arena_alloc(&j->arena, ks_size(BAND, f->f.p), sizeof(double));
    size_t last = f->x->rows % BAND;
    if (last) f->few = ks_arena_alloc(&j->arena, ks_fourier_few_room(&f->f, last), sizeof(double));
    if (j->arena.failed) return ks_nomem(err, "rows in units of sigma", j->arena.failed);
    return ks_parallel_for(&j->run, (f->x->rows + BAND - 1) / BAND, features_band, f, err);
}

kspec_status kspec_features(const kspec_matrix *x, const kspec_norm_opts *opts, double *out,
                            kspec_error *err) {
    job j;
    features_job f = {.x = x, .Z = out};
    kspec_status st = begin(&j, x, opts, out, err);
    if (st) return st;
    if (!(st = ks_blas_enter(j.run.threads, err))) {
        st = make_features(&j, &f, err);
        ks_blas_exit();
    }
    ks_arena_free(&j.arena);
    return st;
}

static kspec_status make_gram(job *j, const kspec_matrix *x, double *out, kspec_error *err) {
    ks_inputs in;
    ks_gram g;
    double sigma;
    kspec_status st = copy_rows(j, x, &in, &sigma, err);
    if (!st) st = ks_inputs_divide(&in, sigma, 0, err);
    if (!st) st = ks_gram_open(&g, &j->run, &in, &j->kernel, 0, &j->arena, err);
    return st ? st : ks_gram_matrix(&g, &j->run, out, err);
}

kspec_status kspec_gram(const kspec_matrix *x, const kspec_norm_opts *opts, double *out, kspec_error *err) {
    job j;
    kspec_status st = begin(&j, x, opts, out, err);
    if (st) return st;
    if (!(st = ks_blas_enter(j.run.threads, err))) {
        st = make_gram(&j, x, out, err);
        ks_blas_exit();
    }
    ks_arena_free(&j.arena);
    return st;
}
