/*
 * Implements kspec_compare(), which estimates the alignment of two matrices without bias, and compares their
 * dimensions and moments by the paired jackknife.
 */
#include "base/center.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/result.h"
#include "checks/check.h"
#include "device/borrowed.h"
#include "dimension/compare.h"
#include "dimension/differences.h"
#include "dimension/paired.h"
#include "dimension/shared.h"
#include "linalg/linalg.h"
#include "moments/trials_device.h"
#include "moments/where.h"
#include "kspec/host.h"

#include <string.h>

enum { HIGHEST = 4 };
/* The shared dimension may take SHARED_WORK multiply-adds, which is about a second. */
static const double SHARED_WORK = 1e10;

typedef struct {
    kspec_compare_opts o;
    ks_run run;
    ks_arena arena;
    ks_trials_given given[2];
    ks_measured m[2];
    /* raw are the given matrices in host memory, and used are the same after standardising. */
    const kspec_matrix *raw[2], *used[2];
    size_t block[2];
    kspec_compare_result *result;
} job;

/* Checks that the matrices have the same rows, or the same columns, as the pairing requires. */
static kspec_status check(const job *j, kspec_error *err) {
    const ks_trials *t = &j->m[0].trials, *u = &j->m[1].trials;
    if (j->o.paired == KSPEC_PAIRED_ROWS && t->P != u->P)
        return ks_fail(
            err, KSPEC_E_ARG,
            "the matrices have %zu and %zu rows: they cannot be the same inputs (pairing by columns, or "
            "none, gives differences without an alignment)",
            t->P, u->P);
    if (j->o.paired == KSPEC_PAIRED_COLS && t->Q != u->Q)
        return ks_fail(err, KSPEC_E_ARG,
                       "the matrices have %zu and %zu columns: they cannot be the same features", t->Q, u->Q);
    return KSPEC_OK;
}

/* ---- attempt ---- */

static ks_checked checked(const job *j, int second) {
    const ks_trials *t = &j->m[second].trials;
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

static kspec_status compute(job *j, const ks_placement *placement, kspec_compare_result **r,
                            kspec_error *err) {
    static const char *const words[2] = {"the first matrix", "the second matrix"};
    const ks_checked data[2] = {checked(j, 0), checked(j, 1)};
    const ks_run last = ks_run_part(&j->run, 0.8, 1);
    ks_compared own[2];
    ks_paired p = {.o = &j->o,
                   .matrix = {&j->m[0], &j->m[1]},
                   .own = {&own[0], &own[1]},
                   .name = {j->o.name ? j->o.name : words[0], j->o.other_name ? j->o.other_name : words[1]}};
    kspec_status st = KSPEC_OK;
    for (int k = 0; k < 2 && !st; k++) {
        const ks_run part = ks_run_part(&j->run, 0.4 * k, 0.4 * (k + 1));
        p.data[k] = j->m[k].trials.on_device ? NULL : &data[k];
        st = ks_compared_make(&part, &j->m[k], &j->o, p.data[k], words[k], &own[k], &j->arena, err);
    }
    if (!st && !(*r = ks_paired_result(&p))) st = ks_nomem(err, "the result", sizeof **r);
    if (st) return st;
    (*r)->block = j->block[0];
    ks_placement_describe(placement, &(*r)->device);
    return ks_paired_make(&last, &p, *r, &j->arena, err);
}

/* Adds up the work of the second-order sums, of each matrix and of both, and of the higher moments. */
static kspec_status decide(job *j, ks_placement *placement, kspec_error *err) {
    const ks_trials *t[2] = {&j->m[0].trials, &j->m[1].trials};
    ks_load l = {0};
    kspec_status st = KSPEC_OK;
    if (placement->want == KSPEC_DEVICE_CPU || placement->unusable) return KSPEC_OK;
    for (int k = 0; k < 2 && !st; k++) {
        ks_load_sums(&l, t[k]->P, t[k]->Q, t[k]->Q, t[k]->count > 1, ks_trials_splits(t[k], j->o.splits));
        st = ks_differences_load(&j->o, &j->m[k], &l, err);
    }
    if (j->o.paired == KSPEC_PAIRED_ROWS)
        ks_load_sums(&l, t[0]->P, t[0]->Q, t[1]->Q, t[0]->count > 1 || t[1]->count > 1,
                     ks_trials_splits(t[t[1]->split], j->o.splits));
    const int grouped = j->m[0].rows.of || j->m[1].rows.of;
    return st ? st : ks_where_second(placement, &l, grouped ? "a comparison of groups" : NULL, err);
}

static kspec_status attempt(void *ctx, ks_placement *placement, kspec_error *err) {
    job *j = ctx;
    kspec_compare_result *r = NULL;
    kspec_status st = decide(j, placement, err);
    j->run.device = placement->device;
    if (!st && !(st = ks_blas_enter(j->run.threads, err))) {
        st = compute(j, placement, &r, err);
        ks_blas_exit();
    }
    return ks_hand_over(st, r, &j->result);
}

/* ---- host ---- */

/* Divides rows into blocks. If the matrices share rows, both get blocks of the same size. */
static kspec_status make_blocks(job *j, kspec_error *err) {
    kspec_compare_opts *o = &j->o;
    const int shared = o->paired == KSPEC_PAIRED_ROWS;
    if (shared && o->other_row_groups)
        return ks_fail(err, KSPEC_E_ARG,
                       "with pairing by rows, the groups of the first matrix apply to both");
    j->block[0] = j->block[1] = o->block;
    kspec_status st =
        ks_block_labels(&j->block[0], &o->row_groups, &j->given[0],
                        shared && o->block == KSPEC_BLOCK_AUTO ? &j->given[1] : NULL, &j->arena, err);
    if (!st && !shared)
        st = ks_block_labels(&j->block[1], &o->other_row_groups, &j->given[1], NULL, &j->arena, err);
    return st;
}

kspec_status ks_compare_open(const kspec_compare_opts *o, const ks_trials_given *g, int second,
                             const char *what, const ks_run *there, int threads, ks_measured *m,
                             const kspec_matrix **used, ks_arena *arena, kspec_error *err) {
    const kspec_matrix *phi = g->phi;
    double population[2];
    size_t missing;
    *m = (ks_measured){.standardized = 0};
    kspec_status st = ks_check_pointer(err, phi, what);
    if (!st && g->ntrials)
        st = ks_populations(o->sampled, (const uint64_t[]){o->population_rows, o->population_cols}, phi->rows,
                            phi->cols, population, err);
    if (!st && o->standardize) st = ks_standardize(&phi, g->ntrials, g->row_trials, arena, err);
    *used = phi;
    const ks_dependence how = {.population = population,
                               .alike = 1,
                               .cols = phi ? phi->cols : 0,
                               .row_groups = second && o->paired != KSPEC_PAIRED_ROWS ? o->other_row_groups
                                                                                      : o->row_groups,
                               .on_device = there,
                               .threads = threads};
    if (!st)
        st = ks_measured_open_dependent(m, phi, g->ntrials, g->row_trials, &how, ks_centred(o->center), what,
                                        &missing, arena, err);
    m->standardized = o->standardize;
    return st;
}

static kspec_status open_both(job *j, const ks_run *there, kspec_error *err) {
    const ks_trials_given *a = &j->given[0], *b = &j->given[1];
    const int fits = a->phi && b->phi && a->ntrials && b->ntrials && a->phi->rows == b->phi->rows;
    kspec_status st = fits || j->o.paired != KSPEC_PAIRED_ROWS ? make_blocks(j, err) : KSPEC_OK;
    for (int k = 0; k < 2 && !st; k++) {
        j->raw[k] = j->given[k].phi;
        st = ks_compare_open(&j->o, &j->given[k], k, k ? "the second matrix" : "the first matrix", there,
                             j->run.threads, &j->m[k], &j->used[k], &j->arena, err);
    }
    return st ? st : check(j, err);
}

/* ---- GPU ---- */

/* Does the work fit the GPU whose memory contains both matrices? */
static kspec_status decide_there(job *j, ks_placement *placement, kspec_error *err) {
    const kspec_matrix *a = j->given[0].phi, *b = j->given[1].phi;
    ks_load l = {0};
    ks_load_sums(&l, a->rows, a->cols, a->cols, 0, 1);
    ks_load_sums(&l, b->rows, b->cols, b->cols, 0, 1);
    ks_load_sums(&l, a->rows, a->cols, b->cols, 0, 1);
    kspec_status st = ks_where_second(placement, &l, NULL, err);
    return st || (placement->device && !placement->device->streamed) ? st : KS_RETRY_ON_HOST;
}

static kspec_status attempt_there(job *j, ks_placement *placement, kspec_error *err) {
    const ks_trials_given *a = &j->given[0], *b = &j->given[1];
    const kspec_compare_opts *o = &j->o;
    kspec_compare_result *r = NULL;
    const int suits = placement->device && a->ntrials == 1 && b->ntrials == 1 && !o->row_trials &&
                      !o->other_row_trials && !o->row_groups && !o->other_row_groups && o->nmax <= 2;
    kspec_status st = suits ? decide_there(j, placement, err) : KS_RETRY_ON_HOST;
    if (st) return st;
    j->run.device = placement->device;
    j->m[0] = j->m[1] = (ks_measured){.standardized = 0};
    st = open_both(j, &j->run, err);
    if (!st && !(st = ks_blas_enter(j->run.threads, err))) {
        st = compute(j, placement, &r, err);
        ks_blas_exit();
    }
    for (int k = 0; k < 2; k++)
        if (j->m[k].trials.on_device) ks_trials_device_end(&j->run, &j->m[k].trials);
    return ks_hand_over(st, r, &j->result);
}

/* Copies both matrices to host memory. */
static kspec_status fetch(job *j, ks_placement *placement, ks_trials_given host[2], kspec_error *err) {
    kspec_status st = KSPEC_OK;
    for (int k = 0; k < 2 && !st; k++) {
        const ks_trials_given *g = &j->given[k];
        kspec_matrix *to = ks_arena_alloc(&j->arena, g->ntrials, sizeof *to);
        st = to ? ks_borrowed_fetch(placement, g->phi, g->ntrials, to, &j->arena, err)
                : ks_nomem(err, "the trials", j->arena.failed);
        host[k] = *g, host[k].phi = to;
    }
    return st;
}

/* Compares matrices in GPU memory on that GPU if possible. Otherwise copies the matrices to host memory. */
static kspec_status attempt_any(void *ctx, ks_placement *placement, kspec_error *err) {
    job *j = ctx;
    const ks_trials_given there[2] = {j->given[0], j->given[1]};
    if (!j->o.data_memory) return attempt(j, placement, err);
    ks_trials_given host[2];
    kspec_status st = attempt_there(j, placement, err);
    if (st == KS_RETRY_ON_HOST) {
        st = fetch(j, placement, host, err);
        if (st) return st;
        memcpy(j->given, host, sizeof host);
        st = open_both(j, NULL, err);
        if (!st) st = attempt(j, placement, err);
        memcpy(j->given, there, sizeof there);
    } else if (!st && ks_shared_small(&j->o, j->used[0], j->used[1], SHARED_WORK)) {
        st = fetch(j, placement, host, err);
        for (int k = 0; k < 2 && !st; k++) j->used[k] = host[k].phi;
    }
    return st;
}

static kspec_status open_there(job *j, ks_placement *placement, kspec_error *err) {
    const kspec_compare_opts *o = &j->o;
    const char *what = o->standardize ? "standardize" : o->block ? "block" : NULL;
    size_t count = 0;
    if (what) return ks_refuse(err, KSPEC_E_ARG, what, NULL, "%s takes matrices in the host's memory", what);
    for (int k = 0; k < 2; k++) {
        const ks_trials_given *g = &j->given[k];
        kspec_status st = ks_check_pointer(err, g->phi, k ? "the second matrix" : "the first matrix");
        if (st) return st;
        if (g->ntrials == 0) return ks_fail(err, KSPEC_E_ARG, "number of trials 0 is below 1");
        count += g->ntrials;
    }
    kspec_matrix *all = ks_arena_alloc(&j->arena, count, sizeof *all);
    if (!all) return ks_nomem(err, "the trials", j->arena.failed);
    memcpy(all, j->given[0].phi, j->given[0].ntrials * sizeof *all);
    memcpy(all + j->given[0].ntrials, j->given[1].phi, j->given[1].ntrials * sizeof *all);
    return ks_placement_of_data(placement, ks_device_of_rank(o->device, o->team), all, count, err);
}

/* ---- call ---- */

kspec_status ks_compare_check(kspec_compare_opts *o, kspec_error *err) {
    kspec_status st = ks_center_resolve(&o->center, KSPEC_CENTER_ROWS, err);
    if (!st && ks_cols_centred(o->center))
        st = ks_fail(err, KSPEC_E_ARG, "a comparison centres over rows or not at all, not over %s",
                     o->center == KSPEC_CENTER_COLS ? "columns" : "both sides");
    if (!st) st = ks_borrowed_check(o->data_memory, err);
    if (!st && (o->paired < KSPEC_PAIRED_ROWS || o->paired > KSPEC_PAIRED_NONE))
        st = ks_fail(err, KSPEC_E_ARG, "unknown pairing %d", (int)o->paired);
    if (!st && o->splits < 0) st = ks_fail(err, KSPEC_E_ARG, "splits %d is below 1", o->splits);
    if (o->splits == 0) o->splits = 8;
    if (!st && (o->nmax < 0 || o->nmax > HIGHEST))
        st = ks_fail(err, KSPEC_E_ARG, "order %d is not between 1 and %d", o->nmax, HIGHEST);
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
    j.given[0] = (ks_trials_given){phi, ntrials, j.o.row_trials};
    j.given[1] = (ks_trials_given){psi, other_ntrials, j.o.other_row_trials};
    if (!st) st = ks_compare_check(&j.o, err);
    if (!st && j.o.data_memory)
        st = open_there(&j, &placement, err);
    else if (!st && !(st = open_both(&j, NULL, err)))
        st = ks_placement_open(&placement, ks_device_of_rank(j.o.device, j.o.team), err);
    st = ks_placement_run(&placement, st, j.o.team, attempt_any, &j, err);
    /* Each rank computes the shared dimension. If one rank has too little memory, all ranks fail. */
    if (!st) {
        st = ks_shared_make(&j.o, j.used[0], ntrials, j.used[1], other_ntrials, SHARED_WORK, j.result, err);
        st = kspec_team_agree(j.o.team, st, err);
    }
    ks_arena_free(&j.arena);
    return ks_end(st, j.result, start, out);
}
