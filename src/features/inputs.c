/* Scales and centres the rows of a data table. */
#include "features/inputs.h"

#include "base/error.h"
#include "base/matrix.h"
#include "base/streams.h"

#include <math.h>

enum { MEDIAN_ROWS = 2048 };

/*
 * Replaces x in place by (x - min)/(max - min), or by (x - mean)/sd. A constant column becomes 0, so it
 * adds to no distance.
 */
static void scale_column(ks_inputs *in, size_t l, kspec_scaling scaling) {
    size_t n = in->n, p = in->p;
    double *x = in->x + l, low = x[0], high = x[0], mean = 0, square = 0;
    for (size_t i = 0; i < n; i++) {
        low = fmin(low, x[i * p]);
        high = fmax(high, x[i * p]);
    }
    in->constant_columns += low == high;
    /* The code halves both numbers first, so that differences do not overflow. */
    for (size_t i = 0; i < n; i++) {
        x[i * p] = low == high ? 0 : (x[i * p] / 2 - low / 2) / (high / 2 - low / 2);
        mean += x[i * p] / (double)n;
    }
    if (low == high || scaling == KSPEC_SCALING_MINMAX) return;
    for (size_t i = 0; i < n; i++) square += (x[i * p] - mean) * (x[i * p] - mean) / (double)n;
    for (size_t i = 0; i < n; i++) x[i * p] = (x[i * p] - mean) / sqrt(square);
}

/*
 * Divides x by its length. The length is computed in units of the largest entry, so that no square over- or
 * underflows. A zero vector stays zero.
 */
static void scale_to_unit(double *x, size_t count, size_t stride) {
    double largest = 0, square = 0;
    for (size_t k = 0; k < count; k++) largest = fmax(largest, fabs(x[k * stride]));
    for (size_t k = 0; k < count && largest > 0; k++) {
        x[k * stride] = x[k * stride] / largest;
        square += x[k * stride] * x[k * stride];
    }
    for (size_t k = 0; k < count && largest > 0; k++) x[k * stride] /= sqrt(square);
}

kspec_status ks_inputs_copy(const kspec_matrix *x, kspec_scaling scaling, ks_inputs *in, ks_arena *arena,
                            kspec_error *err) {
    kspec_status st = ks_matrix_check(x, "the matrix", err);
    if (st) return st;
    *in = (ks_inputs){.n = x->rows, .p = x->cols};
    in->x = ks_arena_alloc(arena, ks_size(in->n, in->p), sizeof(double));
    if (!in->x) return ks_nomem(err, "a copy of the rows", arena->failed);
    if ((st = ks_matrix_copy(x, 0, in->n, "the matrix", in->x, err))) return st;
    const int columns = scaling == KSPEC_SCALING_STANDARDIZE || scaling == KSPEC_SCALING_MINMAX;
    for (size_t l = 0; l < in->p && columns; l++) scale_column(in, l, scaling);
    for (size_t l = 0; l < in->p && scaling == KSPEC_SCALING_UNIT_COLS; l++)
        scale_to_unit(in->x + l, in->n, in->p);
    for (size_t i = 0; i < in->n && scaling == KSPEC_SCALING_UNIT_ROWS; i++)
        scale_to_unit(in->x + i * in->p, in->p, 1);
    return KSPEC_OK;
}

void ks_inputs_center(ks_inputs *in) {
    /* This is the number of columns processed together, so that memory is read in long stretches. */
    enum { COLS = 256 };
    for (size_t from = 0; from < in->p; from += COLS) {
        size_t to = from + COLS < in->p ? from + COLS : in->p;
        double mean[COLS] = {0};
        for (size_t i = 0; i < in->n; i++)
            for (size_t l = from; l < to; l++) mean[l - from] += in->x[i * in->p + l] / (double)in->n;
        for (size_t i = 0; i < in->n; i++)
            for (size_t l = from; l < to; l++) in->x[i * in->p + l] -= mean[l - from];
    }
}

kspec_status ks_rows_divide(double *x, size_t first, size_t count, size_t p, double sigma, int features,
                            kspec_error *err) {
    const double most = features ? KS_LARGEST_PHASE : 1e150;
    for (size_t k = 0; k < count * p; k++) {
        x[k] /= sigma;
        if (!(fabs(x[k]) < most))
            return ks_fail(err, KSPEC_E_ARG, "row %zu, column %zu (from 0) is beyond %g times sigma%s",
                           first + k / p, k % p, most,
                           features ? ": the phases of its random features would be noise" : "");
    }
    return KSPEC_OK;
}

kspec_status ks_inputs_divide(ks_inputs *in, double sigma, int features, kspec_error *err) {
    return ks_rows_divide(in->x, 0, in->n, in->p, sigma, features, err);
}

/*
 * Returns the k-th smallest of n numbers and reorders x. It uses Hoare's selection, with the middle
 * element as pivot.
 */
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

/*
 * Returns the median. For an even count, the median is the mean of the middle two numbers. The selection
 * leaves all smaller numbers before the upper one.
 */
static double median_of(double *x, size_t count) {
    double upper = select_kth(x, count, count / 2), lower = x[0];
    if (count % 2) return upper;
    for (size_t k = 1; k < count / 2; k++) lower = fmax(lower, x[k]);
    return (upper + lower) / 2;
}

static double distance(kspec_kernel kernel, const double *x, const double *y, size_t p, double inverse_unit) {
    double sum = 0;
    for (size_t l = 0; l < p; l++) {
        double t = (x[l] - y[l]) * inverse_unit;
        sum += kernel == KSPEC_KERNEL_LAPLACE ? fabs(t) : t * t;
    }
    return kernel == KSPEC_KERNEL_LAPLACE ? sum : sqrt(sum);
}

kspec_status ks_inputs_median(const ks_inputs *in, kspec_kernel kernel, uint64_t seed, double *median,
                              kspec_error *err) {
    size_t r = in->n < MEDIAN_ROWS ? in->n : MEDIAN_ROWS, pairs = r * (r - 1) / 2, k = 0, p = in->p;
    if (pairs == 0) return ks_fail(err, KSPEC_E_ARG, "one row has no median distance; give sigma");
    ks_arena arena = {0};
    size_t *rows = ks_arena_alloc(&arena, in->n, sizeof *rows);
    double *d = ks_arena_alloc(&arena, pairs, sizeof *d);
    if (arena.failed) {
        kspec_status st = ks_nomem(err, "the median distance", arena.failed);
        ks_arena_free(&arena);
        return st;
    }
    ks_sample_rows(in->n, r, 0, seed, ks_stream(KS_STREAM_MEDIAN, 0), rows);
    /*
     * Distances are in units of a power of two near the largest entry, so that no square over- or underflows.
     */
    double largest = 0;
    for (size_t l = 0; l < in->n * p; l++) largest = fmax(largest, fabs(in->x[l]));
    const int exponent = largest > 0 && isfinite(largest) ? (int)fmax(-1000, ilogb(largest)) : 0;
    for (size_t i = 0; i < r; i++)
        for (size_t j = 0; j < i; j++)
            d[k++] = distance(kernel, in->x + rows[i] * p, in->x + rows[j] * p, p, ldexp(1, -exponent));
    *median = ldexp(median_of(d, pairs), exponent);
    ks_arena_free(&arena);
    if (*median > 0 && isfinite(*median)) return KSPEC_OK;
    return ks_fail(err, KSPEC_E_DATA, "the median distance is %g; give sigma", *median);
}

void ks_sample_rows(size_t n, size_t r, int first, uint64_t seed, uint64_t stream, size_t *rows) {
    if (first || r == n)
        for (size_t k = 0; k < r; k++) rows[k] = k;
    else
        ks_random_permutation(seed, stream, n, rows);
}
