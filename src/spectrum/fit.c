#include "spectrum/fit.h"

#include "base/error.h"
#include "base/sort.h"
#include "linalg/linalg.h"
#include "spectrum/mixture.h"

#include <math.h>
#include <string.h>

/*
 * Families in chunks of their own, each warm-started by the one before it, so that the result does not depend
 * on the number of threads: smooth ones by coordinate; then steps, spikes, and breaks by coordinate.
 */
enum {
    SMOOTH = KS_ROUGHNESS_COUNT * KS_CURVATURE_COUNT,
    CANDIDATES = 6, /* places of 1, 2 and 3 cuts */
    STEPS = KS_STEPS_MAX + 1,
    BROKEN = KS_BREAKS_MAX * CANDIDATES,
    FLAT_FROM = KS_COORDINATE_COUNT * SMOOTH,
    SPIKES_FROM = FLAT_FROM + STEPS,
    BROKEN_FROM = SPIKES_FROM + KS_SPIKES_MAX,
    MODES = BROKEN_FROM + KS_COORDINATE_COUNT * BROKEN
};

typedef struct {
    ks_problem *p;
    ks_mode modes[MODES];
    ks_mode_work *work;
    /* N and K: where families start from; NaN: no guess */
    double *theta;
    ks_cplx *log_kappa, *nothing;
    /* the roughest smooth family, its best segmentations, and the places of their cuts, increasing */
    const ks_mode *rough;
    size_t segmentations, cut[STEPS][KS_STEPS_MAX], candidates, place[CANDIDATES];
    double *scratch;
} search;

static kspec_status smooth_chunk(void *ctx, size_t c, const ks_worker *worker) {
    search *s = ctx;
    const double *theta = s->theta;
    const ks_cplx *log_kappa = s->log_kappa;
    ks_mode *m = s->modes + c * SMOOTH;
    for (size_t r = 0; r < KS_ROUGHNESS_COUNT; r++)
        for (size_t k = 0; k < KS_CURVATURE_COUNT; k++, m++) {
            m->family = (ks_family){.c = c,
                                    .curvature = KS_CURVATURE[k],
                                    .roughness = KS_ROUGHNESS[r],
                                    .log_weight = KS_CURVATURE_WEIGHT[k]};
            ks_mode_find(s->p, &s->work[worker->index], theta, log_kappa, m);
            if (m->found) theta = m->theta, log_kappa = m->log_kappa;
        }
    return KSPEC_OK;
}

/* The best by evidence among modes [from, to) that can be trusted; NULL if none. */
static const ks_mode *best(const search *s, size_t from, size_t to, double curvature) {
    const ks_mode *top = NULL;
    for (const ks_mode *m = s->modes + from; m < s->modes + to; m++)
        if (m->found == 2 && m->family.curvature >= curvature && (!top || m->evidence > top->evidence))
            top = m;
    return top;
}

/* Steps after the given nodes, from the means of the roughest family between them. */
static void find_flat(search *s, size_t breaks, const size_t *at, double cost, ks_mode_work *w, ks_mode *m) {
    size_t K = s->p->o->K, first = 0;
    m->family = (ks_family){.flat = 1, .breaks = breaks, .log_weight = KS_FLAT_BONUS - cost * (double)breaks};
    if (breaks) memcpy(m->family.at, at, breaks * sizeof *at);
    memcpy(m->theta, s->rough->theta, s->p->N * sizeof *m->theta);
    for (size_t b = 0; b <= breaks; b++) {
        size_t last = b < breaks ? at[b] : K - 1;
        double mean = 0;
        for (size_t k = first; k <= last; k++) mean += s->rough->theta[k] / (double)(last - first + 1);
        for (size_t k = first; k <= last; k++) m->theta[k] = mean;
        first = last + 1;
    }
    ks_mode_find(s->p, w, m->theta, s->nothing, m);
}

/* One piece more at a time, until two in a row have not helped. */
static void steps_chunk(search *s, ks_mode_work *w) {
    double top = -INFINITY;
    int misses = 0;
    for (size_t k = 0; k < s->segmentations && misses < 2; k++) {
        ks_mode *m = s->modes + FLAT_FROM + k;
        find_flat(s, k, s->cut[k], KS_BREAK_COST, w, m);
        if (!m->found) continue;
        misses = m->log_weight < top ? misses + 1 : 0;
        top = fmax(top, m->log_weight);
    }
}

/* The first one, two, ... eigenvalues each of their own. */
static void spikes_chunk(search *s, ks_mode_work *w) {
    static const size_t at[KS_SPIKES_MAX] = {0, 1, 2, 3, 4};
    double top = -INFINITY;
    int misses = 0;
    for (size_t k = 1; k <= KS_SPIKES_MAX && k + 2 <= s->p->o->K && misses < 2; k++) {
        ks_mode *m = s->modes + SPIKES_FROM + k - 1;
        find_flat(s, k, at, KS_SPIKE_COST, w, m);
        if (!m->found) continue;
        misses = m->log_weight < top ? misses + 1 : 0;
        top = fmax(top, m->log_weight);
    }
}

/* Breaks of the smooth family, one more at a time at the best of the candidates, while it helps. */
static void breaks_chunk(search *s, size_t c, ks_mode_work *w) {
    const ks_mode *current = best(s, c * SMOOTH, (c + 1) * SMOOTH, 0);
    ks_mode *m = s->modes + BROKEN_FROM + c * BROKEN;
    ks_family f = {.c = c, .curvature = KS_BREAK_CURVATURE, .roughness = KS_BREAK_ROUGHNESS};
    while (current && f.breaks < KS_BREAKS_MAX) {
        const ks_mode *top = NULL;
        f.breaks++;
        f.log_weight = -KS_BREAK_COST * (double)f.breaks;
        for (size_t k = 0; k < s->candidates; k++) {
            int taken = 0;
            for (size_t b = 0; b + 1 < f.breaks; b++) taken |= f.at[b] == s->place[k];
            if (taken) continue;
            f.at[f.breaks - 1] = s->place[k];
            m->family = f;
            ks_mode_find(s->p, w, current->theta, current->log_kappa, m);
            if (m->found && (!top || m->log_weight > top->log_weight)) top = m;
            m++;
        }
        if (!top || top->log_weight < current->log_weight - 1) return;
        current = top;
        f = top->family;
    }
}

static kspec_status broken_chunk(void *ctx, size_t chunk, const ks_worker *worker) {
    search *s = ctx;
    ks_mode_work *w = &s->work[worker->index];
    if (chunk == 0)
        steps_chunk(s, w);
    else if (chunk == 1)
        spikes_chunk(s, w);
    else
        breaks_chunk(s, chunk - 2, w);
    return KSPEC_OK;
}

/* Where a spectrum might have steps: cuts of the roughest smooth family into pieces. */
static int find_cuts(search *s) {
    size_t K = s->p->o->K, all = FLAT_FROM;
    s->rough = best(s, 0, all, 10);
    if (!s->rough) s->rough = best(s, 0, all, 0);
    for (size_t k = 0; k < all && !s->rough; k++)
        if (s->modes[k].found) s->rough = &s->modes[k];
    if (!s->rough) return 0;
    double *w = s->scratch, *rest = w + K;
    for (size_t k = 0; k < K; k++) w[k] = 1 / fmax(s->rough->variance[k], 1e-3);
    s->segmentations = ks_segment(K, s->rough->theta, w, STEPS < K - 1 ? STEPS : K - 1, rest, s->cut);
    double place[CANDIDATES];
    size_t n = 0;
    for (size_t k = 1; k < 4 && k < s->segmentations; k++)
        for (size_t b = 0; b < k; b++) place[n++] = (double)s->cut[k][b];
    ks_sort_ascending(place, n);
    s->candidates = 0;
    for (size_t k = 0; k < n; k++)
        if (k == 0 || place[k] != place[k - 1]) s->place[s->candidates++] = (size_t)place[k];
    return 1;
}

/* ---- averaging ---- */

/* The modes to average, in their order; those that can be trusted where there are any. */
static kspec_status average(search *s, ks_fitted *out, kspec_error *err) {
    double log_weight[MODES];
    size_t N = s->p->N;
    int least = 1;
    for (size_t k = 0; k < MODES; k++)
        if (s->modes[k].found == 2) least = 2;
    out->count = 0;
    for (size_t k = 0; k < MODES; k++)
        if (s->modes[k].found >= least) {
            log_weight[out->count] = s->modes[k].log_weight;
            out->modes[out->count++] = &s->modes[k];
        }
    if (!out->count)
        return ks_fail(err, KSPEC_E_NUMERIC, "no family of spectra could be fitted to %zu eigenvalues",
                       s->p->o->K);
    ks_mixture_weights(out->count, log_weight, out->weight);
    memset(out->theta, 0, N * sizeof *out->theta);
    for (size_t k = 0; k < out->count; k++)
        for (size_t l = 0; l < N; l++) out->theta[l] += out->weight[k] * out->modes[k]->theta[l];
    return KSPEC_OK;
}

/* Leaves out what hardly counts, and puts the best first. */
static void keep_best(ks_fitted *out) {
    size_t kept = 0, order[MODES];
    double top = 0, sum = 0, weight[MODES];
    ks_mode *modes[MODES];
    for (size_t k = 0; k < out->count; k++) top = fmax(top, out->weight[k]);
    ks_order_descending(out->weight, out->count, order);
    for (size_t k = 0; k < out->count && out->weight[order[k]] > KS_NEGLIGIBLE * top; k++) {
        modes[kept] = out->modes[order[k]];
        sum += weight[kept++] = out->weight[order[k]];
    }
    for (size_t k = 0; k < kept; k++) {
        out->modes[k] = modes[k];
        out->weight[k] = weight[k] / sum;
    }
    out->count = kept;
}

/*
 * 95% intervals: quantiles of the mixture, and at the levels no more than the mean of the sample's i largest
 * eigenvalues allows, since sum_{j<=i} lambda_j <= E sum_{j<=i} s_j.
 */
static void intervals(const ks_observed *o, ks_fitted *out) {
    size_t n = out->p.n, K = o->K, m = o->m;
    double mean[MODES], sd[MODES], sum = 0;
    const double *s = o->x->d.s;
    for (size_t l = 0; l < n; l++) {
        for (size_t k = 0; k < out->count; k++) {
            mean[k] = out->modes[k]->theta[l];
            sd[k] = sqrt(out->modes[k]->variance[l]);
        }
        out->low[l] = fmin(ks_mixture_quantile(out->count, out->weight, mean, sd, 1, 0.025), out->theta[l]);
        out->high[l] = fmax(ks_mixture_quantile(out->count, out->weight, mean, sd, 1, 0.975), out->theta[l]);
    }
    for (size_t i = 0; i < K; i++) {
        double variance = 0;
        sum += s[i];
        for (size_t j = 0; j <= i; j++)
            for (size_t k = 0; k <= i; k++) variance += s[j] * s[k] * o->V[j * m + k];
        double cap = log(sum / (double)(i + 1)) + 1.96 * sqrt(fmax(variance, 0)) / sum;
        out->high[i] = fmax(fmin(out->high[i], cap), out->theta[i]);
    }
    for (size_t l = 1; l < n; l++) out->high[l] = fmin(out->high[l], out->high[l - 1]);
    for (size_t l = n - 1; l-- > 0;) out->low[l] = fmax(out->low[l], out->low[l + 1]);
}

/* ---- all of it ---- */

static kspec_status prepare(const ks_run *run, search *s, ks_arena *arena, ks_fitted *out, kspec_error *err) {
    size_t K = s->p->o->K, workers = (size_t)ks_workers(run, KS_COORDINATE_COUNT + 2);
    s->work = ks_arena_alloc(arena, workers, sizeof *s->work);
    for (size_t w = 0; w < workers && !arena->failed; w++) ks_mode_work_alloc(s->p, arena, &s->work[w]);
    ks_mode_alloc(s->p, arena, MODES, s->modes);
    s->theta = ks_arena_alloc(arena, s->p->N, sizeof *s->theta);
    s->log_kappa = ks_arena_alloc(arena, K, sizeof *s->log_kappa);
    s->nothing = ks_arena_alloc(arena, K, sizeof *s->nothing);
    s->scratch = ks_arena_alloc(arena, K + 2 * (STEPS + 1) * (K + 1) + 3 * (K + 1), sizeof *s->scratch);
    out->modes = ks_arena_alloc(arena, MODES, sizeof *out->modes);
    out->weight = ks_arena_alloc(arena, MODES, sizeof *out->weight);
    out->theta = ks_arena_alloc(arena, s->p->N, sizeof *out->theta);
    out->low = ks_arena_alloc(arena, s->p->n, sizeof *out->low);
    out->high = ks_arena_alloc(arena, s->p->n, sizeof *out->high);
    if (arena->failed) return ks_nomem(err, "the families of spectra", arena->failed);
    for (size_t i = 0; i < K; i++) s->nothing[i] = (ks_cplx){NAN, NAN};
    return KSPEC_OK;
}

/* The errors of the data at a spectrum, then the families: the smooth ones, and in the last pass all. */
static kspec_status pass(const ks_run *run, search *s, ks_observed *o, int last, ks_fitted *out,
                         kspec_error *err) {
    ks_run smooth = ks_run_part(run, 0, 0.5), broken = ks_run_part(run, 0.5, 1);
    ks_spectrum at = ks_problem_spectrum(s->p, out->theta, s->work[0].lambda);
    kspec_status st = ks_observed_errors(o, &at, s->log_kappa, err);
    if (!st) st = ks_parallel_for(&smooth, KS_COORDINATE_COUNT, smooth_chunk, s, err);
    if (!st && last && o->K >= 4 && find_cuts(s))
        st = ks_parallel_for(&broken, KS_COORDINATE_COUNT + 2, broken_chunk, s, err);
    if (!st) st = average(s, out, err);
    if (st) return st;
    memcpy(s->theta, out->theta, s->p->N * sizeof *s->theta);
    ks_decreasing(s->p->n, s->p->weight, out->theta);
    return KSPEC_OK;
}

kspec_status ks_fit_families(const ks_run *run, ks_observed *o, double noise, ks_arena *arena, ks_fitted *out,
                             kspec_error *err) {
    const ks_simd *simd;
    kspec_status st = ks_simd_choose(&simd, err);
    *out = (ks_fitted){0};
    if (!st) st = ks_problem_init(&out->p, o, noise, simd, arena, err);
    search *s = ks_arena_zalloc(arena, 1, sizeof *s);
    if (!st && !s) st = ks_nomem(err, "the families of spectra", arena->failed);
    if (st) return st;
    s->p = &out->p;
    if ((st = prepare(run, s, arena, out, err))) return st;
    ks_problem_start(s->p, s->theta);
    memcpy(out->theta, s->theta, s->p->N * sizeof *s->theta);
    for (int last = 0; last < 2 && !st; last++) {
        ks_run part = ks_run_part(run, last ? 0.2 : 0, last ? 1 : 0.2);
        st = pass(&part, s, o, last, out, err);
    }
    if (st) return st;
    keep_best(out);
    intervals(o, out);
    return KSPEC_OK;
}
