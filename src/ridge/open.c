/* kspec_ridge_open(): checks and copies the data and makes the kernel matrices. */
#include "base/error.h"
#include "base/streams.h"
#include "features/inputs.h"
#include "linalg/cholesky.h"
#include "linalg/linalg.h"
#include "ridge/plan.h"

#include <math.h>
#include <stdio.h>

kspec_status ks_ridge_enter(const kspec_ridge *r, ks_run *run, kspec_error *err) {
    kspec_status st = ks_run_init(run, r->o.threads, r->o.progress, err);
    if (!st) ks_blas_enter();
    return st;
}

void ks_ridge_leave(void) { ks_blas_leave(); }

kspec_status ks_ridge_memory(size_t bytes, const char *what, kspec_error *err) {
    size_t free = ks_memory_available();
    if (bytes <= free) return KSPEC_OK;
    return ks_fail(err, KSPEC_E_NOMEM, "%s would take %.1f GB of memory, and %.1f GB are free", what,
                   (double)bytes / 1e9, (double)free / 1e9);
}

/* ---- checks ---- */

static kspec_status check_matrix(const kspec_matrix *a, const char *what, kspec_error *err) {
    if (a->rows == 0 || a->cols == 0)
        return ks_fail(err, KSPEC_E_ARG, "the %s are empty: %zu x %zu", what, a->rows, a->cols);
    for (size_t i = 0; i < a->rows; i++)
        for (size_t j = 0; j < a->cols; j++) {
            double v = a->data[(ptrdiff_t)i * a->row_stride + (ptrdiff_t)j * a->col_stride];
            if (!isfinite(v))
                return ks_fail(err, KSPEC_E_ARG, "%s: row %zu, column %zu (from 0) is %g", what, i, j, v);
        }
    return KSPEC_OK;
}

static kspec_status check_pair(const kspec_matrix *x, const kspec_matrix *y, const char *rows,
                               const char *targets, kspec_error *err) {
    kspec_status st = check_matrix(x, rows, err);
    if (!st) st = check_matrix(y, targets, err);
    if (!st && x->rows != y->rows)
        st = ks_fail(err, KSPEC_E_ARG, "%zu %s, but %zu %s", x->rows, rows, y->rows, targets);
    return st;
}

static kspec_status check(kspec_ridge *r, const kspec_matrix *x, const kspec_matrix *y,
                          const kspec_matrix *xt, const kspec_matrix *yt, kspec_error *err) {
    kspec_ridge_opts *o = &r->o;
    if (o->sigma == 0) o->sigma = 1;
    if (o->tolerance == 0) o->tolerance = 1e-12;
    if (o->max_iterations == 0) o->max_iterations = o->solver == KSPEC_RIDGE_NEWTON ? 200 : 100000;
    if (!(o->sigma > 0 && isfinite(o->sigma)))
        return ks_fail(err, KSPEC_E_ARG, "sigma %g is not a positive number", o->sigma);
    if (!(o->tolerance > 0 && o->tolerance < 1))
        return ks_fail(err, KSPEC_E_ARG, "tolerance %g is not between 0 and 1", o->tolerance);
    if (o->max_iterations < 1)
        return ks_fail(err, KSPEC_E_ARG, "max_iterations %d is below 1", o->max_iterations);
    if (o->solver != KSPEC_RIDGE_NEWTON && o->solver != KSPEC_RIDGE_FIXED_POINT)
        return ks_fail(err, KSPEC_E_ARG, "solver %d is unknown", (int)o->solver);
    if (!(o->test_noise >= 0 && isfinite(o->test_noise)))
        return ks_fail(err, KSPEC_E_ARG, "test_noise %g is not a number of at least 0", o->test_noise);
    if (o->test_noise > 0 && xt)
        return ks_fail(err, KSPEC_E_ARG, "test_noise is for training rows, not test rows");
    if (!xt != !yt) return ks_fail(err, KSPEC_E_ARG, "test rows and test targets go together");
    kspec_status st = check_pair(x, y, "training rows", "training targets", err);
    if (!st && xt) st = check_pair(xt, yt, "test rows", "test targets", err);
    if (st) return st;
    if (xt && xt->cols != x->cols)
        return ks_fail(err, KSPEC_E_ARG, "test rows have %zu columns, but training rows have %zu", xt->cols,
                       x->cols);
    if (yt && yt->cols != y->cols)
        return ks_fail(err, KSPEC_E_ARG, "test targets have %zu columns, but training targets have %zu",
                       yt->cols, y->cols);
    r->n = x->rows, r->p = x->cols, r->m = y->cols, r->nt = xt ? xt->rows : o->test_noise > 0 ? x->rows : 0;
    if (r->n > 100000 || r->nt > 100000) /* 80 GB a matrix; and LAPACK's integers have 32 bits */
        return ks_fail(err, KSPEC_E_ARG, "%zu rows exceed 100000", r->n > r->nt ? r->n : r->nt);
    return KSPEC_OK;
}

static kspec_status allocate(kspec_ridge *r, kspec_error *err) {
    size_t n = r->n, nt = r->nt, square = ks_size(n, n), cross = ks_size(nt, n);
    size_t data = ks_size(ks_size_add(n, nt), ks_size_add(ks_size(2, r->p), r->m));
    size_t doubles = ks_size_add(ks_size(4, square), ks_size_add(ks_size(3, cross), data));
    char what[80];
    snprintf(what, sizeof what, "a prediction for %zu training and %zu test rows", n, nt);
    kspec_status st = ks_ridge_memory(ks_size(doubles, sizeof(double)), what, err);
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
    return a->failed ? ks_nomem(err, what, a->failed) : KSPEC_OK;
}

/* ---- the data ---- */

static void copy(const kspec_matrix *a, double *out) {
    for (size_t i = 0; i < a->rows; i++)
        for (size_t j = 0; j < a->cols; j++)
            *out++ = a->data[(ptrdiff_t)i * a->row_stride + (ptrdiff_t)j * a->col_stride];
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
    if (r->o.scale) {
        if (!(square > 1e-28 * given && isfinite(square))) /* nothing is left but rounding */
            return ks_fail(err, KSPEC_E_ARG, "rows whose mean |x|^2 is %g%s cannot be scaled to 1", given,
                           r->o.center ? ", and does not vary," : "");
        factor = 1 / sqrt(square);
    }
    if (!(square * factor * factor < 1e300)) /* inner products must be finite */
        return ks_fail(err, KSPEC_E_ARG, "the mean of |x|^2 exceeds 1e300; scale the data");
    for (int s = 0; s < 2; s++)
        for (size_t k = 0; k < size[s] * p; k++) rows[s][k] *= factor;
    if (r->o.test_noise > 0) {
        kspec_random_normal(r->o.seed, ks_stream(KS_STREAM_TEST_NOISE, 0), 0, r->n * p, r->Xt);
        for (size_t k = 0; k < r->n * p; k++) r->Xt[k] = r->X[k] + r->o.test_noise * r->Xt[k];
        for (size_t k = 0; k < r->n * r->m; k++) r->Yt[k] = r->Y[k];
    }
    return KSPEC_OK;
}

/* Rows less the mean training row. Distances stay the same, and far from the origin inner products would lose
   them. */
static void subtract_mean(const kspec_ridge *r, const double *A, size_t rows, double *out) {
    size_t n = r->n, p = r->p;
    for (size_t j = 0; j < p; j++) {
        double mean = 0;
        for (size_t i = 0; i < n; i++) mean += r->X[i * p + j] / (double)n;
        for (size_t i = 0; i < rows; i++) out[i * p + j] = A[i * p + j] - mean;
    }
}

static kspec_status divide_by_sigma(kspec_ridge *r, kspec_error *err) {
    ks_inputs train = {.x = r->X, .n = r->n, .p = r->p};
    kspec_status st = KSPEC_OK;
    if (r->o.median_sigma) st = ks_inputs_median(&train, KSPEC_KERNEL_GAUSSIAN, r->o.seed, &r->o.sigma, err);
    if (st) return st;
    double largest = 0;
    for (size_t k = 0; k < r->n * r->p; k++) largest = fmax(largest, fabs(r->X[k] /= r->o.sigma));
    for (size_t k = 0; k < r->nt * r->p; k++) largest = fmax(largest, fabs(r->Xt[k] /= r->o.sigma));
    if (!(largest < 1e150 / sqrt((double)r->p)))
        st = ks_fail(err, KSPEC_E_ARG, "sigma %g makes |x|^2 exceed 1e300", r->o.sigma);
    return st;
}

/* ---- the kernels ---- */

typedef struct {
    const kspec_ridge *r;
    const double *A;      /* rows of this kernel matrix */
    const double *Ac, *C; /* the same, and the training rows, less the mean */
    const double *qa, *q; /* |x|^2/2 of those */
    double *const *K;
    size_t rows, tile;
    int symmetric;
} kernel_job;

/* e^(-2|x|^2) - 1: a row's kernels with itself are 1 + half of it, and less half of it */
static double minus_one(const double *x, size_t p) { return expm1(-2 * ks_dot(p, x, x)); }

/*
 * K_cos(x,x') = (e^(-|x-x'|^2/2) + e^(-|x+x'|^2/2))/2 and K_sin with a minus, for a tile: inner products by
 * BLAS, of the rows and of the rows less their mean, then one pass of the exponentials. Of a symmetric matrix
 * only tiles on and below the diagonal are made, and mirrored.
 */
static kspec_status kernel_tile(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const kernel_job *j = ctx;
    const kspec_ridge *r = j->r;
    size_t n = r->n, tiles = (n + j->tile - 1) / j->tile, bi = 0, bj = chunk;
    if (j->symmetric)
        for (; bj > bi; bi++) bj -= bi + 1;
    else
        bi = chunk / tiles, bj = chunk % tiles;
    size_t i = bi * j->tile, k = bj * j->tile;
    size_t rows = j->rows - i < j->tile ? j->rows - i : j->tile, cols = n - k < j->tile ? n - k : j->tile;
    double *c = j->K[COS] + i * n + k, *s = j->K[SIN] + i * n + k;
    ks_gemm(0, 1, rows, cols, r->p, 1, j->A + i * r->p, r->p, r->X + k * r->p, r->p, 0, c, n);
    ks_gemm(0, 1, rows, cols, r->p, 1, j->Ac + i * r->p, r->p, j->C + k * r->p, r->p, 0, s, n);
    for (size_t a = 0; a < rows; a++)
        r->kernels->cosh_sinh(c + a * n, s + a * n, j->qa[i + a], j->q + k, cols);
    if (!j->symmetric) return KSPEC_OK;
    if (bi == bj) /* |x-x|^2 is 0, which inner products give to rounding only */
        for (size_t a = 0; a < rows; a++) {
            double m = minus_one(r->X + (i + a) * r->p, r->p);
            c[a * n + a] = 1 + m / 2, s[a * n + a] = -m / 2;
        }
    for (int h = COS; h <= SIN; h++)
        for (size_t b = 0; b < cols; b++)
            for (size_t a = bi == bj ? b + 1 : 0; a < rows; a++)
                j->K[h][(k + b) * n + i + a] = j->K[h][(i + a) * n + k + b];
    return KSPEC_OK;
}

/* C = A less the mean and q = |c|^2/2 of its rows; the traces of the kernels of A with itself */
static void prepare(const kspec_ridge *r, const double *A, size_t rows, double *C, double *q,
                    double trace[2]) {
    size_t p = r->p;
    trace[COS] = trace[SIN] = 0;
    subtract_mean(r, A, rows, C);
    for (size_t i = 0; i < rows; i++) {
        q[i] = ks_dot(p, C + i * p, C + i * p) / 2;
        double m = minus_one(A + i * p, p);
        trace[COS] += 1 + m / 2;
        trace[SIN] -= m / 2;
    }
}

static kspec_status make_kernels(kspec_ridge *r, const ks_run *run, kspec_error *err) {
    ks_arena scratch = {0};
    double *q = ks_arena_alloc(&scratch, r->n, sizeof *q), *qt = ks_arena_alloc(&scratch, r->nt, sizeof *qt);
    double *C = ks_arena_alloc(&scratch, ks_size(r->n, r->p), sizeof *C);
    double *Ct = ks_arena_alloc(&scratch, ks_size(r->nt, r->p), sizeof *Ct);
    kspec_status st = scratch.failed ? ks_nomem(err, "centred rows", scratch.failed) : KSPEC_OK;
    if (!st) {
        prepare(r, r->X, r->n, C, q, r->trace);
        prepare(r, r->Xt, r->nt, Ct, qt, r->trace_t);
        kernel_job j = {r, r->X, C, C, q, q, r->K, r->n, ks_tile(r->n), 1};
        size_t tiles = (r->n + j.tile - 1) / j.tile;
        double share = (double)r->n / (double)(r->n + 2 * r->nt);
        ks_run first = ks_run_part(run, 0, share), second = ks_run_part(run, share, 1);
        st = ks_parallel_for(&first, tiles * (tiles + 1) / 2, kernel_tile, &j, err);
        if (!st && r->nt) {
            j.A = r->Xt, j.Ac = Ct, j.qa = qt, j.K = r->Kt, j.rows = r->nt, j.symmetric = 0;
            st = ks_parallel_for(&second, (r->nt + j.tile - 1) / j.tile * tiles, kernel_tile, &j, err);
        }
    }
    ks_arena_free(&scratch);
    return st;
}

kspec_status kspec_ridge_open(const kspec_matrix *x, const kspec_matrix *y, const kspec_matrix *x_test,
                              const kspec_matrix *y_test, const kspec_ridge_opts *opts, kspec_ridge **out,
                              kspec_error *err) {
    ks_clear(err);
    *out = NULL;
    kspec_ridge *r = ks_zalloc(1, sizeof *r);
    if (!r) return ks_nomem(err, "a prediction", sizeof *r);
    ks_run run;
    kspec_status st = ks_take_opts(&r->o, sizeof r->o, opts, err);
    if (!st) st = ks_simd_choose(&r->kernels, err);
    if (!st) st = check(r, x, y, x_test, y_test, err);
    if (!st) st = allocate(r, err);
    if (!st) {
        copy(x, r->X);
        copy(y, r->Y);
        if (x_test) copy(x_test, r->Xt), copy(y_test, r->Yt);
        st = normalise(r, err);
    }
    if (!st) st = ks_ridge_enter(r, &run, err);
    if (!st) {
        st = divide_by_sigma(r, err);
        if (!st) st = make_kernels(r, &run, err);
        ks_ridge_leave();
    }
    if (st) {
        kspec_ridge_close(r);
        return st;
    }
    *out = r;
    return KSPEC_OK;
}

void kspec_ridge_close(kspec_ridge *r) {
    if (!r) return;
    ks_arena_free(&r->arena);
    ks_free(r);
}

double kspec_ridge_sigma(const kspec_ridge *r) { return r->o.sigma; }
