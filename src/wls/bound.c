/*
 * Theorem 5.1: the error bound for features with smoothing. It uses t_k <= p for k < p, and t_k > p for k
 * >= p. With these two facts it bounds each sum term by term.
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/result.h"
#include "wls/grid.h"

#include <math.h>

static kspec_status check(const ks_wls_grid *g, double zeta, const size_t *p, size_t count,
                          kspec_error *err) {
    if (!(g->alpha >= 0)) return ks_fail(err, KSPEC_E_ARG, "alpha %g is below 0", g->alpha);
    if (!(g->beta > 0)) return ks_fail(err, KSPEC_E_ARG, "beta %g is not above 0", g->beta);
    if (!(zeta > g->alpha) || !(2 * zeta * log((double)g->P) < 650))
        return ks_fail(err, KSPEC_E_ARG,
                       "zeta %g is not above alpha %g, or P^(2 zeta) exceeds the largest double", zeta,
                       g->alpha);
    for (size_t i = 0; i < count; i++)
        if (p[i] > g->N)
            return ks_fail(err, KSPEC_E_ARG, "p = %zu exceeds the N = %zu data there are", p[i], g->N);
    return KSPEC_OK;
}

/* The bound balances two errors against each other: E|L^alpha delta|^2 and E|L^beta theta|^2. */
typedef struct {
    double noise, signal;
} norms;

static void fill(const ks_wls_grid *g, double zeta, double prior, norms size, const ks_wls_place *at,
                 kspec_wls_bound_result *r) {
    /* The error has two parts: noise in the inverted modes, and the modes that are not inverted. */
    double below = 0, above = 0;
    for (size_t k = 0, i = 0; i < r->count; k++) {
        for (; i < r->count && at[i].p == k; i++) {
            double q = (double)k;
            *r->points[at[i].index] = (kspec_wls_bound_point){
                k, below, pow(q, 2 * (zeta - g->alpha)) * size.noise + pow(q, -2 * g->beta) * size.signal};
        }
        below += g->noise * g->noise * ks_wls_power(k, 2 * zeta);
    }
    for (size_t k = g->P, i = r->count; i > 0; k--) {
        for (; i > 0 && at[i - 1].p == k; i--) r->points[at[i - 1].index]->error += above;
        if (k > 0) above += ks_wls_power(k - 1, -2 * g->gamma) / prior;
    }
    double e = 1 / (2 * (zeta + g->beta - g->alpha)), ratio = size.signal / size.noise;
    r->theorem_p = pow(ratio, e);
    r->least_p = pow(ratio * g->beta / (zeta - g->alpha), e);
}

static kspec_status make(const ks_wls_grid *g, double zeta, const size_t *p, size_t count,
                         kspec_wls_bound_result **out, kspec_error *err) {
    double prior = ks_wls_prior_sum(g);
    norms size = {0, 0};
    for (size_t k = g->N; k-- > 0;) size.noise += g->noise * g->noise * ks_wls_power(k, 2 * g->alpha);
    for (size_t k = g->P; k-- > 0;) size.signal += ks_wls_power(k, 2 * (g->beta - g->gamma)) / prior;
    if (!isfinite(size.signal) || !isfinite(size.noise))
        return ks_fail(err, KSPEC_E_NUMERIC, "the weighted norms exceed the largest double");
    kspec_wls_bound_result *r = ks_result_new(sizeof *r);
    ks_wls_place *at = ks_alloc(count, sizeof *at);
    if (r) r->points = ks_arena_list(ks_result_arena(r), count, sizeof **r->points);
    if (!at || !r || !r->points) {
        ks_free(at);
        kspec_free(r);
        return ks_nomem(err, "the points", ks_size(count, sizeof(kspec_wls_bound_point) + sizeof *at));
    }
    r->N = g->N, r->P = g->P, r->count = count;
    ks_wls_sort(p, count, SIZE_MAX, KSPEC_WLS_REGIME_UNDER, at);
    fill(g, zeta, prior, size, at, r);
    ks_free(at);
    *out = r;
    return KSPEC_OK;
}

kspec_status kspec_wls_bound(size_t N, double zeta, double beta, const size_t *p, size_t count,
                             const kspec_wls_opts *opts, kspec_wls_bound_result **out, kspec_error *err) {
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    double start = ks_now();
    ks_wls_grid g;
    ks_run run;
    kspec_status st = ks_wls_check(N, p, count, opts, &g, &run, err);
    if (st) return st;
    g.beta = beta;
    st = ks_wls_check_exponents(&g, err);
    if (!st) st = check(&g, zeta, p, count, err);
    if (!st) st = make(&g, zeta, p, count, out, err);
    if (!st) (*out)->seconds = ks_now() - start;
    return st;
}
