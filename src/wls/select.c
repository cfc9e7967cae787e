/* The p, or the weight, of least expected error. */
#include "base/error.h"
#include "wls/grid.h"

#include <math.h>
#include <string.h>

static double total(const kspec_wls_point *q) { return q->error_noise_free + q->error_noise; }

kspec_status kspec_wls_best_p(const kspec_wls_opts *opts, const size_t *p, size_t count,
                              kspec_wls_point *best, kspec_error *err) {
    ks_clear(err);
    memset(best, 0, sizeof *best);
    kspec_wls_opts o;
    kspec_status st = ks_wls_check(opts, p, p ? count : 0, &o, err);
    if (st) return st;
    size_t n = p ? count : o.P, at = 0, bytes = ks_size(n, sizeof *best + sizeof *p),
           have = ks_memory_available();
    if (n == 0) return ks_fail(err, KSPEC_E_ARG, "no values of p to choose from");
    if (bytes > have)
        return ks_fail(err, KSPEC_E_NOMEM,
                       "a choice among %zu values of p needs %zu MB, %zu MB are available", n, bytes >> 20,
                       have >> 20);
    size_t *all = p ? NULL : ks_alloc(n, sizeof *all);
    kspec_wls_point *points = ks_alloc(n, sizeof *points);
    if (!points || (!p && !all)) st = ks_nomem(err, "the values of p", bytes);
    for (size_t i = 0; i < n && all; i++) all[i] = i + 1;
    int variance = !o.no_variance;
    o.no_variance = 1;
    if (!st) st = kspec_wls_theory(&o, p ? p : all, n, points, err);
    for (size_t i = 1; i < n && !st; i++)
        if (total(&points[i]) < total(&points[at]) ||
            (total(&points[i]) == total(&points[at]) && points[i].p < points[at].p))
            at = i;
    if (!st) *best = points[at];
    ks_free(all);
    ks_free(points);
    if (st || !variance) return st;
    size_t chosen = best->p; /* its variance, too */
    o.no_variance = 0;
    return kspec_wls_theory(&o, &chosen, 1, best, err);
}

/*
 * The point at one weight: alpha where p < N, beta elsewhere. A weight so steep that the recursion does not reach 1e-6
 * is not to be chosen: it counts as infinitely bad.
 */
static kspec_status evaluate(const ks_run *run, const kspec_wls_opts *o, size_t p, double weight,
                             kspec_wls_point *q, kspec_error *err) {
    kspec_wls_opts at;
    kspec_wls_opts with = *o;
    *(p < o->N ? &with.alpha : &with.beta) = weight;
    kspec_status st = ks_wls_check(&with, &p, 1, &at, err);
    ks_run quiet = {run->threads, {0}, 0, 1};
    if (!st) st = ks_wls_points(&quiet, &at, &p, 1, 0, q, err);
    if (!st && !(q->accuracy <= 1e-6)) q->error_noise_free = INFINITY;
    return st;
}

kspec_status kspec_wls_best_weight(const kspec_wls_opts *opts, size_t p, double low, double high,
                                   double *weight, kspec_wls_point *best, kspec_error *err) {
    ks_clear(err);
    memset(best, 0, sizeof *best);
    *weight = 0;
    kspec_wls_opts o;
    ks_run run;
    kspec_status st = ks_wls_check(opts, &p, 1, &o, err);
    if (!st) st = ks_run_init(&run, o.threads, o.progress, err);
    if (!st && !(isfinite(low) && isfinite(high) && low < high))
        st = ks_fail(err, KSPEC_E_ARG, "the interval of weights from %g to %g is empty", low, high);
    if (st) return st;
    const int variance = !o.no_variance;
    o.no_variance = 1;

    enum { GRID = 25, STEPS = 40 };
    const double golden = 0.61803398874989485, width = (high - low) / (GRID - 1);
    double at = low;
    kspec_wls_point q = {0};
    for (int i = 0; i < GRID && !st; i++) {
        st = evaluate(&run, &o, p, low + i * width, &q, err);
        if (!st && (i == 0 || total(&q) < total(best))) *best = q, at = low + i * width;
        if (!st && ks_run_report(&run, (double)i / (GRID + STEPS)))
            st = ks_fail(err, KSPEC_E_CANCELLED, "cancelled");
    }
    /* golden section between the neighbours of the best; whatever it finds must be better than that */
    double a = fmax(low, at - width), b = fmin(high, at + width), x = b - golden * (b - a),
           y = a + golden * (b - a);
    kspec_wls_point qx = {0}, qy = {0};
    if (!st) st = evaluate(&run, &o, p, x, &qx, err);
    if (!st) st = evaluate(&run, &o, p, y, &qy, err);
    for (int i = 0; i < STEPS && b - a > 1e-6 * (high - low) && !st && p != o.N; i++) {
        if (total(&qx) <= total(&qy)) {
            b = y, y = x, qy = qx, x = b - golden * (b - a);
            st = evaluate(&run, &o, p, x, &qx, err);
        } else {
            a = x, x = y, qx = qy, y = a + golden * (b - a);
            st = evaluate(&run, &o, p, y, &qy, err);
        }
        if (!st && ks_run_report(&run, (double)(GRID + i) / (GRID + STEPS)))
            st = ks_fail(err, KSPEC_E_CANCELLED, "cancelled");
    }
    if (!st && total(&qx) < total(best)) *best = qx, at = x;
    if (!st && total(&qy) < total(best)) *best = qy, at = y;
    o.no_variance = !variance;
    if (!st && !isfinite(total(best)))
        st = ks_fail(err, KSPEC_E_NUMERIC, "every weight from %g to %g is too steep", low, high);
    if (!st && variance) st = evaluate(&run, &o, p, at, best, err);
    if (st)
        memset(best, 0, sizeof *best);
    else
        *weight = at;
    return st;
}
