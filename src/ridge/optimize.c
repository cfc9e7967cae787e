/* kspec_ridge_best_lambda() and kspec_ridge_best_features(): the least predicted test error. */
#include "base/error.h"
#include "ridge/predict.h"

#include <math.h>

/* A search: what it has solved, and the best so far */
typedef struct {
    kspec_ridge *r;
    ks_run run;
    ks_ridge_solved *solved;
    size_t count;
    double *columns;
    double expected, made; /* points, for progress */
    kspec_ridge_point best;
    kspec_error *err;
} search;

static kspec_status try(search *s, size_t N, double lambda, double *value) {
    kspec_ridge_point p;
    ks_run still = ks_ridge_still(&s->run, fmin(1, s->made++ / s->expected));
    kspec_status st = ks_ridge_point(s->r, &still, N, lambda, s->solved, &s->count, &p, s->columns, s->err);
    if (st) return st;
    *value = isfinite(p.test_mse) ? p.test_mse : INFINITY;
    if (!s->best.features || !(s->best.test_mse <= *value)) s->best = p;
    return KSPEC_OK;
}

/* ---- lambda ---- */

enum { PER_DECADE = 4, REFINE = 40 };

/* Brent's search for a minimum of f(log lambda) in [a,b], where f(x) is known: parabolas, or golden
   sections. */
static kspec_status brent(search *s, size_t N, double a, double b, double x, double fx) {
    const double golden = 0.3819660112501051, tolerance = 1e-3;
    double w = x, v = x, fw = fx, fv = fx, step = 0, before = 0;
    for (int k = 0; k < REFINE; k++) {
        double mid = (a + b) / 2;
        if (fabs(x - mid) <= 2 * tolerance - (b - a) / 2) break;
        double p = 0, q = 0;
        if (fabs(before) > tolerance) { /* through (x,fx), (w,fw), (v,fv) */
            double f = (x - w) * (fx - fv), g = (x - v) * (fx - fw);
            p = (x - v) * g - (x - w) * f;
            q = 2 * (g - f);
            if (q > 0) p = -p;
            q = fabs(q);
        }
        if (fabs(p) >= fabs(q * before / 2) || p <= q * (a - x) || p >= q * (b - x)) {
            before = x < mid ? b - x : a - x;
            step = golden * before;
        } else {
            before = step;
            step = p / q;
            if (x + step - a < 2 * tolerance || b - x - step < 2 * tolerance)
                step = x < mid ? tolerance : -tolerance;
        }
        double u = x + (fabs(step) >= tolerance ? step : copysign(tolerance, step)), fu;
        kspec_status st = try(s, N, exp(u), &fu);
        if (st) return st;
        if (fu <= fx) {
            *(u < x ? &b : &a) = x;
            v = w, fv = fw, w = x, fw = fx, x = u, fx = fu;
        } else {
            *(u < x ? &a : &b) = u;
            if (fu <= fw || w == x)
                v = w, fv = fw, w = u, fw = fu;
            else if (fu <= fv || v == x || v == w)
                v = u, fv = fu;
        }
    }
    return KSPEC_OK;
}

static kspec_status search_lambda(search *s, size_t N, double low, double high, size_t points) {
    double span = log(high / low), least = INFINITY;
    size_t best = 0;
    for (size_t k = 0; k < points; k++) { /* from high to low, both exactly */
        double lambda = k == 0            ? high
                        : k == points - 1 ? low
                                          : high * exp(-span * (double)k / (double)(points - 1));
        double value;
        kspec_status st = try(s, N, lambda, &value);
        if (st) return st;
        if (value < least) least = value, best = k;
    }
    double h = span / (double)(points - 1), x = log(high) - h * (double)best;
    if (best == 0 || best == points - 1) { /* inside the last interval; its end has been tried */
        double inside = best == 0 ? x - h / 2 : x + h / 2, value;
        kspec_status st = try(s, N, exp(inside), &value);
        if (st || value >= least) return st;
        return brent(s, N, best == 0 ? x - h : x, best == 0 ? x : x + h, inside, value);
    }
    return brent(s, N, x - h, x + h, x, least);
}

static kspec_status needs_test(const kspec_ridge *r, kspec_error *err) {
    return r->nt ? KSPEC_OK : ks_fail(err, KSPEC_E_ARG, "the least test error needs a test set");
}

/* Runs one search with its scratch; `points` is how many it can solve */
static kspec_status begin(search *s, kspec_ridge *r, size_t points, ks_arena *scratch, kspec_error *err) {
    *s = (search){.r = r, .err = err, .expected = (double)points};
    kspec_status st = ks_ridge_enter(r, &s->run, err);
    if (st) return st;
    s->solved = ks_arena_alloc(scratch, points, sizeof *s->solved);
    s->columns = ks_arena_alloc(scratch, ks_size(2, r->m), sizeof *s->columns);
    if (!scratch->failed) return KSPEC_OK;
    ks_ridge_leave();
    st = ks_nomem(err, "a search", scratch->failed);
    ks_arena_free(scratch);
    return st;
}

kspec_status kspec_ridge_best_lambda(kspec_ridge *r, size_t features, double low, double high,
                                     kspec_ridge_point *point, int *at_end, kspec_error *err) {
    ks_clear(err);
    kspec_status st = ks_ridge_check_features(features, err);
    if (!st) st = needs_test(r, err);
    if (!st) st = ks_ridge_check_lambda(low, err);
    if (!st) st = ks_ridge_check_lambda(high, err);
    if (!st && !(low > 0 && low < high))
        st = ks_fail(err, KSPEC_E_ARG, "lambda from %g to %g is no range above 0", low, high);
    if (st) return st;
    size_t points = (size_t)ceil(PER_DECADE * log10(high / low)) + 1;
    if (points < 3) points = 3;
    search s;
    ks_arena scratch = {0};
    if ((st = begin(&s, r, points + REFINE + 1, &scratch, err))) return st;
    st = search_lambda(&s, features, low, high, points);
    ks_arena_free(&scratch);
    ks_ridge_leave();
    if (st) return st;
    *point = s.best;
    *at_end = s.best.lambda == low ? -1 : s.best.lambda == high;
    return KSPEC_OK;
}

/* ---- features ---- */

double kspec_ridge_cost(const kspec_ridge *r, size_t features) {
    double N2 = 2 * (double)features, n = (double)r->n, nt = (double)r->nt, d = fmin(N2, n), e = fmax(N2, n);
    return (n + nt) * (double)r->p * N2 / 2 + d * (d + 1) / 2 * e + d * d * d / 6 +
           (double)r->m * N2 * (n + nt);
}

/* One point with features of its own: nothing solved before serves */
static kspec_status try_features(search *s, size_t N, double lambda, double *value) {
    s->count = 0;
    return try(s, N, lambda, value);
}

/*
 * The numbers on a geometric grid up to `most`; then, between the neighbours of the best, the middles of both
 * sides until nothing is left between.
 */
static kspec_status search_features(search *s, double lambda, size_t most, double ratio) {
    size_t low = 0, high = 0, best = 0, last = 0; /* 0: no neighbour */
    double least = INFINITY, value;
    kspec_status st;
    for (double g = 1;; g *= ratio) {
        size_t N = g >= (double)most ? most : (size_t)(g + 0.5);
        if (N != last) {
            if ((st = try_features(s, N, lambda, &value))) return st;
            if (value < least)
                least = value, best = N, low = last, high = 0;
            else if (last == best)
                high = N;
        }
        last = N;
        if (N == most) break;
    }
    for (;;) {
        size_t left = low && best - low > 1 ? best - (best - low) / 2 : 0;
        size_t right = high && high - best > 1 ? best + (high - best) / 2 : 0;
        size_t from = best;
        if (!left && !right) return KSPEC_OK;
        if (left) {
            if ((st = try_features(s, left, lambda, &value))) return st;
            if (value < least)
                least = value, high = best, best = left;
            else
                low = left;
        }
        if (right && best == from) {
            if ((st = try_features(s, right, lambda, &value))) return st;
            if (value < least)
                least = value, low = best, best = right;
            else
                high = right;
        }
    }
}

kspec_status kspec_ridge_best_features(kspec_ridge *r, double lambda, double cost_limit,
                                       kspec_ridge_point *point, int *at_limit, kspec_error *err) {
    ks_clear(err);
    kspec_status st = ks_ridge_check_lambda(lambda, err);
    if (!st) st = needs_test(r, err);
    if (!st && !(cost_limit >= kspec_ridge_cost(r, 1) && isfinite(cost_limit)))
        st =
            ks_fail(err, KSPEC_E_ARG, "cost limit %g is not a number of at least %g, the cost of one feature",
                    cost_limit, kspec_ridge_cost(r, 1));
    if (st) return st;
    size_t low = 1, high = 1000000000; /* cost(low) <= limit */
    while (low < high) {
        size_t mid = low + (high - low + 1) / 2;
        if (kspec_ridge_cost(r, mid) <= cost_limit)
            low = mid;
        else
            high = mid - 1;
    }
    search s;
    ks_arena scratch = {0};
    if ((st = begin(&s, r, (size_t)(16 * log10((double)low)) + 20, &scratch, err))) return st;
    st = search_features(&s, lambda, low, pow(10, 1.0 / 16));
    ks_arena_free(&scratch);
    ks_ridge_leave();
    if (st) return st;
    *point = s.best;
    *at_limit = s.best.features == low;
    return KSPEC_OK;
}
