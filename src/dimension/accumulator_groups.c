/*
 * Adds batches of whole groups of rows to an accumulator, and computes estimates from the accumulator's
 * state.
 */
#include "dimension/accumulator_groups.h"

#include "base/center.h"
#include "base/error.h"
#include "base/groups.h"
#include "dimension/accumulator.h"
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

/* ---- batches ---- */

/* The rows of a batch that count, in the order of their groups. */
typedef struct {
    size_t rows, groups, *row, *first;
    double size; /* 0: sizes differ */
} ordered;

static int all_equal(const uint64_t *labels, size_t n) {
    for (size_t i = 1; i < n; i++)
        if (labels[i] != labels[0]) return 0;
    return 1;
}

static kspec_status order(const kspec_accumulator *a, const kspec_matrix *x, const kspec_matrix *other,
                          const uint64_t *labels, ordered *o, ks_arena *arena, kspec_error *err) {
    size_t *kept = ks_arena_alloc(arena, x->rows, sizeof *kept);
    uint64_t *of = ks_arena_alloc(arena, x->rows, sizeof *of);
    o->row = ks_arena_alloc(arena, x->rows, sizeof *o->row);
    o->first = ks_arena_zalloc(arena, ks_size_add(x->rows, 1), sizeof *o->first);
    if (arena->failed) return ks_nomem(err, "a batch of groups", arena->failed);
    for (size_t i = 0; i < x->rows; i++) {
        if (a->o.omit_nan && ks_accumulator_omits(x, other, i)) continue;
        of[o->rows] = labels ? labels[i] : 0, kept[o->rows++] = i;
    }
    ks_groups g = {.count = 1};
    const int one = all_equal(of, o->rows);
    kspec_status st = one ? KSPEC_OK : ks_groups_make(&g, of, o->rows, "row", arena, err);
    if (st || !o->rows) return st;
    o->groups = g.count;
    o->size = one ? (double)o->rows : (double)ks_group_size(&g, 0);
    for (size_t k = 0; k < g.count; k++) {
        const size_t n = one ? o->rows : ks_group_size(&g, k);
        o->first[k + 1] = o->first[k] + n;
        if ((double)n != o->size) o->size = 0;
    }
    for (size_t i = 0; i < o->rows; i++) o->row[i] = kept[g.of ? g.member[i] : i];
    return KSPEC_OK;
}

static kspec_status check_sizes(const kspec_accumulator *a, const ordered *o, kspec_error *err) {
    for (size_t k = 0; k < o->groups; k++) {
        const size_t n = o->first[k + 1] - o->first[k];
        if (n > a->o.reservoir)
            return ks_refuse(err, KSPEC_E_ARG, "reservoir", NULL,
                             "a group of %zu rows exceeds the %zu rows that are kept for the interval", n,
                             a->o.reservoir);
    }
    return KSPEC_OK;
}

static void fill(const kspec_accumulator *a, const kspec_matrix *x, const kspec_matrix *other,
                 const ordered *o, double *rows) {
    for (size_t i = 0; i < o->rows; i++) ks_accumulator_row(x, other, o->row[i], rows + i * a->sums.all);
}

kspec_status ks_accumulator_add_groups(kspec_accumulator *a, const kspec_matrix *x, const kspec_matrix *other,
                                       const uint64_t *labels, kspec_error *err) {
    ks_arena arena = {0};
    ordered o = {0};
    kspec_status st = order(a, x, other, labels, &o, &arena, err);
    double *rows = st ? NULL : ks_arena_alloc(&arena, ks_size(o.rows, a->sums.all), sizeof *rows);
    if (!st && !rows) st = ks_nomem(err, "a batch of groups", arena.failed);
    if (!st) st = check_sizes(a, &o, err);
    if (!st && o.groups) st = ks_grouped_expand(&a->groups, o.size, err);
    if (!st) st = ks_blas_enter(a->threads, err);
    if (!st) {
        fill(a, x, other, &o, rows);
        st = ks_grouped_add(a->threads, &a->groups, &(ks_group_rows){rows, o.first, o.groups}, err);
        ks_blas_exit();
    }
    if (!st) {
        fill(a, x, other, &o, rows);
        for (size_t k = 0; k < o.groups; k++)
            ks_group_sample_offer(&a->group_sample, a->o.stream, a->taken++, rows + o.first[k] * a->sums.all,
                                  o.first[k + 1] - o.first[k]);
        a->omitted += x->rows - o.rows;
    }
    ks_arena_free(&arena);
    return st;
}

/* ---- estimates ---- */

kspec_status ks_accumulator_check_groups(const kspec_accumulator *a, kspec_error *err) {
    const size_t least = ks_centred(a->o.center) ? 5 : 3;
    if (a->groups.groups < least)
        return ks_fail(err, KSPEC_E_ARG, "%zu groups so far are too few: %zu are needed%s", a->groups.groups,
                       least, least > 3 ? " (3 if not centred)" : "");
    if (a->group_sample.count < 2)
        return ks_refuse(err, KSPEC_E_ARG, "reservoir", NULL,
                         "the %zu rows that are kept for the interval hold %zu of %zu groups, fewer than 2",
                         a->o.reservoir, a->group_sample.count, a->groups.groups);
    return KSPEC_OK;
}

/*
 * Bounds the rounding error, as for groups in memory. The estimates have terms of 2, 3 and 4 groups, which
 * together may be 13 times as large as the first term. Leaving out one group, at worst the largest one,
 * leaves fewer pairs.
 */
static ks_lost lost_of(const kspec_accumulator *a, double size, double cols, double fewer) {
    const double *S = a->groups.S, n = a->groups.groups > 1 ? S[0] / (double)a->groups.groups : S[0],
                 pairs = S[0] * S[0] - S[1], left = fmax(pairs - 4 * S[0] * n, pairs / 4),
                 all = ks_sums_epsilon(a->groups.rows) * (a->groups.centered ? 13 : 4) * size / pairs / cols;
    return (ks_lost){all, 4 * all * pairs / left, all * cols / fewer};
}

static void set_second(const kspec_accumulator *a, int k, const double population[2],
                       const ks_grouped_out *out, ks_second *s) {
    const size_t Q = a->sums.cols[k];
    const double spread = out->spread[k], fewer = fmax(1, ks_sums_pairs(Q - 1, population[1]));
    *s = (ks_second){.P = a->group_sample.count,
                     .Q = Q,
                     .rows = (double)a->groups.groups,
                     .trace = out->trace[k],
                     .square = out->square[k],
                     .moment = out->moment[k],
                     .exponent = a->groups.exponent,
                     .cycles = 1,
                     .share = {1, 1 - (double)Q / population[1]},
                     .own = out->whole[k],
                     .naive = out->whole[k] > 0 ? spread * spread / out->whole[k] : NAN};
    s->lost[1] = s->lost[2] = lost_of(a, spread * spread, ks_sums_pairs(Q, population[1]), fewer);
    s->lost[0] = lost_of(a, spread * a->groups.S[0], (double)Q, fmax(1, (double)Q - 1));
}

kspec_status ks_accumulator_groups(kspec_accumulator *a, const double (*population)[2], ks_second *second,
                                   double **cross, ks_lost *lost, double *whole, ks_arena *arena,
                                   kspec_error *err) {
    const size_t P = a->group_sample.count, all = a->sums.all;
    ks_grouped_out out = {0};
    kspec_status st = ks_grouped_centre(a->threads, &a->groups, err);
    for (int k = 0; k < 2 && a->sums.cols[k]; k++) {
        out.columns[k] = isinf(population[k][1]) ? 0 : population[k][1];
        double *lists = ks_arena_alloc(arena, ks_size(3, 1 + P + all), sizeof *lists);
        out.trace[k] = lists;
        if (lists) out.square[k] = lists + 1 + P + all, out.moment[k] = lists + 2 * (1 + P + all);
    }
    if (a->sums.cols[1]) out.cross = ks_arena_alloc(arena, 1 + P + all, sizeof *out.cross);
    if (!st && arena->failed) st = ks_nomem(err, "leave-one-out estimates", arena->failed);
    if (!st) st = ks_grouped_estimates(a->threads, &a->groups, &a->group_sample, &out, err);
    if (st) return st;
    for (int k = 0; k < 2 && a->sums.cols[k]; k++) set_second(a, k, population[k], &out, &second[k]);
    if (!a->sums.cols[1]) return KSPEC_OK;
    const double Q = (double)a->sums.cols[0], R = (double)a->sums.cols[1];
    *lost = lost_of(a, out.spread[0] * out.spread[1], Q * R, fmax(1, fmin((Q - 1) * R, Q * (R - 1))));
    *cross = out.cross, *whole = out.whole[2];
    return KSPEC_OK;
}
