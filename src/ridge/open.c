/* kspec_ridge_open(): checks and copies the data and makes the kernel matrices. */
#include "base/error.h"
#include "base/matrix.h"
#include "base/streams.h"
#include "device/device.h"
#include "features/kernel.h"
#include "linalg/linalg.h"
#include "ridge/kernels.h"
#include "team/team.h"

#include <math.h>

kspec_status ks_ridge_enter(const kspec_ridge *r, ks_run *run, kspec_error *err) {
    kspec_status st = ks_run_init(run, r->o.threads, r->o.progress, err);
    run->team = r->o.team;
    return st ? st : ks_blas_enter(run->threads, err);
}

void ks_ridge_exit(void) { ks_blas_exit(); }

/* ---- checks ---- */

static ks_bandwidth bandwidth(const kspec_ridge_opts *o) {
    return (ks_bandwidth){.sigma = o->sigma, .median = o->median_sigma};
}

static kspec_status check_options(kspec_ridge_opts *o, kspec_error *err) {
    if (o->solver != KSPEC_RIDGE_SOLVER_NEWTON && o->solver != KSPEC_RIDGE_SOLVER_FIXED_POINT)
        return ks_fail(err, KSPEC_E_ARG, "unknown solver %d", (int)o->solver);
    if (o->tolerance == 0) o->tolerance = 1e-12;
    if (o->max_iterations == 0) o->max_iterations = o->solver == KSPEC_RIDGE_SOLVER_NEWTON ? 200 : 100000;
    if (!(o->tolerance > 0 && o->tolerance < 1))
        return ks_fail(err, KSPEC_E_ARG, "tolerance %g is not between 0 and 1", o->tolerance);
    if (o->max_iterations < 1)
        return ks_fail(err, KSPEC_E_ARG, "max_iterations %d is below 1", o->max_iterations);
    if (!(o->test_noise >= 0 && isfinite(o->test_noise)))
        return ks_fail(err, KSPEC_E_ARG, "test_noise %g is not finite and at least 0", o->test_noise);
    ks_bandwidth b = bandwidth(o);
    kspec_status st = ks_bandwidth_check(&b, err);
    if (st) return st;
    /* a GPU that is asked for by name must exist */
    ks_placement placement;
    st = ks_placement_open(&placement, ks_device_of_rank(o->device, o->team), err);
    ks_placement_close(&placement);
    return st;
}

/* The matrices that a prediction is opened with; those of the test set may be NULL. */
typedef struct {
    const kspec_matrix *x, *y, *xt, *yt;
} data;

static const char *const names[] = {"the matrix of training rows", "the matrix of training targets",
                                    "the matrix of test rows", "the matrix of test targets"};

static kspec_status check_pair(const kspec_matrix *x, const kspec_matrix *y, int test, kspec_error *err) {
    kspec_status st = ks_matrix_check(x, names[2 * test], err);
    if (!st) st = ks_matrix_check(y, names[2 * test + 1], err);
    if (!st && x->rows != y->rows) {
        const char *set = test ? "test" : "training";
        st = ks_fail(err, KSPEC_E_ARG, "%zu %s rows, but %zu %s targets", x->rows, set, y->rows, set);
    }
    return st;
}

static kspec_status check_data(kspec_ridge *r, const data *d, kspec_error *err) {
    if (r->o.test_noise > 0 && d->xt)
        return ks_about(err, "test_noise", NULL,
                        ks_fail(err, KSPEC_E_ARG,
                                "test_noise and test rows cannot be combined: it makes "
                                "test rows of the training rows"));
    if (!d->xt != !d->yt) return ks_fail(err, KSPEC_E_ARG, "test rows and test targets go together");
    kspec_status st = check_pair(d->x, d->y, 0, err);
    if (!st && d->xt) st = check_pair(d->xt, d->yt, 1, err);
    if (st) return st;
    if (d->xt && d->xt->cols != d->x->cols)
        return ks_fail(err, KSPEC_E_ARG, "test rows have %zu columns, but training rows have %zu",
                       d->xt->cols, d->x->cols);
    if (d->yt && d->yt->cols != d->y->cols)
        return ks_fail(err, KSPEC_E_ARG, "test targets have %zu columns, but training targets have %zu",
                       d->yt->cols, d->y->cols);
    r->n = d->x->rows, r->p = d->x->cols, r->m = d->y->cols;
    r->nt = d->xt ? d->xt->rows : r->o.test_noise > 0 ? r->n : 0;
    if (r->n > 100000 || r->nt > 100000) /* 80 GB a matrix; and LAPACK's integers have 32 bits */
        return ks_fail(err, KSPEC_E_ARG, "%zu rows exceed 100000", r->n > r->nt ? r->n : r->nt);
    return KSPEC_OK;
}

/* ---- the data ---- */

static kspec_status allocate(kspec_ridge *r, kspec_error *err) {
    size_t n = r->n, nt = r->nt, square = ks_size(n, n), cross = ks_size(nt, n);
    size_t rows = ks_size(ks_size_add(n, nt), ks_size_add(ks_size(2, r->p), r->m));
    size_t doubles = ks_size_add(ks_size(4, square), ks_size_add(ks_size(3, cross), rows));
    kspec_status st = ks_check_memory(err, ks_size(doubles, sizeof(double)),
                                      "a prediction for %zu training and %zu test rows", n, nt);
    if (st) return st;
    ks_arena *a = &r->arena;
    r->X = ks_arena_alloc(a, ks_size(n, r->p), sizeof *r->X);
    r->Xt = ks_arena_alloc(a, ks_size(nt, r->p), sizeof *r->Xt);
    r->Y = ks_arena_alloc(a, ks_size(n, r->m), sizeof *r->Y);
    r->Yt = ks_arena_alloc(a, ks_size(nt, r->m), sizeof *r->Yt);
    for (int c = COS; c <= SIN; c++) {
        r->K[c] = ks_arena_alloc(a, square, sizeof(double));
        r->Kt[c] = ks_arena_alloc(a, cross, sizeof(double));
    }
    r->Q = ks_arena_alloc(a, square, sizeof *r->Q);
    r->work = ks_arena_alloc(a, square, sizeof *r->work);
    r->H = ks_arena_alloc(a, cross, sizeof *r->H);
    return a->failed ? ks_nomem(err, "a prediction", a->failed) : KSPEC_OK;
}

static kspec_status copy(kspec_ridge *r, const data *d, kspec_error *err) {
    const kspec_matrix *from[] = {d->x, d->y, d->xt, d->yt};
    double *to[] = {r->X, r->Y, r->Xt, r->Yt};
    kspec_status st = KSPEC_OK;
    for (int k = 0; k < 4 && !st; k++)
        if (from[k]) st = ks_matrix_copy(from[k], 0, from[k]->rows, names[k], to[k], err);
    return st;
}

/* The mean of |x|^2 over both sets of rows */
static double mean_square(double *const rows[2], const size_t size[2], size_t p) {
    double square = 0, count = (double)(size[0] + size[1]);
    for (int s = 0; s < 2; s++)
        for (size_t k = 0; k < size[s] * p; k++) square += rows[s][k] * rows[s][k] / count;
    return square;
}

/* Jointly over the training and test rows: x - mean, then mean |x|^2 = 1 */
static kspec_status normalise(kspec_ridge *r, kspec_error *err) {
    double *rows[2] = {r->X, r->Xt};
    size_t size[2] = {r->n, r->o.test_noise > 0 ? 0 : r->nt}, p = r->p;
    double given = mean_square(rows, size, p), count = (double)(size[0] + size[1]), factor = 1;
    for (size_t j = 0; r->o.center && j < p; j++) {
        double sum = 0;
        for (int s = 0; s < 2; s++)
            for (size_t i = 0; i < size[s]; i++) sum += rows[s][i * p + j] / count;
        for (int s = 0; s < 2; s++)
            for (size_t i = 0; i < size[s]; i++) rows[s][i * p + j] -= sum;
    }
    double square = mean_square(rows, size, p);
    if (r->o.unit_length) {
        if (!(square > 1e-28 * given && isfinite(square))) /* the rest is rounding */
            return ks_fail(err, KSPEC_E_ARG, "rows whose mean |x|^2 is %g%s cannot be scaled to 1", given,
                           r->o.center ? ", and does not vary," : "");
        factor = 1 / sqrt(square);
    }
    if (!(square * factor * factor < 1e300)) /* inner products must be finite */
        return ks_fail(err, KSPEC_E_DATA, "the mean of |x|^2 exceeds 1e300; scale the data");
    for (int s = 0; s < 2; s++)
        for (size_t k = 0; k < size[s] * p; k++) rows[s][k] *= factor;
    if (r->o.test_noise > 0) {
        kspec_random_normal(r->o.seed, ks_stream(KS_STREAM_TEST_NOISE, 0), 0, r->n * p, r->Xt);
        for (size_t k = 0; k < r->n * p; k++) r->Xt[k] = r->X[k] + r->o.test_noise * r->Xt[k];
        for (size_t k = 0; k < r->n * r->m; k++) r->Yt[k] = r->Y[k];
    }
    return KSPEC_OK;
}

static kspec_status divide_by_sigma(kspec_ridge *r, kspec_error *err) {
    ks_inputs train = {.x = r->X, .n = r->n, .p = r->p};
    ks_bandwidth b = bandwidth(&r->o);
    kspec_status st = ks_bandwidth_sigma(&b, KSPEC_KERNEL_GAUSSIAN, &train, r->o.seed, &r->sigma, err);
    if (st) return st;
    const ks_bandwidth median = {.median = 1};
    if (ks_bandwidth_sigma(&median, KSPEC_KERNEL_GAUSSIAN, &train, r->o.seed, &r->distance, NULL))
        r->distance = 0; /* too few rows, or all the same */
    double largest = 0;
    for (size_t k = 0; k < r->n * r->p; k++) largest = fmax(largest, fabs(r->X[k] /= r->sigma));
    for (size_t k = 0; k < r->nt * r->p; k++) largest = fmax(largest, fabs(r->Xt[k] /= r->sigma));
    if (!(largest < 1e150 / sqrt((double)r->p)))
        st = ks_fail(err, KSPEC_E_ARG, "sigma %g makes |x|^2 exceed 1e300", r->sigma);
    return st;
}

kspec_status kspec_ridge_open(const kspec_matrix *x, const kspec_matrix *y, const kspec_matrix *x_test,
                              const kspec_matrix *y_test, const kspec_ridge_opts *opts, kspec_ridge **out,
                              kspec_error *err) {
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    kspec_ridge_opts o;
    const data d = {x, y, x_test, y_test};
    ks_run run;
    kspec_status st = ks_take_opts(&o, sizeof o, opts, err);
    if (st) return st;
    kspec_ridge *r = ks_zalloc(1, sizeof *r);
    if (r)
        r->o = o;
    else
        st = ks_nomem(err, "a prediction", sizeof *r);
    if (!st) st = ks_simd_choose(&r->simd, err);
    if (!st) st = check_options(&r->o, err);
    if (!st) st = check_data(r, &d, err);
    if (!st) st = allocate(r, err);
    if (!st) st = copy(r, &d, err);
    if (!st) st = normalise(r, err);
    if (!st) st = ks_ridge_enter(r, &run, err);
    if (!st) {
        st = divide_by_sigma(r, err);
        if (!st) st = ks_ridge_kernels(r, &run, err);
        ks_ridge_exit();
    }
    st = ks_team_end(o.team, st, err);
    if (st)
        kspec_ridge_close(r);
    else
        *out = r;
    return st;
}

void kspec_ridge_close(kspec_ridge *r) {
    if (!r) return;
    ks_arena_free(&r->arena);
    ks_free(r);
}

double kspec_ridge_sigma(const kspec_ridge *r) { return r ? r->sigma : NAN; }
