/* Fits all families of spectra, averages them, and computes medians and intervals of the eigenvalues. */
#include "fit/fit.h"

#include "base/error.h"
#include "base/sort.h"
#include "fit/mixture.h"

#include <math.h>
#include <string.h>

/* ---- weights ---- */

/* Do both families have an end, and differ in nothing else? */
static int other_end(const ks_problem *p, const ks_family *f, const ks_family *g) {
    ks_family h = *g;
    h.end = f->end;
    return f->end != g->end && f->end < p->end && g->end < p->end && ks_family_same(f, &h);
}

/* Returns the logarithm of the range that one end represents. On each side the range extends half-way to
 * the next end that was tried, but by at most one step of KS_ENDS. With this factor, trying more ends
 * does not increase the total weight of the ends. */
static double log_part(const ks_problem *p, size_t n, ks_mode *const *m, size_t k) {
    const ks_family *f = &m[k]->family;
    if (f->end >= p->end) return 0;
    double up = KS_END_UNIT, down = KS_END_UNIT;
    for (size_t l = 0; l < n; l++) {
        if (!other_end(p, f, &m[l]->family)) continue;
        double far = log((double)m[l]->family.end / (double)f->end);
        if (far > 0) up = fmin(up, far);
        if (far < 0) down = fmin(down, -far);
    }
    return log(0.5 * (up + down) / KS_END_UNIT);
}

/*
 * Weighs the trustworthy modes, or all modes if none is trustworthy. Drops negligible modes and sorts the
 * others, best first.
 */
static kspec_status weigh(ks_fitted *f, kspec_error *err) {
    ks_search *s = &f->search;
    ks_mode *m[KS_MODES_MAX];
    double log_weight[KS_MODES_MAX], weight[KS_MODES_MAX], sum = 0;
    size_t n = 0, order[KS_MODES_MAX];
    int least = 1;
    for (size_t k = 0; k < s->count; k++)
        if (s->modes[k].found == 2) least = 2;
    for (size_t k = 0; k < s->count; k++)
        if (s->modes[k].found >= least) m[n++] = &s->modes[k];
    if (!n)
        return ks_fail(err, KSPEC_E_NUMERIC, "no family of spectra could be fitted to %zu eigenvalues",
                       f->p.o->used);
    for (size_t k = 0; k < n; k++) log_weight[k] = m[k]->log_weight + log_part(&f->p, n, m, k);
    ks_mixture_weights(n, log_weight, weight);
    ks_order_descending(weight, n, order);
    for (f->count = 0; f->count < n; f->count++) {
        size_t k = order[f->count];
        if (!(weight[k] > KS_NEGLIGIBLE * weight[order[0]])) break;
        f->modes[f->count] = m[k];
        sum += f->weight[f->count] = weight[k];
    }
    for (size_t k = 0; k < f->count; k++) f->weight[k] /= sum;
    return KSPEC_OK;
}

/* ---- averages ---- */

/* Computes the quantile `level` of each node's mixture, with standard deviations multiplied by `wider`. */
static void quantiles(const ks_fitted *f, size_t n, double level, double wider, double *out) {
    double mean[KS_MODES_MAX], sd[KS_MODES_MAX];
    for (size_t l = 0; l < n; l++) {
        for (size_t k = 0; k < f->count; k++) {
            mean[k] = f->modes[k]->theta[l];
            sd[k] = wider * sqrt(f->modes[k]->variance[l]);
        }
        out[l] = ks_mixture_quantile(f->count, f->weight, mean, sd, 1, level);
    }
}

/*
 * Takes medians of the eigenvalues. The mean over families would include the logarithm of 0 for families that
 * have ended.
 */
static void take_medians(ks_fitted *f) {
    quantiles(f, f->p.N, 0.5, 1, f->theta);
    for (size_t l = 1; l < f->p.n; l++) f->theta[l] = fmin(f->theta[l], f->theta[l - 1]);
    for (size_t l = 0; l < f->p.n; l++)
        if (f->theta[l] < log(1e-20)) f->theta[l] = KS_NOTHING;
}

/*
 * Computes 95% intervals from quantiles of the mixture. The mean of the sample's i largest eigenvalues also
 * bounds eigenvalue i, since sum_{j<=i} lambda_j <= E sum_{j<=i} s_j.
 */
static void take_intervals(ks_fitted *f) {
    const ks_observed *o = f->p.o;
    const double *s = o->x->d.s;
    size_t n = f->p.n, K = o->K, m = o->m, next = 0;
    double sum = 0;
    const double wider = o->x->d.columns ? KS_WIDER_COLUMNS : KS_WIDER;
    quantiles(f, n, 0.025, wider, f->low);
    quantiles(f, n, 0.975, wider, f->high);
    for (size_t l = 0; l < n; l++) {
        f->low[l] = fmin(f->low[l], f->theta[l]);
        f->high[l] = fmax(f->high[l], f->theta[l]);
    }
    for (size_t i = 0; i < K; i++) {
        double variance = 0;
        for (; next <= o->at[i]; next++) sum += s[next];
        for (size_t j = 0; j <= i; j++)
            for (size_t k = 0; k <= i; k++)
                variance += s[o->at[j]] * o->size[j] * s[o->at[k]] * o->size[k] * o->V[j * m + k];
        /*
         * If the sample is all noise, the spread of `sum` is unknown, so the spread is limited to a factor of
         * 4.
         */
        double spread = fmin(1.96 * sqrt(fmax(variance, 0)) / sum, log(4));
        double cap = log(sum / (double)(o->at[i] + 1)) + spread;
        f->high[i] = fmax(fmin(f->high[i], cap), f->theta[i]);
    }
    for (size_t l = 1; l < n; l++) f->high[l] = fmin(f->high[l], f->high[l - 1]);
    for (size_t l = n - 1; l-- > 0;) f->low[l] = fmax(f->low[l], f->low[l + 1]);
}

/*
 * Returns the median over families of the number of eigenvalues, for a spectrum that ends with the n-th node.
 */
static size_t end_of(const ks_fitted *f, size_t n) {
    const ks_problem *p = &f->p;
    size_t end = p->before[n];
    for (size_t tried = end; tried > p->before[n - 1]; tried--) {
        double all = 0, below = 0;
        for (size_t k = 0; k < f->count; k++) {
            size_t own = f->modes[k]->family.end;
            if (own <= p->before[n - 1]) continue;
            all += f->weight[k];
            if (own < tried) below += f->weight[k];
        }
        if (2 * below < all) return tried;
    }
    return end;
}

/* Interpolates a list linearly from the nodes' positions to every eigenvalue. */
static void expand(const ks_fitted *f, const double *theta, double *out) {
    const ks_problem *p = &f->p;
    size_t n = 0, l = 0;
    while (n < p->n && theta[n] > -40) n++;
    size_t end = n ? end_of(f, n) : 0;
    for (size_t i = 0; i < p->end; i++) {
        double at = (double)(i + 1);
        while (l + 2 < n && p->position[l + 1] < at) l++;
        if (i >= end)
            out[i] = -INFINITY;
        else if (n < 2 || at <= p->position[0])
            out[i] = theta[0];
        else if (at >= p->position[n - 1])
            out[i] = theta[n - 1];
        else
            out[i] = theta[l] + (theta[l + 1] - theta[l]) * (at - p->position[l]) /
                                    (p->position[l + 1] - p->position[l]);
    }
}

/* ---- fit ---- */

static kspec_status prepare(const ks_run *run, ks_fitted *f, ks_arena *arena, kspec_error *err) {
    size_t n = f->p.n, end = f->p.end;
    kspec_status st = ks_search_init(run, &f->search, &f->p, arena, err);
    if (st) return st;
    f->modes = ks_arena_alloc(arena, KS_MODES_MAX, sizeof *f->modes);
    f->weight = ks_arena_alloc(arena, KS_MODES_MAX, sizeof *f->weight);
    f->theta = ks_arena_alloc(arena, 3 * n + 1, sizeof *f->theta);
    f->log_lambda = ks_arena_alloc(arena, ks_size(3, end), sizeof *f->log_lambda);
    if (arena->failed) return ks_nomem(err, "the fitted spectrum", arena->failed);
    f->low = f->theta + f->p.N;
    f->high = f->low + n;
    f->log_low = f->log_lambda + end;
    f->log_high = f->log_low + end;
    return KSPEC_OK;
}

/*
 * Computes the data's errors at a spectrum, finds the families that explain the data, and takes their
 * medians.
 */
static kspec_status pass(const ks_run *run, ks_fitted *f, ks_observed *o, int last, ks_arena *arena,
                         kspec_error *err) {
    ks_cplx *log_c = ks_arena_alloc(arena, o->K, sizeof *log_c);
    double *start = ks_arena_alloc(arena, f->p.N, sizeof *start);
    if (arena->failed) return ks_nomem(err, "the fitted spectrum", arena->failed);
    ks_spectrum s = ks_mode_spectrum(&f->p, &f->search.work[0], f->theta);
    kspec_status st = ks_observed_errors(o, &s, log_c, err);
    for (size_t l = 0; l < f->p.N; l++) start[l] = fmax(f->theta[l], -46);
    if (!st) st = ks_search_run(run, &f->search, start, log_c, last, err);
    if (!st) st = weigh(f, err);
    if (!st) take_medians(f);
    return st;
}

kspec_status ks_fit_families(const ks_run *run, ks_observed *o, double noise, double noise_error,
                             ks_arena *arena, ks_fitted *out, kspec_error *err) {
    const ks_simd *simd;
    kspec_status st = ks_simd_choose(&simd, err);
    *out = (ks_fitted){0};
    if (!st) st = ks_problem_init(&out->p, o, noise, noise_error, simd, arena, err);
    if (!st) st = prepare(run, out, arena, err);
    if (st) return st;
    ks_problem_start(&out->p, out->theta);
    for (int last = 0; last < 2 && !st; last++) {
        ks_run part = ks_run_part(run, last ? 0.2 : 0, last ? 1 : 0.2);
        st = pass(&part, out, o, last, arena, err);
    }
    if (st) return st;
    take_intervals(out);
    expand(out, out->theta, out->log_lambda);
    expand(out, out->low, out->log_low);
    expand(out, out->high, out->log_high);
    return KSPEC_OK;
}
