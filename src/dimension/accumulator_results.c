/* Computes the results of accumulators: the dimension of one or two matrices, and the alignment of two. */
#include "base/center.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/result.h"
#include "dimension/accumulator_groups.h"
#include "dimension/alignment.h"
#include "dimension/differences.h"
#include "dimension/set.h"
#include "linalg/linalg.h"
#include "moments/doubts.h"

#include <math.h>

/* Contains the estimates of each matrix, and of both together. */
typedef struct {
    ks_sums sums[3];
    ks_second second[2];
    double population[2][2];
    double *cross;
    ks_lost lost;
    ks_arena arena;
} estimates;

static kspec_status check(const kspec_accumulator *a, kspec_error *err) {
    const int centered = ks_centred(a->o.center), whole = a->o.sampled == KSPEC_SAMPLED_COLS;
    kspec_status st = a->o.grouped ? ks_accumulator_check_groups(a, err) : KSPEC_OK;
    if (st) return st;
    const size_t least = whole ? 1 : centered ? 5 : 3, n = a->sums.n + a->held;
    if (!a->o.grouped && n < least)
        return ks_fail(err, KSPEC_E_ARG, "%zu rows so far are too few: %zu are needed%s", n, least,
                       centered && !whole ? " (3 if not centred)" : "");
    for (int k = 0; k < 2 && a->o.sampled != KSPEC_SAMPLED_ROWS; k++)
        if (a->sums.cols[k] && a->sums.cols[k] < 3)
            return ks_refuse(err, KSPEC_E_ARG, "sampled", "rows", "%zu features are too few: 3 are needed",
                             a->sums.cols[k]);
    return KSPEC_OK;
}

static kspec_status set_second(const kspec_accumulator *a, int k, estimates *e, kspec_error *err) {
    const size_t P = a->sample.count, Q = a->sums.cols[k], count = 1 + P + Q;
    const double n = (double)a->sums.n, *population = e->population[k];
    ks_second *s = &e->second[k];
    *s = (ks_second){.P = P,
                     .Q = Q,
                     .rows = n,
                     .exponent = a->sums.exponent,
                     .cycles = 1,
                     .share = {1 - n / population[0], 1 - (double)Q / population[1]},
                     .own = e->sums[k].whole,
                     .naive =
                         e->sums[k].whole > 0 ? e->sums[k].all.t * e->sums[k].all.t / e->sums[k].whole : NAN};
    s->trace = ks_arena_zalloc(&e->arena, count, sizeof(double));
    s->square = ks_arena_zalloc(&e->arena, count, sizeof(double));
    s->moment = ks_arena_zalloc(&e->arena, count, sizeof(double));
    if (e->arena.failed) return ks_nomem(err, "leave-one-out estimates", e->arena.failed);
    ks_second_add(&e->sums[k], a->sums.n, ks_centred(a->o.center), population, 1, s);
    return KSPEC_OK;
}

static kspec_status set_cross(const kspec_accumulator *a, estimates *e, kspec_error *err) {
    const size_t P = a->sample.count, Q = a->sums.cols[0], R = a->sums.cols[1];
    const int complete = a->o.sampled == KSPEC_SAMPLED_ROWS, whole[2] = {complete, complete};
    e->cross = ks_arena_zalloc(&e->arena, 1 + P + Q + R, sizeof(double));
    if (!e->cross) return ks_nomem(err, "leave-one-out estimates", e->arena.failed);
    ks_cross_add(&e->sums[2], a->sums.n, ks_centred(a->o.center), e->population[0][0], whole, P, Q, R, 1,
                 e->cross, &e->lost);
    return KSPEC_OK;
}

/* Fails if an estimate exceeds the range of a double. */
static kspec_status check_range(const estimates *e, int k, kspec_error *err) {
    const ks_second *s = &e->second[k];
    if (isfinite(s->square[0]) && isfinite(s->moment[0])) return KSPEC_OK;
    return ks_fail(err, KSPEC_E_NUMERIC, "the sums overflow: scale the data");
}

static kspec_status estimate(kspec_accumulator *a, estimates *e, kspec_error *err) {
    kspec_status st = check(a, err);
    if (!st) st = ks_accumulator_flush(a, err);
    if (!st) st = ks_blas_enter(a->threads, err);
    if (st) return st;
    const ks_stream_of of = {&a->sums, ks_centred(a->o.center), a->sample.rows, a->sample.count};
    double columns[2];
    for (int k = 0; k < 2; k++) {
        const double rows = a->o.sampled == KSPEC_SAMPLED_COLS ? (double)a->sums.n : INFINITY,
                     cols = a->o.sampled == KSPEC_SAMPLED_ROWS ? (double)a->sums.cols[k] : INFINITY;
        e->population[k][0] = rows, e->population[k][1] = cols;
        columns[k] = isinf(cols) ? 0 : cols;
    }
    if (a->o.grouped) {
        st = ks_accumulator_groups(a, e->population, e->second, &e->cross, &e->lost, &e->sums[2].whole,
                                   &e->arena, err);
        for (int k = 0; k < 2 && a->sums.cols[k] && !st; k++) st = check_range(e, k, err);
        ks_blas_exit();
        return st;
    }
    st = ks_stream_sums(a->threads, &of, columns, &a->room, e->sums, &e->arena, err);
    for (int k = 0; k < 2 && a->sums.cols[k] && !st; k++) {
        st = set_second(a, k, e, err);
        if (!st) st = check_range(e, k, err);
    }
    if (!st && a->sums.cols[1]) st = set_cross(a, e, err);
    ks_blas_exit();
    return st;
}

static void describe(kspec_device_used *d) {
    ks_print(d->name, sizeof d->name, "cpu");
    ks_print(d->why, sizeof d->why, "an accumulator computes there");
}

kspec_status kspec_accumulator_dimension(kspec_accumulator *a, int which, kspec_dimension_result **out,
                                         kspec_error *err) {
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    const double start = ks_now();
    estimates e = {0};
    kspec_dimension_result *r = NULL;
    kspec_status st = ks_check_pointer(err, a, "the accumulator");
    if (!st && (which < 0 || which > 1 || !a->sums.cols[which]))
        st = ks_fail(err, KSPEC_E_ARG, "the accumulator has %s: matrix %d does not exist",
                     a->sums.cols[1] ? "2 matrices" : "1 matrix", which);
    if (!st) st = estimate(a, &e, err);
    if (!st && !(r = ks_result_new(sizeof *r))) st = ks_nomem(err, "the result", sizeof *r);
    if (!st) {
        ks_dimensionality d;
        r->P = kspec_accumulator_describe(a)->rows, r->Q = a->sums.cols[which], r->trials = 1,
        r->groups = a->groups.groups, r->center = a->o.center;
        r->cycles = 1, r->signal_z = NAN;
        r->signal_share = r->signal_share_std_error = r->signal_share_ci_low = r->signal_share_ci_high = NAN;
        describe(&r->device);
        st = ks_dimension_set(&e.second[which], &d, r, &e.arena, err);
        const char *constant = ks_centred(a->o.center) ? "every column is constant" : "every entry is 0";
        const ks_doubted doubted = {r->dimension, r->std_error, r->trace_squared, r->second_moment,
                                    isfinite(r->naive) ? NULL : constant};
        ks_doubt_dimension(KS_DOUBTS(r), NULL, &doubted);
        ks_doubt(KS_DOUBTS(r), KSPEC_DOUBT_ONE_TRIAL, NULL, NULL, 0);
    }
    ks_arena_free(&e.arena);
    return ks_end(st, r, start, out);
}

/* ---- alignment ---- */

static kspec_status set_comparison(const kspec_accumulator *a, estimates *e, kspec_compare_result *r,
                                   kspec_error *err) {
    const kspec_compare_opts o = {.size = sizeof o, .center = a->o.center, .sampled = a->o.sampled};
    const ks_two_matrices both = {&o, {NULL, NULL}, {&e->second[0], &e->second[1]}};
    const ks_run run = {.threads = a->threads, .to = 1};
    kspec_status st = ks_differences_make(&run, &both, r, &e->arena, err);
    const int grouped = a->groups.S[1] > a->groups.S[0];
    if (!st)
        st = ks_alignment_set(&e->second[0], &e->second[1], e->cross, &e->lost, grouped, r, &e->arena, err);
    if (!st && e->second[0].own > 0 && e->second[1].own > 0)
        r->alignment_biased = e->sums[2].whole / sqrt(e->second[0].own) / sqrt(e->second[1].own);
    static const char *const names[2] = {"the first matrix", "the second matrix"};
    const double dimension[2] = {r->dimension, r->other_dimension};
    for (int k = 0; k < 2 && !st; k++) {
        const ks_second *s = &e->second[k];
        const ks_doubted doubted = {dimension[k], NAN, s->square[0], s->moment[0], NULL};
        ks_doubt_dimension(KS_DOUBTS(r), names[k], &doubted);
    }
    if (!st && r->alignment_ci_low > 1)
        ks_doubt(KS_DOUBTS(r), KSPEC_DOUBT_ALIGNMENT_ABOVE_ONE, "the accumulator", NULL, r->alignment);
    return st;
}

kspec_status kspec_accumulator_compare(kspec_accumulator *a, kspec_compare_result **out, kspec_error *err) {
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    const double start = ks_now();
    estimates e = {0};
    kspec_compare_result *r = NULL;
    kspec_status st = ks_check_pointer(err, a, "the accumulator");
    if (!st && !a->sums.cols[1])
        st = ks_fail(err, KSPEC_E_ARG,
                     "the accumulator has no second matrix to compare with: other_features is 0");
    if (!st) st = estimate(a, &e, err);
    if (!st && !(r = ks_result_new(sizeof *r))) st = ks_nomem(err, "the result", sizeof *r);
    if (!st) {
        r->P = r->other_P = kspec_accumulator_describe(a)->rows, r->groups = a->groups.groups;
        r->Q = a->sums.cols[0], r->other_Q = a->sums.cols[1];
        r->trials = r->other_trials = 1, r->center = a->o.center;
        r->alignment = r->alignment_std_error = r->alignment_ci_low = r->alignment_ci_high = NAN;
        r->alignment_biased = r->alignment_p = NAN;
        r->row_variance = r->col_variance = r->other_col_variance = NAN;
        r->shared_dimension = r->shared_dimension_std_error = NAN;
        r->shared_dimension_ci_low = r->shared_dimension_ci_high = NAN;
        describe(&r->device);
        st = set_comparison(a, &e, r, err);
    }
    ks_arena_free(&e.arena);
    return ks_end(st, r, start, out);
}
