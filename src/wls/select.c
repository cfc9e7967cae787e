/* Finds the p, or the weight, with the least expected error. */
#include "base/clock.h"
#include "base/error.h"
#include "team/team.h"
#include "wls/grid.h"

#include <math.h>

static double total(const ks_wls_errors *e) { return e->error_noise_free + e->error_noise; }

/* Allocates a result with one point, the best choice. */
static kspec_status give(const ks_wls_grid *g, size_t p, const ks_wls_errors *e, double start,
                         kspec_wls_result **out, kspec_error *err) {
    kspec_status st = ks_wls_result_new(g, &p, 1, out, err);
    if (st) return st;
    ks_wls_point_set((*out)->points[0], e);
    (*out)->seconds = ks_now() - start;
    return KSPEC_OK;
}

/* ---- p ---- */

/*
 * Computes the errors of every candidate, without variance, and sets *best to the first candidate with the
 * smallest error.
 */
static kspec_status search(const ks_run *run, const ks_wls_grid *g, const size_t *p, size_t n,
                           ks_wls_errors *e, size_t *best, kspec_error *err) {
    ks_wls_grid plain = *g;
    plain.no_variance = 1;
    kspec_status st = ks_wls_expect_all(run, &plain, p, n, e, err);
    *best = 0;
    for (size_t i = 1; i < n && !st; i++) {
        double difference = total(&e[i]) - total(&e[*best]);
        if (difference < 0 || (difference == 0 && p[i] < p[*best])) *best = i;
    }
    return st;
}

static kspec_status best_p(size_t N, const size_t *p, size_t count, const kspec_wls_opts *opts, ks_run *run,
                           kspec_wls_result **out, kspec_error *err) {
    double start = ks_now();
    ks_wls_grid g;
    kspec_status st = ks_wls_check(N, p, count, opts, &g, run, err);
    if (st) return st;
    size_t n = p ? count : g.P, best = 0, bytes = ks_size(n, sizeof(ks_wls_errors) + sizeof *p);
    if (n == 0) return ks_fail(err, KSPEC_E_ARG, "no values of p to choose from");
    if ((st = ks_check_memory(err, bytes, "a choice among %zu values of p", n))) return st;
    size_t *all = p ? NULL : ks_alloc(n, sizeof *all);
    ks_wls_errors *e = ks_alloc(n, sizeof *e), chosen = {0};
    if (!e || (!p && !all)) st = ks_nomem(err, "the values of p", bytes);
    for (size_t i = 0; i < n && all; i++) all[i] = i + 1;
    if (!st) st = search(run, &g, p ? p : all, n, e, &best, err);
    size_t at = st ? 0 : p ? p[best] : all[best];
    if (!st) chosen = e[best];
    ks_free(all);
    ks_free(e);
    /* also its variance */
    if (!st && !g.no_variance) st = ks_wls_expect_all(run, &g, &at, 1, &chosen, err);
    return st ? st : give(&g, at, &chosen, start, out, err);
}

/* Ends a call on all ranks. */
static kspec_status end(const ks_run *run, kspec_status st, kspec_wls_result **out, kspec_error *err) {
    st = ks_team_end(run->team, st, err);
    if (st) kspec_free(*out), *out = NULL;
    return st;
}

kspec_status kspec_wls_best_p(size_t N, const size_t *p, size_t count, const kspec_wls_opts *opts,
                              kspec_wls_result **out, kspec_error *err) {
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    ks_run run;
    kspec_status st = best_p(N, p, count, opts, &run, out, err);
    return end(&run, st, out, err);
}

/* ---- the weight ---- */

static void set_weight(ks_wls_grid *g, size_t p, double weight) {
    *(p < g->N ? &g->alpha : &g->beta) = weight;
}

/*
 * Computes the errors at one weight. If the weight is so steep that the recursion does not reach an accuracy
 * of 1e-6, the error counts as infinite, and the weight is never chosen.
 */
static kspec_status evaluate(const ks_run *run, const ks_wls_grid *g, size_t p, double weight,
                             ks_wls_errors *e, kspec_error *err) {
    ks_wls_grid with = *g;
    set_weight(&with, p, weight);
    kspec_status st = ks_wls_check_exponents(&with, err);
    ks_run quiet = {run->threads, {0}, 0, 1};
    if (!st) st = ks_wls_expect(&quiet, &with, &p, 1, 0, e, err);
    if (!st && !(e->accuracy <= 1e-6)) e->error_noise_free = INFINITY;
    return st;
}

enum { GRID = 25, STEPS = 40 };

/* Holds the best weight so far, and the interval around it. */
typedef struct {
    double at, low, high;
    ks_wls_errors e;
} choice;

static kspec_status on_grid(const ks_run *run, const ks_wls_grid *g, size_t p, double low, double high,
                            choice *best, kspec_error *err) {
    const double width = (high - low) / (GRID - 1);
    kspec_status st = KSPEC_OK;
    ks_wls_errors e = {0};
    for (int i = 0; i < GRID && !st; i++) {
        st = evaluate(run, g, p, low + i * width, &e, err);
        if (!st && (i == 0 || total(&e) < total(&best->e))) best->e = e, best->at = low + i * width;
        if (!st && ks_run_report(run, (double)i / (GRID + STEPS)))
            st = ks_fail(err, KSPEC_E_CANCELLED, "cancelled");
    }
    best->low = fmax(low, best->at - width), best->high = fmin(high, best->at + width);
    return st;
}

/*
 * Searches by golden sections between the neighbours of the best weight, down to `tolerance`. It keeps
 * only improvements.
 */
static kspec_status golden_sections(const ks_run *run, const ks_wls_grid *g, size_t p, double tolerance,
                                    choice *best, kspec_error *err) {
    const double golden = 0.61803398874989485;
    double a = best->low, b = best->high, x = b - golden * (b - a), y = a + golden * (b - a);
    ks_wls_errors ex = {0}, ey = {0};
    kspec_status st = evaluate(run, g, p, x, &ex, err);
    if (!st) st = evaluate(run, g, p, y, &ey, err);
    for (int i = 0; i < STEPS && b - a > tolerance && !st && p != g->N; i++) {
        if (total(&ex) <= total(&ey)) {
            b = y, y = x, ey = ex, x = b - golden * (b - a);
            st = evaluate(run, g, p, x, &ex, err);
        } else {
            a = x, x = y, ex = ey, y = a + golden * (b - a);
            st = evaluate(run, g, p, y, &ey, err);
        }
        if (!st && ks_run_report(run, (double)(GRID + i) / (GRID + STEPS)))
            st = ks_fail(err, KSPEC_E_CANCELLED, "cancelled");
    }
    if (!st && total(&ex) < total(&best->e)) best->e = ex, best->at = x;
    if (!st && total(&ey) < total(&best->e)) best->e = ey, best->at = y;
    return st;
}

static kspec_status best_weight(size_t N, size_t p, double low, double high, const kspec_wls_opts *opts,
                                ks_run *run, kspec_wls_result **out, kspec_error *err) {
    double start = ks_now();
    ks_wls_grid g, plain;
    choice best = {.at = low};
    kspec_status st = ks_wls_check(N, &p, 1, opts, &g, run, err);
    if (!st && !(isfinite(low) && isfinite(high) && low < high))
        st = ks_fail(err, KSPEC_E_ARG, "the interval of weights from %g to %g is empty", low, high);
    if (st) return st;
    plain = g;
    plain.no_variance = 1;
    st = on_grid(run, &plain, p, low, high, &best, err);
    if (!st) st = golden_sections(run, &plain, p, 1e-6 * (high - low), &best, err);
    if (!st && !isfinite(total(&best.e)))
        st = ks_fail(err, KSPEC_E_NUMERIC, "every weight from %g to %g is too steep", low, high);
    if (!st && !g.no_variance) st = evaluate(run, &g, p, best.at, &best.e, err);
    set_weight(&g, p, best.at);
    return st ? st : give(&g, p, &best.e, start, out, err);
}

kspec_status kspec_wls_best_weight(size_t N, size_t p, double low, double high, const kspec_wls_opts *opts,
                                   kspec_wls_result **out, kspec_error *err) {
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    ks_run run;
    kspec_status st = best_weight(N, p, low, high, opts, &run, out, err);
    return end(&run, st, out, err);
}
