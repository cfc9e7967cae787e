#include "features/inputs.h"

#include "base/error.h"
#include "base/streams.h"

#include <math.h>

enum { MEDIAN_ROWS = 2048 };

/* x in place: (x - min)/(max - min), or (x - mean)/sd. A constant column, which no distance sees, becomes 0. */
static void scale_column(ks_inputs *in, size_t l, kspec_scaling scaling) {
    size_t n = in->n, p = in->p;
    double *x = in->x + l, low = x[0], high = x[0], mean = 0, square = 0;
    for (size_t i = 0; i < n; i++) {
        low = fmin(low, x[i * p]);
        high = fmax(high, x[i * p]);
    }
    in->constant_columns += low == high;
    for (size_t i = 0; i < n; i++) { /* by halves, whose differences do not overflow */
        x[i * p] = low == high ? 0 : (x[i * p] / 2 - low / 2) / (high / 2 - low / 2);
        mean += x[i * p] / (double)n;
    }
    if (low == high || scaling == KSPEC_SCALING_MINMAX) return;
    for (size_t i = 0; i < n; i++) square += (x[i * p] - mean) * (x[i * p] - mean) / (double)n;
    for (size_t i = 0; i < n; i++) x[i * p] = (x[i * p] - mean) / sqrt(square);
}

kspec_status ks_inputs_copy(const kspec_matrix *x, kspec_scaling scaling, ks_inputs *in, ks_arena *arena,
                            kspec_error *err) {
    *in = (ks_inputs){.n = x->rows, .p = x->cols};
    if (x->rows == 0 || x->cols == 0)
        return ks_fail(err, KSPEC_E_ARG, "the matrix is empty: %zu x %zu", x->rows, x->cols);
    in->x = ks_arena_alloc(arena, ks_size(in->n, in->p), sizeof(double));
    if (!in->x) return ks_nomem(err, "a copy of the rows", arena->failed);
    for (size_t i = 0; i < in->n; i++)
        for (size_t l = 0; l < in->p; l++) {
            double v = x->data[(ptrdiff_t)i * x->row_stride + (ptrdiff_t)l * x->col_stride];
            if (!isfinite(v))
                return ks_fail(err, KSPEC_E_ARG, "row %zu, column %zu (from 0) is %s", i, l,
                               isnan(v) ? "NaN" : "infinite");
            in->x[i * in->p + l] = v;
        }
    if (scaling != KSPEC_SCALING_NONE)
        for (size_t l = 0; l < in->p; l++) scale_column(in, l, scaling);
    return KSPEC_OK;
}

void ks_inputs_center(ks_inputs *in) {
    enum { COLS = 256 }; /* at a time: long stretches of each row */
    for (size_t from = 0; from < in->p; from += COLS) {
        size_t to = from + COLS < in->p ? from + COLS : in->p;
        double mean[COLS] = {0};
        for (size_t i = 0; i < in->n; i++)
            for (size_t l = from; l < to; l++) mean[l - from] += in->x[i * in->p + l] / (double)in->n;
        for (size_t i = 0; i < in->n; i++)
            for (size_t l = from; l < to; l++) in->x[i * in->p + l] -= mean[l - from];
    }
}

kspec_status ks_inputs_divide(ks_inputs *in, double sigma, int features, kspec_error *err) {
    const double most = features ? KS_LARGEST_PHASE : 1e150;
    for (size_t k = 0; k < in->n * in->p; k++) {
        in->x[k] /= sigma;
        if (!(fabs(in->x[k]) < most))
            return ks_fail(err, KSPEC_E_ARG,
                           "row %zu, column %zu (from 0) is more than %g times sigma away%s", k / in->p,
                           k % in->p, most,
                           features ? ": the phases of its random features would be noise" : "");
    }
    return KSPEC_OK;
}

/* The k-th smallest of n numbers, which are reordered (Hoare's selection, the middle as pivot) */
static double select_kth(double *x, size_t n, size_t k) {
    size_t from = 0, to = n - 1;
    while (from < to) {
        double pivot = x[from + (to - from) / 2];
        size_t i = from, j = to;
        for (;;) {
            while (x[i] < pivot) i++;
            while (x[j] > pivot) j--;
            if (i >= j) break;
            double t = x[i];
            x[i++] = x[j];
            x[j--] = t;
        }
        if (k <= j)
            to = j;
        else
            from = j + 1;
    }
    return x[k];
}

kspec_status ks_inputs_median(const ks_inputs *in, kspec_kernel kernel, uint64_t seed, double *median,
                              kspec_error *err) {
    size_t r = in->n < MEDIAN_ROWS ? in->n : MEDIAN_ROWS, pairs = r * (r - 1) / 2, k = 0;
    if (pairs == 0) return ks_fail(err, KSPEC_E_ARG, "one row has no median distance; give sigma or gamma");
    ks_arena arena = {0};
    size_t *rows = ks_arena_alloc(&arena, in->n, sizeof *rows);
    double *d = ks_arena_alloc(&arena, pairs, sizeof *d);
    kspec_status st = arena.failed ? ks_nomem(err, "the median distance", arena.failed) : KSPEC_OK;
    if (!st) ks_sample_rows(in->n, r, 0, seed, ks_stream(KS_STREAM_MEDIAN, 0), rows);
    double largest = 0; /* in units of a power of two near it, no square over- or underflows */
    for (size_t l = 0; l < in->n * in->p; l++) largest = fmax(largest, fabs(in->x[l]));
    const int exponent = largest > 0 && isfinite(largest) ? (int)fmax(-1000, ilogb(largest)) : 0;
    const double inverse = ldexp(1, -exponent);
    for (size_t i = 0; i < r && !st; i++)
        for (size_t j = 0; j < i; j++) {
            const double *x = in->x + rows[i] * in->p, *y = in->x + rows[j] * in->p;
            double sum = 0;
            for (size_t l = 0; l < in->p; l++) {
                double t = (x[l] - y[l]) * inverse;
                sum += kernel == KSPEC_KERNEL_LAPLACE ? fabs(t) : t * t;
            }
            d[k++] = kernel == KSPEC_KERNEL_LAPLACE ? sum : sqrt(sum);
        }
    if (!st) {
        /* of an even number, the mean of the two in the middle: after the selection all below it stand before it */
        *median = select_kth(d, pairs, pairs / 2);
        if (pairs % 2 == 0) {
            double below = d[0];
            for (k = 1; k < pairs / 2; k++) below = fmax(below, d[k]);
            *median = (*median + below) / 2;
        }
        *median = ldexp(*median, exponent);
        if (!(*median > 0 && isfinite(*median)))
            st = ks_fail(err, KSPEC_E_ARG, "the median distance is %g; give sigma or gamma", *median);
    }
    ks_arena_free(&arena);
    return st;
}

void ks_sample_rows(size_t n, size_t r, int first, uint64_t seed, uint64_t stream, size_t *rows) {
    if (first || r == n)
        for (size_t k = 0; k < r; k++) rows[k] = k;
    else
        kspec_random_permutation(seed, stream, n, rows);
}
