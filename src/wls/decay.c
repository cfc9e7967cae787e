/* Measures how fast the singular values of a kernel matrix fall on given data. */
#include "base/clock.h"
#include "base/error.h"
#include "base/matrix.h"
#include "base/result.h"
#include "base/sort.h"
#include "linalg/eigen.h"
#include "linalg/linalg.h"
#include "kspec/wls.h"

#include <math.h>

/* Divides each row by its length. */
static kspec_status to_unit_sphere(double *rows, size_t n, size_t d, kspec_error *err) {
    for (size_t i = 0; i < n; i++) {
        double *row = rows + i * d, length = 0;
        for (size_t k = 0; k < d; k++) length = hypot(length, row[k]);
        if (length == 0)
            return ks_fail(err, KSPEC_E_DATA, "row %zu (from 0) is zero: it has no direction", i);
        for (size_t k = 0; k < d; k++) row[k] /= length;
    }
    return KSPEC_OK;
}

/*
 * Centres the rows. The Gaussian kernel depends on differences of rows only; inner products of rows far
 * from 0 would lose these differences.
 */
static void centre(double *rows, size_t n, size_t d) {
    for (size_t k = 0; k < d; k++) {
        double mean = 0;
        for (size_t i = 0; i < n; i++) mean += rows[i * d + k] / (double)n;
        for (size_t i = 0; i < n; i++) rows[i * d + k] -= mean;
    }
}

/* Replaces the inner products, which are finite, by kernel values. */
static void apply(const kspec_wls_decay_opts *o, size_t n, double *G, double *norm) {
    for (size_t i = 0; i < n; i++) norm[i] = G[i * n + i];
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            double *g = &G[i * n + k];
            *g = o->kernel == KSPEC_WLS_KERNEL_POLYNOMIAL
                     ? pow(o->slope * *g + 1, o->degree)
                     : exp(-0.5 * fmax(0, norm[i] + norm[k] - 2 * *g) / o->sigma / o->sigma);
        }
}

static kspec_status check_finite(const double *G, size_t n, kspec_error *err) {
    for (size_t i = 0; i < n * n; i++)
        if (!(fabs(G[i]) <= 1e307)) /* Four entries are added later, and their sum must not overflow. */
            return ks_fail(err, KSPEC_E_NUMERIC, "the kernel exceeds the largest double; scale the data");
    return KSPEC_OK;
}

/* Returns the slope of log values with respect to log k. */
static double fit_exponent(const double *s, size_t n) {
    double count = 0, x1 = 0, y1 = 0, xx = 0, xy = 0;
    for (size_t k = 1; k <= (n + 1) / 2 && s[k - 1] > 1e-12 * s[0]; k++) {
        double x = log((double)k), y = log(s[k - 1]);
        count++, x1 += x, y1 += y, xx += x * x, xy += x * y;
    }
    return count < 3 ? NAN : -(count * xy - x1 * y1) / (count * xx - x1 * x1);
}

static kspec_status check(kspec_wls_decay_opts *o, kspec_error *err) {
    if (o->kernel != KSPEC_WLS_KERNEL_GAUSSIAN && o->kernel != KSPEC_WLS_KERNEL_POLYNOMIAL)
        return ks_fail(err, KSPEC_E_ARG, "unknown kernel %d", (int)o->kernel);
    if (o->sigma == 0) o->sigma = 1;
    if (o->slope == 0) o->slope = 1;
    if (o->degree == 0) o->degree = 3;
    if (!(o->sigma > 0 && isfinite(o->sigma)))
        return ks_fail(err, KSPEC_E_ARG, "sigma %g is not a finite number above 0", o->sigma);
    if (!(o->slope > 0 && isfinite(o->slope)))
        return ks_fail(err, KSPEC_E_ARG, "slope %g is not a finite number above 0", o->slope);
    if (o->degree < 0) return ks_fail(err, KSPEC_E_ARG, "degree %d is below 1", o->degree);
    return KSPEC_OK;
}

/* Writes the eigenvalues of the kernel matrix to `values`. */
static kspec_status compute(const kspec_matrix *X, const kspec_wls_decay_opts *o, const ks_run *run,
                            double *values, kspec_error *err) {
    size_t n = X->rows, d = X->cols;
    ks_arena arena = {0};
    double *rows = ks_arena_alloc(&arena, ks_size(n, d), sizeof *rows),
           *G = ks_arena_alloc(&arena, ks_size(n, n), sizeof *G),
           *norm = ks_arena_alloc(&arena, n, sizeof *norm);
    kspec_status st = arena.failed ? ks_nomem(err, "the kernel matrix", arena.failed) : KSPEC_OK;
    if (st || (st = ks_blas_enter(run->threads, err))) goto done;
    st = ks_matrix_copy(X, 0, n, "the matrix", rows, err);
    if (!st && o->unit_sphere) st = to_unit_sphere(rows, n, d, err);
    if (!st && o->kernel == KSPEC_WLS_KERNEL_GAUSSIAN) centre(rows, n, d);
    if (!st) st = ks_gemm_symmetric_tiled(run, 0, 1, n, d, 1, rows, d, rows, d, G, n, err);
    if (!st) st = check_finite(G, n, err);
    if (!st) apply(o, n, G, norm);
    if (!st) st = check_finite(G, n, err);
    if (!st) st = ks_syevd(0, n, G, n, values, err);
    ks_blas_exit();
done:
    ks_arena_free(&arena);
    return st;
}

kspec_status kspec_wls_decay(const kspec_matrix *X, const kspec_wls_decay_opts *opts,
                             kspec_wls_decay_result **out, kspec_error *err) {
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    double start = ks_now();
    kspec_wls_decay_opts o;
    ks_run run;
    kspec_status st = ks_take_opts(&o, sizeof o, opts, err);
    if (!st) st = ks_run_init(&run, o.threads, o.progress, err);
    if (!st) st = ks_matrix_check(X, "the matrix", err);
    if (!st) st = check(&o, err);
    if (st) return st;
    size_t n = X->rows, bytes = ks_size(ks_size_add(ks_size(n, n), ks_size(n, X->cols)), sizeof(double));
    if ((st = ks_check_memory(err, bytes, "a kernel matrix of order %zu", n))) return st;
    kspec_wls_decay_result *r = ks_result_new(sizeof *r);
    if (r) r->values = ks_arena_alloc(ks_result_arena(r), n, sizeof *r->values);
    st = r && r->values ? compute(X, &o, &run, r->values, err)
                        : ks_nomem(err, "the singular values", ks_size(n, sizeof(double)));
    if (st) {
        kspec_free(r);
        return st;
    }
    r->count = n;
    for (size_t i = 0; i < n; i++) r->values[i] = fabs(r->values[i]);
    ks_sort_descending(r->values, n);
    r->exponent = fit_exponent(r->values, n);
    r->seconds = ks_now() - start;
    *out = r;
    return KSPEC_OK;
}
