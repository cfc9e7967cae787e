/*
 * Implements kspec_dimension_batch(), which computes the dimensions of many matrices, in parallel on CPUs or
 * on a GPU.
 */
#include "base/center.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/matrix.h"
#include "base/result.h"
#include "device/borrowed.h"
#include "dimension/set.h"
#include "linalg/linalg.h"
#include "moments/careful.h"
#include "moments/doubts.h"
#include "moments/evidence.h"
#include "pairs/lists.h"

#include <math.h>
#include <stdio.h>

typedef struct {
    const kspec_matrix *phi;
    size_t count, ntrials;
    const kspec_dimension_opts *o;
    kspec_dimension_result **out;
    /*
     * The GPU computes a part of the batch together. `from` is the part's first matrix. The lists are sums of
     * the part's matrices.
     */
    size_t from;
    double population[2];
    const ks_batch_job *job;
    const ks_placement *placement;
} batch;

static kspec_status name_matrix(size_t k, kspec_status st, kspec_error *err) {
    kspec_error named;
    if (!st || st == KSPEC_E_CANCELLED || !err) return st;
    named = *err;
    snprintf(named.msg, sizeof named.msg, "matrix %zu (from 0): %.*s", k, (int)sizeof named.msg - 64,
             err->msg);
    *err = named;
    return st;
}

/* ---- CPUs ---- */

static kspec_status one(void *ctx, size_t k, const ks_worker *worker) {
    const batch *b = ctx;
    kspec_dimension_opts o = *b->o;
    o.threads = 1, o.progress = (kspec_progress){0};
    return name_matrix(k, kspec_dimension(b->phi + k * b->ntrials, b->ntrials, &o, &b->out[k], worker->err),
                       worker->err);
}

/*
 * Computes one matrix after another on all threads, which is best for matrices that are large, few, or on a
 * GPU.
 */
static kspec_status in_turn(const batch *b, const ks_run *run, kspec_error *err) {
    kspec_status st = KSPEC_OK;
    for (size_t k = 0; k < b->count && !st; k++) {
        kspec_dimension_opts o = *b->o;
        o.progress = (kspec_progress){0};
        if (ks_run_report(run, (double)k / (double)b->count))
            return ks_fail(err, KSPEC_E_CANCELLED, "cancelled");
        if (!b->out[k])
            st = name_matrix(k, kspec_dimension(b->phi + k * b->ntrials, b->ntrials, &o, &b->out[k], err),
                             err);
    }
    return st;
}

/* ---- GPU ---- */

/*
 * SMALL is the largest number of entries of a matrix that the GPU computes together with others. TOGETHER is
 * the largest number of entries at once.
 */
static const size_t SMALL = (size_t)1 << 21, TOGETHER = (size_t)1 << 28;

static int suits(const batch *b) {
    const kspec_dimension_opts *o = b->o;
    const size_t P = b->phi[0].rows, Q = b->phi[0].cols;
    if (!o->data_memory || b->ntrials != 1 || o->row_groups || o->col_groups || o->block || o->pairwise ||
        o->curve || o->target || o->standardize || ks_cols_centred(o->center) ||
        o->center == KSPEC_CENTER_BOTH || P < 5 || Q < 3 || ks_size(P, Q) > SMALL)
        return 0;
    for (size_t k = 1; k < b->count; k++)
        if (b->phi[k].rows != P || b->phi[k].cols != Q) return 0;
    return 1;
}

/* Are all matrices row-major and contiguous in memory? */
static int lie_together(const batch *b) {
    for (size_t k = 0; k < b->count; k++)
        if (!ks_borrowed_by_rows(&b->phi[k]) ||
            b->phi[k].data != b->phi[0].data + k * b->phi[0].rows * b->phi[0].cols)
            return 0;
    return 1;
}

static kspec_status pack(const batch *b, const ks_run *run, size_t count, ks_mat *X, kspec_error *err) {
    const size_t P = b->phi[0].rows, Q = b->phi[0].cols;
    const kspec_matrix all = ks_matrix_of(b->phi[b->from].data, count * P, Q);
    kspec_status st = KSPEC_OK;
    if (lie_together(b)) return ks_borrowed_pack(run, &all, 1, X, err);
    for (size_t k = 0; k < count && !st; k++)
        st = ks_borrowed_pack(run, &b->phi[b->from + k], 1, ks_mat_view(X, k * P * Q), err);
    return st;
}

static kspec_status set_result(const batch *b, const ks_second *s, size_t k, kspec_dimension_result *r,
                               ks_arena *arena, kspec_error *err) {
    const ks_batch_job *j = b->job;
    const double *totals = j->totals + k * KS_BATCH_TOTALS;
    ks_dimensionality d;
    ks_evidence e;
    r->P = j->P, r->Q = j->Q, r->trials = 1, r->center = b->o->center, r->cycles = 1;
    r->signal_share = r->signal_share_std_error = r->signal_share_ci_low = r->signal_share_ci_high = NAN;
    ks_evidence_of_totals(totals, totals + j->count * KS_BATCH_TOTALS, j->P, j->Q, j->centered, &e);
    r->signal = e.signal, r->signal_z = e.z;
    ks_placement_describe(b->placement, &r->device);
    kspec_status st = ks_dimension_set(s, &d, r, arena, err);
    const ks_labels of = {s->P, s->Q, 0, 0, 0};
    if (!st) ks_doubt_dominated(KS_DOUBTS(r), "the dimension", &d.bar, &of);
    return st ? st : ks_dimension_doubts(r, err);
}

/*
 * Computes the result of matrix k of the part from the lists. The function sets no result if the matrix needs
 * a separate computation.
 */
static kspec_status finish(void *ctx, size_t k, const ks_worker *worker) {
    const batch *b = ctx;
    const ks_batch_job *j = b->job;
    const size_t P = j->P, Q = j->Q, count = 1 + P + Q;
    double *list = j->lists + k * (KS_BATCH_ROWS * P + KS_BATCH_COLS * Q), *cols = list + KS_BATCH_ROWS * P;
    const ks_two t = {.P = P,
                      .Q = Q,
                      .R = Q,
                      .same = 1,
                      .columns = isinf(b->population[1]) ? 0 : b->population[1],
                      .centered = j->centered};
    const ks_lists l = {.t = &t,
                        .u = list,
                        .u2 = list,
                        .form = list + P,
                        .third = list + 2 * P,
                        .fourth = list + 3 * P,
                        .squares = list + 4 * P,
                        .cubes = list + 5 * P,
                        .v = cols,
                        .c = cols + Q,
                        .S3 = cols + 2 * Q,
                        .S4 = cols + 3 * Q,
                        .d = cols + 4 * Q,
                        .v2 = cols};
    const double start = ks_now();
    ks_arena arena = {0};
    ks_sums sums;
    kspec_dimension_result *r = NULL;
    ks_second s = {.P = P,
                   .Q = Q,
                   .rows = (double)P,
                   .cycles = 1,
                   .share = {1 - (double)P / b->population[0], 1 - (double)Q / b->population[1]},
                   .trace = ks_arena_zalloc(&arena, count, sizeof(double)),
                   .square = ks_arena_zalloc(&arena, count, sizeof(double)),
                   .moment = ks_arena_zalloc(&arena, count, sizeof(double))};
    kspec_status st = arena.failed ? ks_nomem(worker->err, "leave-one-out estimates", arena.failed)
                                   : ks_lists_sums(&l, &sums, &arena, worker->err);
    if (!st) ks_second_add(&sums, P, j->centered, b->population, 1, &s);
    s.own = st ? 0 : sums.whole;
    s.naive = s.own > 0 ? sums.all.t * sums.all.t / s.own : NAN;
    const double mean_square = st ? 0 : sums.all.t / ((double)P * (double)Q);
    const int sound = mean_square > 1e-60 && mean_square < 1e60; /* nothing was scaled */
    if (st || !sound || ks_lost_matters(s.square, P, count, &s.lost[1]) ||
        ks_lost_matters(s.moment, P, count, &s.lost[2])) {
        ks_arena_free(&arena);
        return st;
    }
    if (!(r = ks_result_new(sizeof *r))) st = ks_nomem(worker->err, "the result", sizeof *r);
    if (!st) st = set_result(b, &s, k, r, &arena, worker->err);
    ks_arena_free(&arena);
    if (st) {
        kspec_free(r);
        return name_matrix(b->from + k, st, worker->err);
    }
    r->seconds = ks_now() - start;
    b->out[b->from + k] = r;
    return KSPEC_OK;
}

/* Computes one part on the GPU. Sets *done to 0 if the part does not fit, or if the GPU failed. */
static kspec_status make_part(const batch *b, const ks_run *run, size_t count, int *done, kspec_error *err) {
    const kspec_dimension_opts *o = b->o;
    const size_t P = b->phi[0].rows, Q = b->phi[0].cols;
    const ks_backend *at = ks_backend_of(run);
    ks_device *d = run->device;
    ks_arena arena = {0};
    ks_mat *X = NULL;
    kspec_error unused;
    ks_batch_job job = {
        .count = count,
        .P = P,
        .Q = Q,
        .centered = ks_centred(o->center),
        .by_columns = Q < P,
        .lists =
            ks_arena_alloc(&arena, ks_size(count, KS_BATCH_ROWS * P + KS_BATCH_COLS * Q), sizeof(double)),
        .totals = ks_arena_alloc(&arena, ks_size(2 * count, KS_BATCH_TOTALS), sizeof(double))};
    *done = 0;
    kspec_status st = arena.failed ? ks_nomem(err, "the sums of a batch", arena.failed) : KSPEC_OK;
    int there = !st && !at->hold(run, count * P, Q, "a batch", &X, &unused);
    if (there) job.X = ks_mat_address(X), there = !pack(b, run, count, X, &unused);
    if (there) there = !d->plugin->batch(d->gpu, &job);
    if (X) at->drop(run, X);
    batch part = *b;
    part.job = &job;
    ks_run processor = *run;
    processor.device = NULL;
    if (there) st = ks_parallel_for(&processor, count, finish, &part, err);
    *done = there;
    ks_arena_free(&arena);
    return st;
}

static kspec_status together(const batch *b, const ks_run *all, kspec_error *err) {
    const size_t each = b->phi[0].rows * b->phi[0].cols, most = TOGETHER / each;
    ks_placement placement = {0};
    ks_run run = *all;
    const size_t asked = lie_together(b) ? 1 : b->count;
    kspec_status st = ks_placement_of_data(&placement, b->o->device, b->phi, asked, err);
    run.device = placement.device;
    batch placed = *b;
    placed.placement = &placement;
    int done = run.device != NULL;
    if (!st && done) st = ks_blas_enter(run.threads, err);
    const int entered = !st && done;
    for (placed.from = 0; placed.from < b->count && !st && done; placed.from += most) {
        const size_t count = b->count - placed.from < most ? b->count - placed.from : most;
        run.from = all->from + (all->to - all->from) * (double)placed.from / (double)b->count;
        st = make_part(&placed, &run, count, &done, err);
    }
    if (entered) ks_blas_exit();
    ks_placement_close(&placement);
    return st;
}

/* ---- call ---- */

static kspec_status check(const batch *b, kspec_error *err) {
    kspec_status st = ks_check_pointer(err, b->phi, "the matrices");
    if (st) return st;
    if (b->count == 0) return ks_fail(err, KSPEC_E_ARG, "a batch of 0 matrices is below 1");
    if (b->ntrials == 0) return ks_fail(err, KSPEC_E_ARG, "number of trials 0 is below 1");
    if (b->o->team) return ks_fail(err, KSPEC_E_ARG, "a batch and a team of processes cannot be combined");
    return ks_borrowed_check(b->o->data_memory, err);
}

kspec_status kspec_dimension_batch(const kspec_matrix *phi, size_t count, size_t ntrials,
                                   const kspec_dimension_opts *opts, kspec_dimension_result **out,
                                   kspec_error *err) {
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    kspec_dimension_opts o;
    ks_run run;
    batch b = {.phi = phi, .count = count, .ntrials = ntrials, .o = &o, .out = out};
    kspec_status st = ks_take_opts(&o, sizeof o, opts, err);
    if (!st) st = check(&b, err);
    if (!st) st = ks_run_init(&run, o.threads, o.progress, err);
    if (!st) st = ks_center_resolve(&o.center, KSPEC_CENTER_ROWS, err);
    if (st) return st;
    for (size_t k = 0; k < count; k++) out[k] = NULL;
    const uint64_t given[2] = {o.population_rows, o.population_cols};
    if (suits(&b) && !ks_populations(o.sampled, given, phi->rows, phi->cols, b.population, err))
        st = together(&b, &run, err);
    const int on_host = !o.data_memory && (o.device == KSPEC_DEVICE_AUTO || o.device == KSPEC_DEVICE_CPU);
    if (on_host) o.device = KSPEC_DEVICE_CPU;
    if (!st)
        st = on_host && count >= (size_t)run.threads ? ks_parallel_for(&run, count, one, &b, err)
                                                     : in_turn(&b, &run, err);
    for (size_t k = 0; k < count && st; k++) kspec_free(out[k]), out[k] = NULL;
    return st;
}
