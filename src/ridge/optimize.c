/* kspec_ridge_best_lambda() and kspec_ridge_best_features(): search for the least predicted test error. */
#include "base/error.h"
#include "ridge/activation.h"
#include "ridge/call.h"
#include "ridge/predict.h"
#include "team/team.h"

#include <math.h>

/* Holds the state of a search: the solved points, and the best point so far. */
typedef struct {
    kspec_ridge *r;
    ks_run run;
    ks_ridge_solved *solved;
    size_t count;
    double expected, made; /* for progress reports: the numbers of expected and of computed points */
    /* points[0] is the best so far, points[1] the current trial; a better trial replaces the best */
    kspec_ridge_result *result;
    kspec_error *err;
} search;

static kspec_status try(search *s, size_t N, double lambda, double *value) {
    kspec_ridge_point **best = &s->result->points[0], **p = &s->result->points[1];
    ks_run still = ks_ridge_still(&s->run, fmin(1, s->made++ / s->expected));
    kspec_status st = ks_ridge_point(s->r, &still, N, lambda, s->solved, &s->count, *p, s->err);
    if (st) return st;
    *value = isfinite((*p)->test_mse) ? (*p)->test_mse : INFINITY;
    if (!(*best)->N || !((*best)->test_mse <= *value)) {
        kspec_ridge_point *swap = *best;
        *best = *p;
        *p = swap;
    }
    return KSPEC_OK;
}

/*
 * Describes the range of a search. It tries `points` values of lambda from low to high for N, or values of
 * N up to `most` for lambda = low. The search solves at most `room` points.
 */
typedef struct task {
    kspec_status (*run)(search *, const struct task *);
    size_t N, most, points, room;
    double low, high;
} task;

/* ---- lambda ---- */

enum { PER_DECADE = 4, REFINE = 40 };

/*
 * Runs Brent's search for a minimum of f(log lambda) in [a,b], where f(x) is known. It uses parabolas or
 * golden sections.
 */
static kspec_status brent(search *s, size_t N, double a, double b, double x, double fx) {
    const double golden = 0.3819660112501051, tolerance = 1e-3;
    double w = x, v = x, fw = fx, fv = fx, step = 0, before = 0;
    for (int k = 0; k < REFINE; k++) {
        double mid = (a + b) / 2;
        if (fabs(x - mid) <= 2 * tolerance - (b - a) / 2) break;
        double p = 0, q = 0;
        if (fabs(before) > tolerance) { /* Fits a parabola through (x,fx), (w,fw), (v,fv). */
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

static kspec_status search_lambda(search *s, const task *t) {
    double low = t->low, high = t->high, span = log(high / low), least = INFINITY;
    size_t N = t->N, points = t->points, best = 0;
    for (size_t k = 0; k < points; k++) { /* The grid runs from high to low, and hits both ends exactly. */
        double lambda = k == 0            ? high
                        : k == points - 1 ? low
                                          : high * exp(-span * (double)k / (double)(points - 1));
        double value;
        kspec_status st = try(s, N, lambda, &value);
        if (st) return st;
        if (value < least) least = value, best = k;
    }
    double h = span / (double)(points - 1), x = log(high) - h * (double)best;
    /* The minimum may lie inside the last interval, because the search has tried only its end. */
    if (best == 0 || best == points - 1) {
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

/* Runs a search and returns its best point as the only point of the result. */
static kspec_status make_search(kspec_ridge *r, const ks_run *run, void *ctx, kspec_ridge_result *result,
                                kspec_error *err) {
    const task *t = ctx;
    search s = {.r = r, .run = *run, .result = result, .err = err, .expected = (double)t->room};
    s.solved = ks_alloc(t->room, sizeof *s.solved);
    if (!s.solved) return ks_nomem(err, "a search", ks_size(t->room, sizeof *s.solved));
    kspec_status st = t->run(&s, t);
    ks_free(s.solved);
    result->count = 1;
    const kspec_ridge_point *best = result->points[0];
    result->at_low = !t->most && best->lambda == t->low;
    result->at_high = t->most ? best->N == t->most : best->lambda == t->high;
    return st;
}

static kspec_status run_search(kspec_ridge *r, task *t, kspec_ridge_result **out, kspec_error *err) {
    return ks_ridge_call(r, &(ks_ridge_task){2, (double)t->room / 2, make_search, t}, out, err);
}

kspec_status kspec_ridge_best_lambda(kspec_ridge *r, size_t N, double low, double high,
                                     kspec_ridge_result **out, kspec_error *err) {
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    kspec_status st = ks_check_pointer(err, r, "the plan");
    if (!st) st = ks_ridge_check_N(N, err);
    if (!st) st = needs_test(r, err);
    if (!st) st = ks_ridge_check_lambda(r, low, err);
    if (!st) st = ks_ridge_check_lambda(r, high, err);
    if (!st && !(low > 0 && low < high))
        st = ks_fail(err, KSPEC_E_ARG, "lambda from %g to %g: the range must be above 0 and increase", low,
                     high);
    if (st) return r ? ks_team_end(r->o.team, st, err) : st;
    task t = {.run = search_lambda, .N = N, .low = low, .high = high};
    t.points = (size_t)ceil(PER_DECADE * log10(high / low)) + 1;
    if (t.points < 3) t.points = 3;
    t.room = t.points + REFINE + 1;
    return run_search(r, &t, out, err);
}

/* ---- features ---- */

double kspec_ridge_cost(const kspec_ridge *r, size_t N) {
    if (!r) return NAN;
    double N2 = (double)(ks_activation_width(r->o.activation) * N), n = (double)r->n, nt = (double)r->nt,
           d = fmin(N2, n), e = fmax(N2, n);
    return (n + nt) * (double)r->p * (double)N + d * (d + 1) / 2 * e + d * d * d / 6 +
           (double)r->m * N2 * (n + nt);
}

/* Tries one value of N. The earlier points have another N, so they cannot serve as starts. */
static kspec_status try_features(search *s, size_t N, double lambda, double *value) {
    s->count = 0;
    return try(s, N, lambda, value);
}

/*
 * Tries the values of N on a geometric grid up to `most`. Then it halves the intervals on both sides of
 * the best N until no integer is left between its neighbours.
 */
static kspec_status search_features(search *s, const task *t) {
    size_t most = t->most, low = 0, high = 0, best = 0, last = 0; /* 0: no neighbour */
    double lambda = t->low, ratio = pow(10, 1.0 / 16), least = INFINITY, value;
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

/* Returns the largest N whose cost is within the limit, at least 1. */
static size_t most_features(const kspec_ridge *r, double cost_limit) {
    size_t low = 1, high = 1000000000;
    while (low < high) {
        size_t mid = low + (high - low + 1) / 2;
        if (kspec_ridge_cost(r, mid) <= cost_limit)
            low = mid;
        else
            high = mid - 1;
    }
    return low;
}

kspec_status kspec_ridge_best_features(kspec_ridge *r, double lambda, double cost_limit,
                                       kspec_ridge_result **out, kspec_error *err) {
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    kspec_status st = ks_check_pointer(err, r, "the plan");
    if (!st) st = ks_ridge_check_lambda(r, lambda, err);
    if (!st) st = needs_test(r, err);
    if (!st && !(cost_limit >= kspec_ridge_cost(r, 1) && isfinite(cost_limit)))
        st = ks_fail(err, KSPEC_E_ARG, "cost limit %g is below %g, the cost of one feature", cost_limit,
                     kspec_ridge_cost(r, 1));
    if (st) return r ? ks_team_end(r->o.team, st, err) : st;
    task t = {.run = search_features, .most = most_features(r, cost_limit), .low = lambda};
    t.room = (size_t)(16 * log10((double)t.most)) + 20;
    return run_search(r, &t, out, err);
}
