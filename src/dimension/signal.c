/* Estimates which fraction of each column's variance repeats across trials. */
#include "dimension/signal.h"

#include "base/center.h"
#include "base/error.h"
#include "base/matrix.h"
#include "base/result.h"
#include "moments/jackknife.h"
#include "moments/second.h"

#include <math.h>
#include <string.h>

/*
 * The share of a column's variance that repeats is common / total. Let u be the sum of a column over its T
 * trials x_t. The mean covariance of two different trials is (var u - sum_t var x_t) / (T (T-1)). Noise that
 * does not repeat adds nothing to this covariance. The share is the covariance divided by the mean variance
 * of a trial. Covariance and variance are unbiased. For several columns, the sum of covariances is divided by
 * the sum of variances.
 */
typedef struct {
    double common, total;
} power;

/*
 * Sums over n rows of one column. u and uu are the sums of u and u^2, x[t] is the sum of trial t, and xx is
 * the sum of all squares.
 */
typedef struct {
    double n, u, uu, xx, *x;
} sums;

static void add_row(sums *s, const double *x, size_t trials, double sign) {
    double u = 0;
    for (size_t t = 0; t < trials; t++) u += x[t], s->x[t] += sign * x[t], s->xx += sign * x[t] * x[t];
    s->n += sign, s->u += sign * u, s->uu += sign * u * u;
}

static power power_of(const sums *s, size_t trials, int centred) {
    const double T = (double)trials, n = s->n, less = centred ? 1 : 0;
    double means = 0;
    for (size_t t = 0; t < trials && centred; t++) means += s->x[t] * s->x[t] / n;
    const double own = (s->xx - means) / (n - less),
                 all = (s->uu - (centred ? s->u * s->u / n : 0)) / (n - less);
    return (power){(all - own) / (T * (T - 1)), own / T};
}

/* ---- scale ---- */

/*
 * Returns Fisher's transformation of an intraclass correlation, which lies between -1/(T-1) and 1. On the new
 * scale the estimate is nearly symmetric.
 */
static double stretch(power p, double T) {
    const double most = 1 - 1e-15, s = fmin(most, fmax((1e-15 - 1) / (T - 1), p.common / p.total));
    return log((1 + (T - 1) * s) / (1 - s)) / 2;
}

static double shrink(double z, double T) {
    const double e = exp(-2 * z);
    return (1 - e) / (1 + (T - 1) * e);
}

static void set_interval(const ks_spread *s, double z, double T, double *low, double *high) {
    double ends[2];
    ks_spread_ends(s, 0, ends);
    *low = shrink(z + ends[0], T);
    *high = shrink(z + ends[1], T);
}

typedef struct {
    const kspec_matrix *phi;
    size_t trials;
    const ks_groups *rows;
    int centred;
    /*
     * values contains the P x trials values of a column. If a trial of a row is missing, the row's first
     * value is NaN.
     */
    double *values;
    /* left contains a column's shares without each group, first on Fisher's scale, then plain. */
    double *left;
    power *without; /* without each group */
    power *cols;    /* each column */
} job;

static void read_column(const job *j, size_t a) {
    const size_t P = j->phi->rows, T = j->trials;
    double first = NAN;
    for (size_t i = 0; i < P; i++) {
        double *x = j->values + i * T;
        int whole = 1;
        for (size_t t = 0; t < T; t++) x[t] = ks_at(&j->phi[t], i, a), whole &= isfinite(x[t]) != 0;
        if (!whole) {
            x[0] = NAN;
            continue;
        }
        if (isnan(first)) first = j->centred ? x[0] : 0; /* keeps digits despite large means */
        for (size_t t = 0; t < T; t++) x[t] -= first;
    }
}

/* Adds the rows of group g that have all trials, or the rows of all groups. */
static void add_group(const job *j, size_t g, double sign, sums *s) {
    for (size_t k = 0; k < ks_group_size(j->rows, g); k++) {
        const double *x = j->values + (j->rows->of ? j->rows->member[j->rows->start[g] + k] : g) * j->trials;
        if (!isnan(x[0])) add_row(s, x, j->trials, sign);
    }
}

static void column(const job *j, size_t a, sums *s, kspec_signal *out) {
    const size_t G = j->rows->count;
    const double T = (double)j->trials, least = j->centred ? 3 : 2;
    ks_spread spread = {0}, plain = {0};
    *out = (kspec_signal){NAN, NAN, NAN, NAN};
    j->cols[a] = (power){0, 0};
    read_column(j, a);
    s->n = s->u = s->uu = s->xx = 0;
    memset(s->x, 0, j->trials * sizeof *s->x);
    for (size_t g = 0; g < G; g++) add_group(j, g, 1, s);
    if (s->n < least + 1) return;
    const power all = j->cols[a] = power_of(s, j->trials, j->centred);
    int known = all.total > 0;
    for (size_t g = 0; g < G; g++) {
        add_group(j, g, -1, s);
        const power p = s->n >= least ? power_of(s, j->trials, j->centred) : (power){0, 0};
        add_group(j, g, 1, s);
        j->without[g].common += p.common, j->without[g].total += p.total;
        known &= p.total > 0;
        j->left[g] = known ? stretch(p, T) : 0;
        j->left[G + g] = known ? p.common / p.total : 0;
    }
    if (!(all.total > 0)) return;
    out->share = all.common / all.total;
    if (!known) return;
    ks_spread_add(&spread, j->left, G, 1, stretch(all, T));
    ks_spread_add(&plain, j->left + G, G, 1, out->share);
    out->std_error = sqrt(plain.variance);
    set_interval(&spread, stretch(all, T), T, &out->ci_low, &out->ci_high);
}

/*
 * Computes the share of all columns together, without each group of rows and without each column. left is
 * scratch for one number each.
 */
static void overall(const job *j, size_t Q, double col_share, double *left, kspec_dimension_result *r) {
    const size_t G = j->rows->count;
    const double T = (double)j->trials;
    power all = {0, 0};
    for (size_t a = 0; a < Q; a++) all.common += j->cols[a].common, all.total += j->cols[a].total;
    if (!(all.total > 0)) return;
    r->signal_share = all.common / all.total;
    for (int stretched = 0; stretched < 2; stretched++) {
        ks_spread s = {0};
        for (size_t k = 0; k < G + Q; k++) {
            const power *c = &j->cols[k - (k < G ? k : G)];
            const power p = k < G ? j->without[k] : (power){all.common - c->common, all.total - c->total};
            if (!(p.total > 0)) return;
            left[k] = stretched ? stretch(p, T) : p.common / p.total;
        }
        const double z = stretched ? stretch(all, T) : r->signal_share;
        ks_spread_add(&s, left, G, 1, z);
        ks_spread_add(&s, left + G, Q, col_share, z);
        if (!stretched) r->signal_share_std_error = sqrt(s.variance);
        if (stretched) set_interval(&s, z, T, &r->signal_share_ci_low, &r->signal_share_ci_high);
    }
}

kspec_status ks_signal_make(const kspec_dimension_opts *o, kspec_center center, const kspec_matrix *phi,
                            size_t ntrials, const ks_groups *rows, double col_share,
                            kspec_dimension_result *r, kspec_error *err) {
    const size_t P = phi->rows, Q = phi->cols, G = rows->count;
    r->signal_share = r->signal_share_std_error = r->signal_share_ci_low = r->signal_share_ci_high = NAN;
    if (ntrials < 2 || o->row_trials) return KSPEC_OK;
    ks_arena arena = {0};
    job j = {.phi = phi,
             .trials = ntrials,
             .rows = rows,
             .centred = ks_centred(center),
             .values = ks_arena_alloc(&arena, ks_size(P, ntrials), sizeof(double)),
             .left = ks_arena_alloc(&arena, ks_size_add(2 * G, Q), sizeof(double)),
             .without = ks_arena_zalloc(&arena, G, sizeof(power)),
             .cols = ks_arena_alloc(&arena, Q, sizeof(power))};
    sums s = {.x = ks_arena_alloc(&arena, ntrials, sizeof(double))};
    r->signal_columns = ks_arena_list(ks_result_arena(r), Q, sizeof **r->signal_columns);
    kspec_status st =
        arena.failed || !r->signal_columns ? ks_nomem(err, "the signal share", arena.failed) : KSPEC_OK;
    for (size_t a = 0; a < Q && !st; a++) column(&j, a, &s, r->signal_columns[a]);
    if (!st) r->signal_count = Q, overall(&j, Q, col_share, j.left, r);
    ks_arena_free(&arena);
    return st;
}
