/*
 * Computes the alignment of two matrices, their differences and the doubts about both, from the estimates of
 * each matrix.
 */
#include "dimension/paired.h"

#include "base/error.h"
#include "base/result.h"
#include "dimension/alignment.h"
#include "dimension/differences.h"
#include "dimension/higher.h"
#include "moments/doubts.h"
#include "pairs/sums.h"

#include <math.h>

/* ---- alignment ---- */

/*
 * Computes the usual, biased alignment <K, L> / (|K| |L|) of the means over trials. own is <K, L> if either
 * matrix has one trial.
 */
static kspec_status biased_alignment(const ks_run *run, const ks_paired *p, double own, double *value,
                                     kspec_error *err) {
    const ks_second *one = &p->own[0]->second, *two = &p->own[1]->second;
    ks_arena arena = {0};
    kspec_status st = KSPEC_OK;
    if (isnan(own)) {
        const ks_trials *t = &p->matrix[0]->trials, *u = &p->matrix[1]->trials;
        const double *X = ks_measured_mean(p->matrix[0], &arena), *Y = ks_measured_mean(p->matrix[1], &arena);
        const ks_two both = {X, X, Y, Y, t->P, t->Q, u->Q};
        ks_sums sums = {.whole = NAN};
        st = X && Y ? ks_sums_make(run, &both, &sums, &arena, err)
                    : ks_nomem(err, "the means over trials", arena.failed);
        own = sums.whole;
    }
    ks_arena_free(&arena);
    *value = one->own > 0 && two->own > 0 ? own / sqrt(one->own) / sqrt(two->own) : NAN;
    return st;
}

static kspec_status align(const ks_run *run, const ks_paired *p, kspec_compare_result *r, ks_arena *arena,
                          kspec_error *err) {
    const ks_run first = ks_run_part(run, 0, 0.9), last = ks_run_part(run, 0.9, 1);
    const ks_second *one = &p->own[0]->second, *two = &p->own[1]->second;
    const ks_shape *K = &p->own[0]->shape, *L = &p->own[1]->shape;
    double *cross, own;
    ks_lost lost;
    kspec_status st = ks_cross_make(&first, p->matrix[0], p->matrix[1], p->o->splits, p->o->seed, &cross,
                                    &lost, &own, arena, err);
    if (!st) st = ks_alignment_set(one, two, cross, &lost, p->matrix[0]->rows.of != NULL, r, arena, err);
    if (st) return st;
    if (K->n && L->n)
        r->alignment_p = ks_permuted_p(K, L, one->P, cross[0] * (double)one->Q * (double)two->Q);
    return biased_alignment(&last, p, own, &r->alignment_biased, err);
}

/* ---- doubts ---- */

/*
 * Adds a note about higher orders that both matrices allow. A call without a requested order omits the higher
 * orders.
 */
static void tell_left_out(const ks_paired *p, ks_doubts to) {
    const int a = ks_higher_most(p->matrix[0]), b = ks_higher_most(p->matrix[1]), most = a < b ? a : b;
    if (p->o->nmax || p->matrix[0]->rows.of || p->matrix[1]->rows.of) return;
    ks_doubt_orders_left_out(to, 3, most);
}

static kspec_status add_doubts(const ks_paired *p, kspec_compare_result *r, kspec_error *err) {
    const ks_doubts to = KS_DOUBTS(r);
    const double dimension[2] = {r->dimension, r->other_dimension};
    char both[400];
    ks_print(both, sizeof both, "%.160s and %.160s", p->name[0], p->name[1]);
    if (r->device.unusable) ks_doubt(to, KSPEC_DOUBT_GPU_UNUSED, NULL, r->device.why, 0);
    for (int k = 0; k < 2; k++)
        if (p->data[k] && !p->told[k]) ks_check(to, p->name[k], p->data[k]);
    if (p->o->paired != KSPEC_PAIRED_COLS && p->data[0] && p->data[1])
        ks_check_two(to, both, p->data[0]->raw, p->data[1]->raw);
    for (int k = 0; k < 2; k++) {
        const ks_second *s = &p->own[k]->second;
        const ks_doubted d = {dimension[k], NAN, s->square[0], s->moment[0], NULL};
        if (!p->told[k]) ks_doubt_dimension(to, p->name[k], &d);
    }
    if (p->o->paired == KSPEC_PAIRED_ROWS && !isfinite(r->alignment))
        ks_doubt(to, KSPEC_DOUBT_ALIGNMENT_UNDEFINED, both,
                 isfinite(r->dimension)         ? p->name[1]
                 : isfinite(r->other_dimension) ? p->name[0]
                                                : "one matrix, or of both,",
                 0);
    else if (r->alignment_ci_low > 1)
        ks_doubt(to, KSPEC_DOUBT_ALIGNMENT_ABOVE_ONE, both, NULL, r->alignment);
    if (!p->told[0] && !p->told[1]) tell_left_out(p, to);
    return to.arena->failed ? ks_nomem(err, "the list of doubts", to.arena->failed) : KSPEC_OK;
}

/* ---- result ---- */

kspec_compare_result *ks_paired_result(const ks_paired *p) {
    const ks_measured *m = p->matrix[0];
    const ks_trials *t = &m->trials, *u = &p->matrix[1]->trials;
    kspec_compare_result *r = ks_result_new(sizeof *r);
    if (!r) return NULL;
    r->P = t->P, r->Q = t->Q, r->other_P = u->P, r->other_Q = u->Q;
    r->trials = t->count, r->other_trials = u->count, r->center = p->o->center, r->paired = p->o->paired;
    r->alignment = r->alignment_std_error = r->alignment_ci_low = r->alignment_ci_high = NAN;
    r->alignment_biased = r->alignment_p = r->alignment_rounding = NAN;
    r->shared_dimension = r->shared_dimension_std_error = NAN;
    r->shared_dimension_ci_low = r->shared_dimension_ci_high = NAN;
    r->groups = m->rows.of ? m->rows.count : 0;
    return r;
}

kspec_status ks_paired_make(const ks_run *run, const ks_paired *p, kspec_compare_result *r, ks_arena *arena,
                            kspec_error *err) {
    const ks_run first = ks_run_part(run, 0, p->o->nmax > 2 ? 0.8 : 0.1),
                 second = ks_run_part(run, p->o->nmax > 2 ? 0.8 : 0.1, 1);
    const ks_compared *const *own = p->own;
    const ks_two_matrices both = {p->o,
                                  {p->matrix[0], p->matrix[1]},
                                  {&own[0]->second, &own[1]->second},
                                  {own[0]->quarter, own[1]->quarter}};
    kspec_status st = ks_differences_make(&first, &both, r, arena, err);
    if (!st && p->o->paired == KSPEC_PAIRED_ROWS) st = align(&second, p, r, arena, err);
    return st ? st : add_doubts(p, r, err);
}
