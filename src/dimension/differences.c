/* Computes differences between two matrices by the paired jackknife, with p-values. */
#include "dimension/differences.h"

#include "base/error.h"
#include "base/result.h"
#include "base/student.h"
#include "dimension/higher.h"

#include <math.h>
#include <string.h>

/* HIGHEST is the highest order that a caller may request, and USUAL is the highest by default. */
enum { HIGHEST = KS_HIGHER_MOST, USUAL = 2 };

/*
 * Contains estimates from one matrix, or from a quarter of the matrix. Each list has 1 + P + Q values: from
 * all data, without each row, and without each column. `square` is m(1)^2, of[0] is the dimension, and of[n]
 * is the moment m(n). All lists divide the data by the same 2^unit. `lost` bounds the rounding errors of the
 * values from all data.
 */
typedef struct {
    size_t P, Q;
    double rows; /* P of them are left out */
    /*
     * For rows and for columns, the share is 1 - P/N for a sample of P from N, and 1 for infinite N, as in
     * ks_second.
     */
    double share[2];
    double *square, *of[1 + HIGHEST], lost[1 + HIGHEST];
    int highest;
} lists;

static size_t length(const lists *l) { return 1 + l->P + l->Q; }

static kspec_status list_second(const ks_second *s, int unit, lists *l, ks_arena *arena, kspec_error *err) {
    *l = (lists){.P = s->P, .Q = s->Q, .rows = s->rows, .share = {s->share[0], s->share[1]}, .highest = 2};
    const size_t count = length(l);
    const int e = s->exponent - unit;
    double spread, bias;
    l->square = ks_arena_alloc(arena, count, sizeof(double));
    for (int n = 0; n <= 2; n++) l->of[n] = ks_arena_alloc(arena, count, sizeof(double));
    if (arena->failed) return ks_nomem(err, "the differences", arena->failed);
    ks_log_ratios(s, l->of[0]);
    for (size_t k = 0; k < count; k++) {
        l->of[0][k] = exp(l->of[0][k]);
        l->of[1][k] = ldexp(s->trace[k], 2 * e);
        l->of[2][k] = ldexp(s->moment[k], 4 * e);
        l->square[k] = ldexp(s->square[k], 4 * e);
    }
    l->lost[0] = ks_ratio_lost(s, &spread, &bias) * ks_ratio(s->square[0], s->moment[0]);
    l->lost[1] = ldexp(s->lost[0].all, 2 * e), l->lost[2] = ldexp(s->lost[2].all, 4 * e);
    l->of[0][0] = ks_ratio(s->square[0], s->moment[0]);
    return KSPEC_OK;
}

static ks_higher higher_of(const kspec_compare_opts *o) {
    return (ks_higher){
        o->nmax, o->splits, o->seed, o->team, o->sampled, o->population_rows, o->population_cols, 0};
}

kspec_status ks_differences_load(const kspec_compare_opts *o, const ks_measured *m, ks_load *l,
                                 kspec_error *err) {
    const ks_higher how = higher_of(o);
    return ks_higher_load(&how, m, l, err);
}

/* ---- variance ---- */

/* Contains the lists of values of two matrices, 1 + P + Q each, and scratch for as many rows and columns. */
typedef struct {
    kspec_paired paired;
    size_t P[2], Q[2];
    double rows[2], share[2][2];
    double *x[2], *room;
} pair_of_lists;

static kspec_status open_pair(pair_of_lists *p, kspec_paired paired, const lists *a, const lists *b,
                              ks_arena *arena, kspec_error *err) {
    const lists *l[2] = {a, b};
    *p = (pair_of_lists){.paired = paired};
    for (int k = 0; k < 2; k++) {
        p->P[k] = l[k]->P, p->Q[k] = l[k]->Q, p->rows[k] = l[k]->rows;
        memcpy(p->share[k], l[k]->share, sizeof p->share[k]);
        p->x[k] = ks_arena_alloc(arena, length(l[k]), sizeof(double));
    }
    p->room = ks_arena_alloc(arena, ks_size_add(length(a), length(b)), sizeof(double));
    return arena->failed ? ks_nomem(err, "the differences", arena->failed) : KSPEC_OK;
}

/*
 * Adds one side of the difference x - y to the jackknife. x and y have N[0] and N[1] values, from of[0] and
 * of[1] rows or columns. If shared is 1, both matrices have the same rows or columns, and leave out the same
 * row or column.
 */
static void add_sides(const double *x, const double *y, const size_t N[2], const double of[2], int shared,
                      const double share[2], double *room, ks_spread *s) {
    if (shared) {
        for (size_t i = 0; i < N[0]; i++) room[i] = x[i] - y[i];
        ks_spread_add_sample(s, room, N[0], of[0], share[0], 0);
    } else {
        ks_spread_add_sample(s, x, N[0], of[0], share[0], 0);
        ks_spread_add_sample(s, y, N[1], of[1], share[1], 0);
    }
}

static ks_spread spread_of(const pair_of_lists *p) {
    const double *x = p->x[0] + 1, *y = p->x[1] + 1, rows[2] = {p->share[0][0], p->share[1][0]},
                 cols[2] = {p->share[0][1], p->share[1][1]}, all[2] = {(double)p->Q[0], (double)p->Q[1]};
    ks_spread s = {0};
    add_sides(x, y, p->P, p->rows, p->paired == KSPEC_PAIRED_ROWS, rows, p->room, &s);
    add_sides(x + p->P[0], y + p->P[1], p->Q, all, p->paired == KSPEC_PAIRED_COLS, cols, p->room, &s);
    return s;
}

/*
 * Converts a list to logarithms. Returns 1 if all logarithms are defined and known to better than a factor of
 * e.
 */
static int take_logs(const lists *l, int n, double *logs) {
    for (size_t k = 0; k < length(l); k++) {
        double x = l->of[n][k];
        if (!(x > 0 && isfinite(x))) return 0;
        logs[k] = log(x);
    }
    ks_spread s = {0};
    ks_spread_add_sample(&s, logs + 1, l->P, l->rows, l->share[0], 0);
    ks_spread_add(&s, logs + 1 + l->P, l->Q, l->share[1], 0);
    return s.variance < 1;
}

/*
 * Estimates the fraction of the jackknife's variance that is true. The variance of a mean over tuples is s_1
 * + s_2 + ..., where s_k is the part that k rows and columns contribute jointly. The jackknife counts s_k k
 * times, so it finds V, the sum of k s_k (Efron and Stein 1981). From half the rows and half the columns, s_k
 * is 2^k times as large, and the jackknife finds V', the sum of 2^k k s_k. If only the parts 1 and k exist,
 * the true variance is
 *
 *    V - (V' - 2 V) (k-1) / (k (2^k - 2)).
 *
 * The factor after the parenthesis is 1/4 for k = 2, 1/9 for k = 3, and 3/56 for k = 4. Moments of order 2
 * have the parts k = 1 to 4. The code uses 1/9, because of the levels of p that result
 * (docs/explanation/alignment.md). V' is the mean over the four quarters of even and odd rows and columns.
 * For a dimension, the parts come from the first-order expansion m(1)^2 / (m(1)^2 of all) - m(2) / (m(2) of
 * all). This expansion avoids logarithms, which might be undefined in a quarter.
 */
static const double EXCESS = 1.0 / 9, LEAST_SHARE = 0.5;

static void expand(const lists *part, const lists *all, int n, int relative, double *to) {
    for (size_t k = 0; k < length(part); k++)
        to[k] = n == 0     ? part->square[k] / all->square[0] - part->of[2][k] / all->of[2][0]
                : relative ? part->of[n][k] / all->of[n][0]
                           : part->of[n][k];
}

static kspec_status list_quarters(const ks_two_matrices *of, int unit, lists part[KS_QUARTERS][2],
                                  pair_of_lists *pairs, ks_arena *arena, kspec_error *err) {
    kspec_status st = KSPEC_OK;
    for (int q = 0; q < KS_QUARTERS && !st; q++)
        for (int k = 0; k < 2 && !st; k++)
            st = list_second(&of->quarter[k][q], unit, &part[q][k], arena, err);
    for (int q = 0; q < KS_QUARTERS && !st; q++)
        st = open_pair(&pairs[q], of->o->paired, &part[q][0], &part[q][1], arena, err);
    return st;
}

/* ---- differences ---- */

/* All data that determine a difference. quarters is 0 if the matrices are too small for quarters. */
typedef struct {
    lists all[2], part[KS_QUARTERS][2];
    pair_of_lists whole, quarter[KS_QUARTERS];
    int highest, quarters, unit;
} material;

static kspec_status gather(const ks_run *run, const ks_two_matrices *of, material *m, ks_arena *arena,
                           kspec_error *err) {
    kspec_status st = KSPEC_OK;
    *m = (material){.highest = of->o->nmax ? of->o->nmax : USUAL,
                    .quarters = of->quarter[0] && of->quarter[1]};
    ks_higher how = higher_of(of->o);
    how.nmax = m->highest;
    m->unit = of->second[0]->exponent;
    if (of->second[1]->exponent > m->unit) m->unit = of->second[1]->exponent;
    how.unit = m->unit;
    for (int k = 0; k < 2 && !st; k++) {
        ks_run each = ks_run_part(run, 0.5 * k, 0.5 * (k + 1));
        st = list_second(of->second[k], m->unit, &m->all[k], arena, err);
        if (!st && m->highest > 2)
            st = ks_higher_make(&each, &how, of->matrix[k], m->all[k].of, &m->all[k].highest, arena, err);
        for (int n = 3; n <= HIGHEST; n++) m->all[k].lost[n] = NAN;
        if (!st && m->all[k].highest < m->highest) m->highest = m->all[k].highest;
    }
    if (!st) st = open_pair(&m->whole, of->o->paired, &m->all[0], &m->all[1], arena, err);
    if (!st && m->quarters) st = list_quarters(of, m->unit, m->part, m->quarter, arena, err);
    return st;
}

static double true_share(const material *m, int n, int relative) {
    double V = 0, quarters = 0;
    for (int q = -1; q < KS_QUARTERS; q++) {
        const pair_of_lists *p = q < 0 ? &m->whole : &m->quarter[q];
        for (int k = 0; k < 2; k++)
            expand(q < 0 ? &m->all[k] : &m->part[q][k], &m->all[k], n, relative, p->x[k]);
        if (q < 0)
            V = spread_of(p).variance;
        else
            quarters += spread_of(p).variance / KS_QUARTERS;
    }
    double share = 1 - EXCESS * (quarters / V - 2);
    return isfinite(share) ? fmin(1, fmax(LEAST_SHARE, share)) : 1;
}

static ks_spread plain_spread(const material *m, int n) {
    for (int k = 0; k < 2; k++) memcpy(m->whole.x[k], m->all[k].of[n], length(&m->all[k]) * sizeof(double));
    return spread_of(&m->whole);
}

static void set_difference(const material *m, int n, kspec_difference *d) {
    double *const *x = m->whole.x;
    ks_spread s = plain_spread(m, n);
    const int e = 2 * n * m->unit;
    *d = (kspec_difference){n ? "moment" : "dimension", n,   ldexp(x[0][0] - x[1][0], e),
                            ldexp(sqrt(s.variance), e), NAN, ldexp(m->all[0].lost[n] + m->all[1].lost[n], e)};
    if (!(d->std_error >= 0)) return;
    int logs = take_logs(&m->all[0], n, x[0]) && take_logs(&m->all[1], n, x[1]);
    s = logs ? spread_of(&m->whole) : plain_spread(m, n);
    const double difference = x[0][0] - x[1][0];
    if (!(s.variance > 0)) return;
    /* In a quarter, higher moments are too uncertain, and so are dimensions without logarithms. */
    int known = m->quarters && n <= 2 && (n || logs);
    double share = known ? true_share(m, n, logs) : 1;
    d->p = ks_student_tails(difference / sqrt(share * s.variance), ks_spread_degrees(&s));
}

kspec_status ks_differences_make(const ks_run *run, const ks_two_matrices *of, kspec_compare_result *r,
                                 ks_arena *arena, kspec_error *err) {
    material m;
    kspec_status st = gather(run, of, &m, arena, err);
    if (st) return st;
    r->count = 1 + (size_t)m.highest;
    r->differences = ks_arena_list(ks_result_arena(r), r->count, sizeof **r->differences);
    if (!r->differences) return ks_nomem(err, "the differences", ks_size(r->count, sizeof **r->differences));
    r->dimension = m.all[0].of[0][0], r->other_dimension = m.all[1].of[0][0];
    for (int n = 0; n <= m.highest; n++) set_difference(&m, n, r->differences[n]);
    return KSPEC_OK;
}
