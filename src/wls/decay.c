/* How fast the singular values of a kernel matrix fall on given data. */
#include "base/error.h"
#include "base/memory.h"
#include "linalg/eigen.h"
#include "linalg/linalg.h"
#include "kspec/wls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int descending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* The rows of X, each of length 1 if asked for */
static kspec_status copy_rows(const kspec_matrix *X, int unit, double *to, kspec_error *err) {
    for (size_t i = 0; i < X->rows; i++) {
        double *row = to + i * X->cols, length = 0;
        for (size_t k = 0; k < X->cols; k++) {
            row[k] = X->data[(ptrdiff_t)i * X->row_stride + (ptrdiff_t)k * X->col_stride];
            if (!isfinite(row[k]))
                return ks_fail(err, KSPEC_E_ARG, "row %zu, column %zu (from 0) is not finite", i, k);
            length = hypot(length, row[k]);
        }
        if (unit && length == 0)
            return ks_fail(err, KSPEC_E_ARG, "row %zu (from 0) is zero: it has no direction", i);
        for (size_t k = 0; k < X->cols && unit; k++) row[k] /= length;
    }
    return KSPEC_OK;
}

/* The Gaussian kernel sees differences only, and those of rows far from 0 would be lost in their inner products */
static void centre(double *rows, size_t n, size_t d) {
    for (size_t k = 0; k < d; k++) {
        double mean = 0;
        for (size_t i = 0; i < n; i++) mean += rows[i * d + k] / (double)n;
        for (size_t i = 0; i < n; i++) rows[i * d + k] -= mean;
    }
}

/* From inner products, which are finite, to kernel values, in place */
static void apply(const kspec_wls_decay_opts *o, size_t n, double *G, double *norm) {
    for (size_t i = 0; i < n; i++) norm[i] = G[i * n + i];
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) {
            double *g = &G[i * n + k];
            *g = o->kernel == KSPEC_WLS_POLYNOMIAL
                     ? pow(o->scale * *g + 1, o->degree)
                     : exp(-0.5 * fmax(0, norm[i] + norm[k] - 2 * *g) / o->scale / o->scale);
        }
}

static kspec_status check_finite(const double *G, size_t n, kspec_error *err) {
    for (size_t i = 0; i < n * n; i++)
        if (!(fabs(G[i]) <= 1e307)) /* apply() adds four of them */
            return ks_fail(err, KSPEC_E_NUMERIC, "the kernel exceeds the largest double; scale the data");
    return KSPEC_OK;
}

/* The slope of log values against log k */
static double fit_exponent(const double *s, size_t n) {
    double count = 0, x1 = 0, y1 = 0, xx = 0, xy = 0;
    for (size_t k = 1; k <= (n + 1) / 2 && s[k - 1] > 1e-12 * s[0]; k++) {
        double x = log((double)k), y = log(s[k - 1]);
        count++, x1 += x, y1 += y, xx += x * x, xy += x * y;
    }
    return count < 3 ? NAN : -(count * xy - x1 * y1) / (count * xx - x1 * x1);
}

kspec_status kspec_wls_decay(const kspec_matrix *X, const kspec_wls_decay_opts *opts, double *values,
                             double *exponent, kspec_error *err) {
    ks_clear(err);
    kspec_wls_decay_opts o;
    ks_run run;
    kspec_status st = ks_take_opts(&o, sizeof o, opts, err);
    if (!st) st = ks_run_init(&run, o.threads, o.progress, err);
    if (st) return st;
    size_t n = X->rows, d = X->cols;
    if (n == 0 || d == 0) return ks_fail(err, KSPEC_E_ARG, "the matrix is empty: %zu x %zu", n, d);
    if (o.kernel != KSPEC_WLS_GAUSSIAN && o.kernel != KSPEC_WLS_POLYNOMIAL)
        return ks_fail(err, KSPEC_E_ARG, "kernel %d is none that there is", (int)o.kernel);
    if (o.scale == 0) o.scale = 1;
    if (o.degree == 0) o.degree = 3;
    if (!(o.scale > 0 && isfinite(o.scale)))
        return ks_fail(err, KSPEC_E_ARG, "scale %g is not above 0", o.scale);
    if (o.degree < 0) return ks_fail(err, KSPEC_E_ARG, "degree %d is below 1", o.degree);
    size_t bytes = ks_size(ks_size_add(ks_size(n, n), ks_size(n, d)), sizeof(double)),
           have = ks_memory_available();
    if (bytes > have)
        return ks_fail(err, KSPEC_E_NOMEM, "a kernel matrix of order %zu needs %zu MB, %zu MB are available",
                       n, bytes >> 20, have >> 20);
    ks_arena arena = {0};
    double *rows = ks_arena_alloc(&arena, ks_size(n, d), sizeof *rows),
           *G = ks_arena_alloc(&arena, ks_size(n, n), sizeof *G),
           *norm = ks_arena_alloc(&arena, n, sizeof *norm);
    if (arena.failed) st = ks_nomem(err, "the kernel matrix", arena.failed);
    ks_blas_enter();
    if (!st) st = copy_rows(X, o.unit_sphere, rows, err);
    if (!st && o.kernel == KSPEC_WLS_GAUSSIAN) centre(rows, n, d);
    if (!st) st = ks_gemm_symmetric_tiled(&run, 0, 1, n, d, 1, rows, d, rows, d, G, n, err);
    if (!st) st = check_finite(G, n, err);
    if (!st) apply(&o, n, G, norm);
    if (!st) st = check_finite(G, n, err);
    if (!st) st = ks_syevd(0, n, G, n, values, err);
    ks_blas_leave();
    ks_arena_free(&arena);
    if (st) return st;
    for (size_t i = 0; i < n; i++) values[i] = fabs(values[i]);
    qsort(values, n, sizeof *values, descending);
    if (exponent) *exponent = fit_exponent(values, n);
    return KSPEC_OK;
}
