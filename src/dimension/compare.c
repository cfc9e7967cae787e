/* kspec_compare(): estimates alignment without bias, and differences with the paired jackknife. */
#include "base/center.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/result.h"
#include "checks/check.h"
#include "dimension/alignment.h"
#include "dimension/differences.h"
#include "dimension/higher.h"
#include "dimension/permuted.h"
#include "dimension/shared.h"
#include "linalg/linalg.h"
#include "moments/doubts.h"
#include "moments/second.h"
#include "moments/where.h"
#include "pairs/sums.h"
#include "kspec/host.h"

#include <math.h>

enum { HIGHEST = 4 };
/* the most multiply-adds for the shared dimension: about a second */
static const double SHARED_WORK = 1e10;

typedef struct {
    kspec_compare_opts o;
    ks_run run;
    ks_arena arena;
    ks_measured first, second;
    ks_second one, two;
    const kspec_matrix *raw[2], *used[2]; /* as given, and standardised if requested */
    size_t block[2];
    kspec_compare_result *result;
} job;

static kspec_status check(job *j, kspec_error *err) {
    kspec_compare_opts *o = &j->o;
    const ks_trials *t = &j->first.trials, *u = &j->second.trials;
    if (o->paired < KSPEC_PAIRED_ROWS || o->paired > KSPEC_PAIRED_NONE)
        return ks_fail(err, KSPEC_E_ARG, "unknown pairing %d", (int)o->paired);
    if (o->paired == KSPEC_PAIRED_ROWS && t->P != u->P)
        return ks_fail(
            err, KSPEC_E_ARG,
            "the matrices have %zu and %zu rows: they cannot be the same inputs (pairing by columns, or "
            "none, gives differences without an alignment)",
            t->P, u->P);
    if (o->paired == KSPEC_PAIRED_COLS && t->Q != u->Q)
        return ks_fail(err, KSPEC_E_ARG,
                       "the matrices have %zu and %zu columns: they cannot be the same features", t->Q, u->Q);
    if (o->splits < 0) return ks_fail(err, KSPEC_E_ARG, "splits %d is below 1", o->splits);
    if (o->splits == 0) o->splits = 8;
    if (o->nmax < 0 || o->nmax > HIGHEST)
        return ks_fail(err, KSPEC_E_ARG, "order %d is not between 1 and %d", o->nmax, HIGHEST);
    return KSPEC_OK;
}

/* ---- alignment ---- */

/* Tests whether the alignment is zero, from the first split. `cross` is in units of both matrices. */
static kspec_status set_p(job *j, const ks_run *run, double cross, double *p, kspec_error *err) {
    ks_pair pair[2];
    ks_shape shape[2];
    ks_measured *const of[2] = {&j->first, &j->second};
    ks_run on_processor = *run;
    on_processor.device = NULL;
    kspec_status st = KSPEC_OK;
    if (!ks_centred(j->o.center) || isfinite(j->first.population[0]) || j->first.rows.of) return KSPEC_OK;
    for (int k = 0; k < 2 && !st; k++) { /* the second matrix takes its halves in the opposite order */
        ks_trials_split(&of[k]->trials, j->o.seed, 0, &of[k]->halves, &pair[k]);
        const double *A = k ? pair[k].B : pair[k].A, *B = k ? pair[k].A : pair[k].B;
        st = ks_shape_make(&on_processor, A, B, pair[k].P, pair[k].Q, j->o.seed, &shape[k], err);
    }
    if (!st) *p = ks_permuted_p(&shape[0], &shape[1], j->one.P, cross * (double)j->one.Q * (double)j->two.Q);
    return st;
}

/*
 * The usual alignment, <K, L> / (|K| |L|), of the means over trials. own: <K, L> if either matrix has one
 * trial.
 */
static kspec_status biased_alignment(job *j, const ks_run *run, double own, double *value, kspec_error *err) {
    ks_arena arena = {0};
    kspec_status st = KSPEC_OK;
    if (isnan(own)) {
        const double *X = ks_measured_mean(&j->first, &arena), *Y = ks_measured_mean(&j->second, &arena);
        const ks_two both = {X, X, Y, Y, j->first.trials.P, j->first.trials.Q, j->second.trials.Q};
        ks_sums sums = {.whole = NAN};
        st = X && Y ? ks_sums_make(run, &both, &sums, &arena, err)
                    : ks_nomem(err, "the means over trials", arena.failed);
        own = sums.whole;
    }
    ks_arena_free(&arena);
    *value = j->one.own > 0 && j->two.own > 0 ? own / sqrt(j->one.own) / sqrt(j->two.own) : NAN;
    return st;
}

/* ---- doubts ---- */

/* Reports higher orders that both matrices allow and that a call without a requested order omits. */
static void tell_left_out(const job *j, ks_doubts to) {
    const int a = ks_higher_most(&j->first), b = ks_higher_most(&j->second), most = a < b ? a : b;
    if (j->o.nmax || j->first.rows.of || j->second.rows.of) return;
    ks_doubt_orders_left_out(to, 3, most);
}

static ks_checked checked(const job *j, int second) {
    const ks_trials *t = second ? &j->second.trials : &j->first.trials;
    return (ks_checked){.phi = t->phi,
                        .raw = j->raw[second],
                        .series = j->o.block != 0,
                        .row_groups = second && j->o.paired != KSPEC_PAIRED_ROWS ? j->o.other_row_groups
                                                                                 : j->o.row_groups,
                        .ntrials = t->count,
                        .row_trials = t->row_trials,
                        .center = j->o.center,
                        .sampled = j->o.sampled,
                        .threads = j->o.threads};
}

static kspec_status add_doubts(job *j, kspec_compare_result *r, kspec_error *err) {
    const ks_doubts to = KS_DOUBTS(r);
    const char *first = j->o.name ? j->o.name : "the first matrix",
               *second = j->o.other_name ? j->o.other_name : "the second matrix";
    char both[400];
    const ks_doubted a = {r->dimension, NAN, j->one.square[0], j->one.moment[0], NULL},
                     b = {r->other_dimension, NAN, j->two.square[0], j->two.moment[0], NULL};
    ks_print(both, sizeof both, "%.160s and %.160s", first, second);
    if (r->device.unusable) ks_doubt(to, KSPEC_DOUBT_GPU_UNUSED, NULL, r->device.why, 0);
    for (int k = 0; k < 2; k++) {
        const ks_checked data = checked(j, k);
        ks_check(to, k ? second : first, &data);
    }
    if (j->o.paired != KSPEC_PAIRED_COLS) ks_check_two(to, both, j->raw[0], j->raw[1]);
    ks_doubt_dimension(to, first, &a);
    ks_doubt_dimension(to, second, &b);
    if (j->o.paired == KSPEC_PAIRED_ROWS && !isfinite(r->alignment))
        ks_doubt(to, KSPEC_DOUBT_ALIGNMENT_UNDEFINED, both,
                 isfinite(r->dimension)         ? second
                 : isfinite(r->other_dimension) ? first
                                                : "one matrix, or of both,",
                 0);
    else if (r->alignment_ci_low > 1)
        ks_doubt(to, KSPEC_DOUBT_ALIGNMENT_ABOVE_ONE, both, NULL, r->alignment);
    tell_left_out(j, to);
    return to.arena->failed ? ks_nomem(err, "the list of doubts", to.arena->failed) : KSPEC_OK;
}

/* ---- the call ---- */

static kspec_status compute(job *j, kspec_compare_result *r, kspec_error *err) {
    const ks_run *whole = &j->run;
    ks_run first = ks_run_part(whole, 0, 0.2), second = ks_run_part(whole, 0.2, 0.4),
           third = ks_run_part(whole, 0.4, 0.6), fourth = ks_run_part(whole, 0.6, 0.8),
           last = ks_run_part(whole, 0.8, 1);
    const ks_checked data[2] = {checked(j, 0), checked(j, 1)};
    kspec_status st = ks_second_make(&first, &j->first, j->o.splits, j->o.seed, &j->one, &j->arena, err);
    if (!st) st = ks_second_make(&second, &j->second, j->o.splits, j->o.seed, &j->two, &j->arena, err);
    if (!st) st = ks_check_blame(ks_second_check(&j->one, "the first matrix", err), &data[0], err);
    if (!st) st = ks_check_blame(ks_second_check(&j->two, "the second matrix", err), &data[1], err);
    const ks_two_matrices both = {&j->o, {&j->first, &j->second}, {&j->one, &j->two}};
    if (!st) st = ks_differences_make(&third, &both, r, &j->arena, err);
    if (st || j->o.paired != KSPEC_PAIRED_ROWS) return st;
    double *cross, own;
    ks_lost lost;
    st = ks_cross_make(&fourth, &j->first, &j->second, j->o.splits, j->o.seed, &cross, &lost, &own, &j->arena,
                       err);
    if (!st)
        st = ks_alignment_set(&j->one, &j->two, cross, &lost, j->first.rows.of != NULL, r, &j->arena, err);
    if (!st) st = set_p(j, &last, cross[0], &r->alignment_p, err);
    return st ? st : biased_alignment(j, &last, own, &r->alignment_biased, err);
}

/* Adds up the work: second-order sums of each matrix and of both for the alignment, and higher moments. */
static kspec_status decide(job *j, ks_placement *placement, kspec_error *err) {
    const ks_trials *t[2] = {&j->first.trials, &j->second.trials};
    ks_load l = {0};
    kspec_status st = KSPEC_OK;
    if (placement->want == KSPEC_DEVICE_CPU || placement->unusable) return KSPEC_OK;
    for (int k = 0; k < 2 && !st; k++) {
        ks_load_sums(&l, t[k]->P, t[k]->Q, t[k]->Q, t[k]->count > 1, ks_trials_splits(t[k], j->o.splits));
        st = ks_differences_load(&j->o, k ? &j->second : &j->first, &l, err);
    }
    if (j->o.paired == KSPEC_PAIRED_ROWS)
        ks_load_sums(&l, t[0]->P, t[0]->Q, t[1]->Q, t[0]->count > 1 || t[1]->count > 1,
                     ks_trials_splits(t[t[1]->split], j->o.splits));
    const int grouped = j->first.rows.of || j->second.rows.of;
    return st ? st : ks_where_second(placement, &l, grouped ? "a comparison of groups" : NULL, err);
}

static kspec_status attempt(void *ctx, ks_placement *placement, kspec_error *err) {
    job *j = ctx;
    kspec_compare_result *r = NULL;
    kspec_status st = decide(j, placement, err);
    j->run.device = placement->device;
    if (!st && !(r = ks_result_new(sizeof *r))) st = ks_nomem(err, "the result", sizeof *r);
    if (!st && !(st = ks_blas_enter(j->run.threads, err))) {
        const ks_trials *t = &j->first.trials, *u = &j->second.trials;
        r->P = t->P, r->Q = t->Q, r->other_P = u->P, r->other_Q = u->Q;
        r->trials = t->count, r->other_trials = u->count, r->center = j->o.center, r->paired = j->o.paired;
        r->alignment = r->alignment_std_error = r->alignment_ci_low = r->alignment_ci_high = NAN;
        r->alignment_biased = r->alignment_p = r->alignment_rounding = NAN;
        r->groups = j->first.rows.of ? j->first.rows.count : 0, r->block = j->block[0];
        ks_placement_describe(placement, &r->device);
        st = compute(j, r, err);
        if (!st) st = add_doubts(j, r, err);
        ks_blas_exit();
    }
    if (st)
        kspec_free(r);
    else
        j->result = r;
    return st;
}

/* Makes blocks of rows, with the same size for both matrices if they share rows. */
static kspec_status make_blocks(job *j, const ks_trials_given given[2], kspec_error *err) {
    kspec_compare_opts *o = &j->o;
    const int shared = o->paired == KSPEC_PAIRED_ROWS;
    if (shared && o->other_row_groups)
        return ks_fail(err, KSPEC_E_ARG, "paired by rows, the groups of the first matrix apply to both");
    j->block[0] = j->block[1] = o->block;
    kspec_status st =
        ks_block_labels(&j->block[0], &o->row_groups, &given[0],
                        shared && o->block == KSPEC_BLOCK_AUTO ? &given[1] : NULL, &j->arena, err);
    if (!st && !shared)
        st = ks_block_labels(&j->block[1], &o->other_row_groups, &given[1], NULL, &j->arena, err);
    return st;
}

static kspec_status open_matrix(job *j, int second, const kspec_matrix *phi, size_t ntrials,
                                kspec_error *err) {
    const kspec_compare_opts *o = &j->o;
    const char *what = second ? "the second matrix" : "the first matrix";
    const size_t *row_trials = second ? o->other_row_trials : o->row_trials;
    ks_measured *m = second ? &j->second : &j->first;
    double population[2];
    size_t missing;
    kspec_status st = ks_check_pointer(err, phi, what);
    if (!st && ntrials)
        st = ks_populations(o->sampled, (const uint64_t[]){o->population_rows, o->population_cols}, phi->rows,
                            phi->cols, population, err);
    j->raw[second] = phi;
    if (!st && o->standardize) st = ks_standardize(&phi, ntrials, row_trials, &j->arena, err);
    j->used[second] = phi;
    const ks_dependence how = {.population = population,
                               .alike = 1,
                               .cols = phi ? phi->cols : 0,
                               .row_groups = second && o->paired != KSPEC_PAIRED_ROWS ? o->other_row_groups
                                                                                      : o->row_groups};
    if (!st)
        st = ks_measured_open_dependent(m, phi, ntrials, row_trials, &how, ks_centred(o->center), what,
                                        &missing, &j->arena, err);
    m->standardized = o->standardize;
    return st;
}

kspec_status kspec_compare(const kspec_matrix *phi, size_t ntrials, const kspec_matrix *psi,
                           size_t other_ntrials, const kspec_compare_opts *opts, kspec_compare_result **out,
                           kspec_error *err) {
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    double start = ks_now();
    job j = {0};
    ks_placement placement = {0};
    kspec_status st = ks_take_opts(&j.o, sizeof j.o, opts, err);
    if (!st) st = ks_run_init(&j.run, j.o.threads, j.o.progress, err);
    j.run.team = j.o.team;
    if (!st) st = ks_center_resolve(&j.o.center, KSPEC_CENTER_ROWS, err);
    if (!st && ks_cols_centred(j.o.center))
        st = ks_fail(err, KSPEC_E_ARG,
                     "two matrices are compared centred over rows or not centred, not over %s",
                     j.o.center == KSPEC_CENTER_COLS ? "columns" : "both sides");
    const ks_trials_given given[2] = {{phi, ntrials, j.o.row_trials},
                                      {psi, other_ntrials, j.o.other_row_trials}};
    const int fits = phi && psi && ntrials && other_ntrials && phi->rows == psi->rows;
    if (!st && (fits || j.o.paired != KSPEC_PAIRED_ROWS)) st = make_blocks(&j, given, err);
    if (!st) st = open_matrix(&j, 0, phi, ntrials, err);
    if (!st) st = open_matrix(&j, 1, psi, other_ntrials, err);
    if (!st) st = check(&j, err);
    if (!st) st = ks_placement_open(&placement, ks_device_of_rank(j.o.device, j.o.team), err);
    st = ks_placement_run(&placement, st, j.o.team, attempt, &j, err);
    if (!st) { /* each rank computes it; if one rank lacks memory, all fail */
        st = ks_shared_make(&j.o, j.used[0], ntrials, j.used[1], other_ntrials, SHARED_WORK, j.result, err);
        st = kspec_team_agree(j.o.team, st, err);
    }
    ks_arena_free(&j.arena);
    return ks_end(st, j.result, start, out);
}
