/* Prepares the points of a smooth curve: checks and sorts them, drops gaps, and finds regular spacing. */
#include "wls/smooth_data.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

typedef struct {
    double x;
    size_t place;
} point;

static int by_x(const void *a, const void *b) {
    const point *p = a, *q = b;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    return p->place < q->place ? -1 : p->place > q->place;
}

static kspec_status finite(const double *x, size_t count, const char *name, kspec_error *err) {
    for (size_t i = 0; i < count; i++)
        if (!isfinite(x[i])) return ks_fail(err, KSPEC_E_DATA, "%s[%zu] is not a finite number", name, i);
    return KSPEC_OK;
}

static ks_cplx value(const double *y, int is_complex, size_t i) {
    return is_complex ? (ks_cplx){y[2 * i], y[2 * i + 1]} : (ks_cplx){y[i], 0};
}

/* Lists the points in use, by increasing x; gaps and points with weight 0 are not in use. */
static kspec_status take_points(const double *x, const double *y, size_t N, const kspec_wls_smooth_opts *o,
                                point *at, size_t *count, kspec_error *err) {
    *count = 0;
    for (size_t i = 0; i < N; i++) {
        const ks_cplx v = value(y, o->complex_data, i);
        const int missing = isnan(v.re) || isnan(v.im);
        if (missing && !o->gaps) return ks_refuse(err, KSPEC_E_DATA, "nan", "omit-rows", "y[%zu] is NaN", i);
        if (!missing && (!isfinite(v.re) || !isfinite(v.im)))
            return ks_fail(err, KSPEC_E_DATA, "y[%zu] is not a finite number", i);
        if (o->weights && !(isfinite(o->weights[i]) && o->weights[i] >= 0))
            return ks_fail(err, KSPEC_E_DATA, "weight %zu is %g, not a finite number of at least 0", i,
                           o->weights[i]);
        if (missing || (o->weights && o->weights[i] == 0)) continue;
        at[(*count)++] = (point){x ? x[i] : 2 * PI * (double)i / (double)N, i};
    }
    if (*count < 2)
        return ks_fail(err, KSPEC_E_DATA, "%zu points with a value, at least 2 are needed", *count);
    qsort(at, *count, sizeof *at, by_x);
    return KSPEC_OK;
}

/* Returns the step of a grid if every point is within a thousandth of a step of its position. */
static double step_of(const double *x, size_t n) {
    const double step = (x[n - 1] - x[0]) / (double)(n - 1);
    for (size_t i = 0; i < n; i++)
        if (!(fabs(x[i] - x[0] - (double)i * step) <= 1e-3 * step)) return 0;
    return step;
}

static int take_weights(const double *weights, const point *at, size_t n, double *root, double *unit) {
    double sum = 0, most = 0;
    int equal = 1;
    for (size_t i = 0; i < n; i++) most = fmax(most, weights[at[i].place]);
    for (size_t i = 0; i < n; i++) {
        root[i] = weights[at[i].place] / most;
        sum += root[i], equal &= root[i] == 1;
    }
    for (size_t i = 0; i < n; i++) root[i] = sqrt(root[i] * (double)n / sum);
    *unit = sqrt(most * sum / (double)n);
    return equal;
}

/* Stores y minus its mean, in units of a power of two near the largest remaining value. */
static kspec_status take_values(const double *y, int is_complex, const point *at, size_t n, ks_cplx *to,
                                ks_smooth_data *d, kspec_error *err) {
    double scale = 0, most = 0;
    for (size_t i = 0; i < n; i++) {
        const ks_cplx v = value(y, is_complex, at[i].place);
        scale = fmax(scale, fmax(fabs(v.re), fabs(v.im)));
    }
    scale = scale > 0 ? ldexp(1, (int)fmax(ilogb(scale), -1000)) : 1;
    for (size_t i = 0; i < n; i++) {
        const ks_cplx v = value(y, is_complex, at[i].place);
        to[i] = (ks_cplx){v.re / scale, v.im / scale};
        d->mean.re += to[i].re / (double)n, d->mean.im += to[i].im / (double)n;
    }
    int equal = 1;
    for (size_t i = 1; i < n; i++) equal &= to[i].re == to[0].re && to[i].im == to[0].im;
    for (size_t i = 0; i < n; i++) {
        to[i].re -= d->mean.re, to[i].im -= d->mean.im;
        most = fmax(most, fmax(fabs(to[i].re), fabs(to[i].im)));
    }
    if (equal)
        return ks_fail(err, KSPEC_E_DATA, "all %zu values of y are %g: nothing is to be smoothed", n,
                       value(y, is_complex, at[0].place).re);
    const double unit = ldexp(1, ilogb(most));
    for (size_t i = 0; i < n; i++) to[i].re /= unit, to[i].im /= unit;
    d->mean.re *= scale, d->mean.im *= scale;
    d->unit = unit * scale;
    return KSPEC_OK;
}

kspec_status ks_smooth_take(size_t N, const double *x, const double *y, const kspec_wls_smooth_opts *o,
                            ks_arena *arena, ks_smooth_data *d, kspec_error *err) {
    *d = (ks_smooth_data){.is_complex = o->complex_data};
    kspec_status st = ks_check_pointer(err, y, "y");
    if (!st && N < 2) st = ks_fail(err, KSPEC_E_DATA, "%zu points, at least 2 are needed", N);
    if (!st && x) st = finite(x, N, "x", err);
    if (!st && o->at_count) st = ks_check_pointer(err, o->at, "at");
    if (!st && o->at) st = finite(o->at, o->at_count, "at", err);
    if (st) return st;
    point *at = ks_arena_alloc(arena, N, sizeof *at);
    double *xs = ks_arena_alloc(arena, N, sizeof *xs), *root = NULL;
    size_t *place = ks_arena_alloc(arena, N, sizeof *place);
    ks_cplx *ys = ks_arena_alloc(arena, N, sizeof *ys);
    if (o->weights) root = ks_arena_alloc(arena, N, sizeof *root);
    if (arena->failed) return ks_nomem(err, "the points", arena->failed);
    if ((st = take_points(x, y, N, o, at, &d->N, err))) return st;
    d->distinct = 1;
    for (size_t i = 0; i < d->N; i++) {
        xs[i] = at[i].x, place[i] = at[i].place;
        d->distinct += i && xs[i] > xs[i - 1];
    }
    if (d->distinct < 2)
        return ks_fail(err, KSPEC_E_DATA, "all %zu values of x are %g, at least 2 different ones are needed",
                       d->N, xs[0]);
    d->weight = 1;
    const int equal = !root || take_weights(o->weights, at, d->N, root, &d->weight);
    d->x = xs, d->y = ys, d->place = place, d->root_weight = equal ? NULL : root;
    d->step = equal && d->distinct == d->N && d->N > 2 ? step_of(xs, d->N) : 0;
    return take_values(y, d->is_complex, at, d->N, ys, d, err);
}
