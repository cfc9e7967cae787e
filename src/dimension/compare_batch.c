/*
 * Implements kspec_compare_batch(), which compares every matrix of a batch with every matrix of another
 * batch, or all pairs of one batch. The call first computes each matrix's own estimates once, and then the
 * cross terms of each pair. For each pair, the call opens the matrices again. Opening takes far less time
 * than the products, and needs memory for only a few matrices.
 */
#include "base/center.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/result.h"
#include "device/borrowed.h"
#include "dimension/compare.h"
#include "dimension/differences.h"
#include "dimension/paired.h"
#include "linalg/linalg.h"
#include "moments/trials_device.h"
#include "moments/where.h"

#include <stdio.h>
#include <string.h>

/* Matrices with more entries than SMALL run one after another on all threads. */
static const size_t SMALL = (size_t)1 << 22;

typedef struct {
    const kspec_matrix *phi; /* matrix k begins at phi[k * ntrials] */
    size_t count, ntrials;
    const char *name;
    /* Each matrix has its own estimates and arena, which threads can fill in parallel. */
    ks_compared *own;
    ks_arena *arena;
} side;

typedef struct {
    kspec_compare_opts o;
    side side[2]; /* side[1] may be empty */
    int alone;
    ks_run run;
    const ks_placement *placement;
    kspec_compare_result **out;
} batch;

/*
 * Returns the number of matrix k within its batch, where k counts the matrices of both batches. *second is 1
 * if the matrix belongs to the second batch.
 */
static size_t place_of(const batch *b, size_t k, int *second) {
    *second = k >= b->side[0].count;
    return *second ? k - b->side[0].count : k;
}

static const side *other_of(const batch *b) { return &b->side[b->alone ? 0 : 1]; }

static kspec_status name_matrix(const side *s, size_t k, kspec_status st, kspec_error *err) {
    if (!st || st == KSPEC_E_CANCELLED || st == KS_RETRY_ON_HOST || !err) return st;
    const kspec_error plain = *err;
    snprintf(err->msg, sizeof err->msg, "%.40s[%zu]: %.*s", s->name, k, (int)sizeof plain.msg - 80,
             plain.msg);
    return st;
}

static ks_checked checked(const batch *b, const side *s, size_t k, const kspec_matrix *used) {
    return (ks_checked){.phi = used,
                        .raw = s->phi + k * s->ntrials,
                        .series = b->o.block != 0,
                        .ntrials = s->ntrials,
                        .row_groups = b->o.row_groups,
                        .center = b->o.center,
                        .sampled = b->o.sampled,
                        .threads = 1};
}

static kspec_status open_one(const batch *b, const side *s, size_t k, const ks_run *run, ks_measured *m,
                             const kspec_matrix **used, ks_arena *arena, kspec_error *err) {
    const ks_trials_given g = {s->phi + k * s->ntrials, s->ntrials, NULL};
    const ks_run *there = b->o.data_memory && run->device ? run : NULL;
    return name_matrix(
        s, k, ks_compare_open(&b->o, &g, 0, "the matrix", there, run->threads, m, used, arena, err), err);
}

static void close_one(const ks_run *run, ks_measured *m) {
    if (m->trials.on_device) ks_trials_device_end(run, &m->trials);
}

/* ---- matrices ---- */

static kspec_status make_own(const batch *b, const ks_run *run, size_t number, kspec_error *err) {
    int second;
    const size_t k = place_of(b, number, &second);
    const side *s = &b->side[second];
    const kspec_matrix *used;
    ks_arena scratch = {0};
    ks_measured m = {.standardized = 0};
    kspec_status st = open_one(b, s, k, run, &m, &used, &scratch, err);
    const ks_checked data = checked(b, s, k, used);
    if (!st)
        st = name_matrix(s, k,
                         ks_compared_make(run, &m, &b->o, m.trials.on_device ? NULL : &data, "the matrix",
                                          &s->own[k], &s->arena[k], err),
                         err);
    close_one(run, &m);
    ks_arena_free(&scratch);
    return st;
}

/* ---- pairs ---- */

/*
 * Computes the matrices i and k of pair number n in the order of `out`. For two batches the order is (0,0),
 * (0,1), .... For one batch it is (0,1), (0,2), (1,2), (0,3), ....
 */
static void pair_of(const batch *b, size_t n, size_t *i, size_t *k) {
    *i = n / other_of(b)->count, *k = n % other_of(b)->count;
    if (!b->alone) return;
    for (*i = n, *k = 1; *i >= *k; ++*k) *i -= *k;
}

static size_t pairs_of(const batch *b) {
    const size_t n = b->side[0].count;
    return b->alone ? n * (n - 1) / 2 : ks_size(n, b->side[1].count);
}

static kspec_status make_pair(const batch *b, const ks_run *run, size_t number, kspec_error *err) {
    const double start = ks_now();
    const side *s[2] = {&b->side[0], other_of(b)};
    size_t at[2];
    pair_of(b, number, &at[0], &at[1]);
    char name[2][80];
    ks_arena scratch = {0};
    ks_measured m[2] = {{.standardized = 0}, {.standardized = 0}};
    ks_checked data[2];
    const kspec_matrix *used;
    /* Only the first pair that contains a matrix reports doubts about this matrix. */
    ks_paired p = {.o = &b->o,
                   .matrix = {&m[0], &m[1]},
                   .own = {&s[0]->own[at[0]], &s[1]->own[at[1]]},
                   .name = {name[0], name[1]},
                   .told = {b->alone ? at[0] != 0 || at[1] != 1 : at[1] != 0, at[0] != 0}};
    kspec_status st = KSPEC_OK;
    for (int k = 0; k < 2 && !st; k++) {
        snprintf(name[k], sizeof name[k], "%.40s[%zu]", s[k]->name, at[k]);
        st = open_one(b, s[k], at[k], run, &m[k], &used, &scratch, err);
        data[k] = checked(b, s[k], at[k], used);
        p.data[k] = m[k].trials.on_device ? NULL : &data[k];
    }
    kspec_compare_result *r = NULL;
    if (!st && !(r = ks_paired_result(&p))) st = ks_nomem(err, "the result", sizeof *r);
    if (!st) {
        r->block = b->o.block;
        ks_placement_describe(b->placement, &r->device);
        st = name_matrix(s[0], at[0], ks_paired_make(run, &p, r, &scratch, err), err);
    }
    for (int k = 0; k < 2; k++) close_one(run, &m[k]);
    ks_arena_free(&scratch);
    if (st) {
        kspec_free(r);
        return st;
    }
    r->seconds = ks_now() - start;
    b->out[at[0] * s[1]->count + at[1]] = r;
    return KSPEC_OK;
}

/* ---- loops ---- */

typedef kspec_status step(const batch *b, const ks_run *run, size_t number, kspec_error *err);
typedef struct {
    const batch *b;
    step *make;
} loop;

static kspec_status in_thread(void *ctx, size_t number, const ks_worker *worker) {
    const loop *l = ctx;
    const ks_run one = {.threads = 1, .to = 1};
    return l->make(l->b, &one, number, worker->err);
}

/*
 * Runs small matrices in parallel. Large matrices, and matrices on a GPU, run one after another on all
 * threads.
 */
static kspec_status make_all(const batch *b, const ks_run *run, step *make, size_t count, kspec_error *err) {
    loop l = {b, make};
    int small = !run->device && count >= (size_t)run->threads;
    for (int k = 0; k < 2; k++)
        if (b->side[k].count) small &= ks_size(b->side[k].phi->rows, b->side[k].phi->cols) <= SMALL;
    if (small) return ks_parallel_for(run, count, in_thread, &l, err);
    kspec_status st = KSPEC_OK;
    for (size_t k = 0; k < count && !st; k++) {
        const ks_run part = ks_run_part(run, (double)k / (double)count, (double)(k + 1) / (double)count);
        st = ks_run_report(&part, 0) ? ks_fail(err, KSPEC_E_CANCELLED, "cancelled") : make(b, &part, k, err);
    }
    return st;
}

static void forget(batch *b) {
    for (int s = 0; s < 2; s++)
        for (size_t k = 0; k < b->side[s].count; k++) ks_arena_free(&b->side[s].arena[k]);
    for (size_t k = 0; k < b->side[0].count * other_of(b)->count; k++) {
        kspec_free(b->out[k]);
        b->out[k] = NULL;
    }
}

/*
 * Adds up the work of all pairs, and decides whether the GPU runs the call. The caller requested this GPU, or
 * it stores the data.
 */
static kspec_status decide(const batch *b, ks_placement *placement, kspec_error *err) {
    ks_load l = {0};
    for (int k = 0; k < 2; k++) {
        const kspec_matrix *x = other_of(b)->phi, *y = b->side[0].phi;
        const int two = b->side[0].ntrials > 1 || other_of(b)->ntrials > 1;
        ks_load_sums(&l, x->rows, k ? x->cols : y->cols, x->cols, two, two ? (size_t)b->o.splits : 1);
    }
    return ks_where_second(placement, &l, b->o.row_groups ? "a comparison of groups" : NULL, err);
}

static kspec_status attempt(batch *b, ks_placement *placement, kspec_error *err) {
    const int asked = placement->want != KSPEC_DEVICE_AUTO || placement->device;
    kspec_status st = asked ? decide(b, placement, err) : KSPEC_OK;
    b->placement = placement;
    b->run.device = placement->device;
    const ks_run first = ks_run_part(&b->run, 0, 0.4), second = ks_run_part(&b->run, 0.4, 1);
    if (!st && b->o.data_memory && (!placement->device || placement->device->streamed))
        return KS_RETRY_ON_HOST;
    if (st || (st = ks_blas_enter(b->run.threads, err))) return st;
    st = make_all(b, &first, make_own, b->side[0].count + b->side[1].count, err);
    if (!st) st = make_all(b, &second, make_pair, pairs_of(b), err);
    ks_blas_exit();
    return st;
}

/* Runs the call with copies of all matrices in host memory. */
static kspec_status attempt_on_host(batch *b, ks_placement *placement, kspec_error *err) {
    const batch given = *b;
    ks_arena arena = {0};
    kspec_status st = KSPEC_OK;
    for (int s = 0; s < 2 && !st; s++) {
        const size_t count = b->side[s].count * b->side[s].ntrials;
        kspec_matrix *host = count ? ks_arena_alloc(&arena, count, sizeof *host) : NULL;
        if (count && !host)
            st = ks_nomem(err, "the batch", arena.failed);
        else if (count)
            st = ks_borrowed_fetch(placement, b->side[s].phi, count, host, &arena, err);
        b->side[s].phi = host;
    }
    b->o.data_memory = KSPEC_MEMORY_HOST;
    if (!st) st = attempt(b, placement, err);
    b->o.data_memory = KSPEC_MEMORY_DEVICE;
    for (int s = 0; s < 2; s++) b->side[s].phi = given.side[s].phi;
    ks_arena_free(&arena);
    return st;
}

static kspec_status attempt_any(void *ctx, ks_placement *placement, kspec_error *err) {
    batch *b = ctx;
    const int there = b->o.data_memory && placement->device && !b->o.row_groups && b->side[0].ntrials == 1 &&
                      other_of(b)->ntrials == 1;
    kspec_status st = there || !b->o.data_memory ? attempt(b, placement, err) : KS_RETRY_ON_HOST;
    if (st == KS_RETRY_ON_HOST) {
        forget(b);
        st = attempt_on_host(b, placement, err);
    }
    if (st) forget(b);
    return st;
}

/* ---- call ---- */

static kspec_status check_shapes(const batch *b, kspec_error *err) {
    const kspec_matrix *first = b->side[0].phi;
    kspec_status st = KSPEC_OK;
    for (int s = 0; s < 2; s++)
        for (size_t k = 0; k < b->side[s].count && !st; k++) {
            const kspec_matrix *x = b->side[s].phi + k * b->side[s].ntrials;
            if (x->rows != first->rows)
                st = ks_fail(err, KSPEC_E_ARG,
                             "%s[0] has %zu rows and %s[%zu] has %zu: they cannot be the same inputs",
                             b->side[0].name, first->rows, b->side[s].name, k, x->rows);
        }
    return st;
}

static kspec_status check(batch *b, kspec_error *err) {
    kspec_compare_opts *o = &b->o;
    kspec_status st = ks_check_pointer(err, b->side[0].phi, "the batch");
    const char *what = o->nmax > 2                            ? "moments above m(2)"
                       : o->team                              ? "a team of processes"
                       : o->row_trials || o->other_row_trials ? "ragged trials"
                       : o->block                             ? "blocks"
                       : o->other_row_groups                  ? "groups of the second matrix alone"
                       : o->paired != KSPEC_PAIRED_ROWS       ? "a pairing other than rows"
                                                              : NULL;
    if (st) return st;
    if (what) return ks_fail(err, KSPEC_E_ARG, "a batch and %s cannot be combined", what);
    if (o->data_memory && o->standardize)
        return ks_refuse(err, KSPEC_E_ARG, "standardize", NULL,
                         "standardize takes matrices in the host's memory");
    for (int s = 0; s < (b->alone ? 1 : 2); s++) {
        if (b->side[s].count < (b->alone ? 2u : 1u))
            return ks_fail(err, KSPEC_E_ARG, "a batch of %zu matrices is below %d", b->side[s].count,
                           b->alone ? 2 : 1);
        if (b->side[s].ntrials == 0) return ks_fail(err, KSPEC_E_ARG, "number of trials 0 is below 1");
    }
    return check_shapes(b, err);
}

/* Allocates the lists for all matrices, and copies the matrices of both batches into one list. */
static kspec_status open_batch(batch *b, ks_placement *placement, ks_arena *arena, kspec_error *err) {
    size_t total = 0;
    for (int s = 0; s < 2; s++) {
        side *x = &b->side[s];
        x->own = ks_arena_zalloc(arena, x->count + 1, sizeof *x->own);
        x->arena = ks_arena_zalloc(arena, x->count + 1, sizeof *x->arena);
        total += ks_size(x->count, x->ntrials);
    }
    kspec_matrix *all = ks_arena_alloc(arena, total, sizeof *all);
    if (arena->failed) return ks_nomem(err, "a batch", arena->failed);
    const size_t first = b->side[0].count * b->side[0].ntrials;
    memcpy(all, b->side[0].phi, first * sizeof *all);
    if (!b->alone) memcpy(all + first, b->side[1].phi, (total - first) * sizeof *all);
    if (b->o.data_memory) return ks_placement_of_data(placement, b->o.device, all, total, err);
    return ks_placement_open(placement, b->o.device, err);
}

kspec_status kspec_compare_batch(const kspec_matrix *phi, size_t count, size_t ntrials,
                                 const kspec_matrix *psi, size_t other_count, size_t other_ntrials,
                                 const kspec_compare_opts *opts, kspec_compare_result **out,
                                 kspec_error *err) {
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    ks_arena arena = {0};
    ks_placement placement = {0};
    batch b = {.side = {{phi, count, ntrials, "first", NULL, NULL}, {0}}, .alone = !psi, .out = out};
    if (psi) b.side[1] = (side){psi, other_count, other_ntrials, "second", NULL, NULL};
    kspec_status st = ks_take_opts(&b.o, sizeof b.o, opts, err);
    if (!st && b.o.name) b.side[0].name = b.o.name;
    if (!st && b.o.other_name) b.side[1].name = b.o.other_name;
    if (!st) st = ks_run_init(&b.run, b.o.threads, b.o.progress, err);
    if (!st) st = ks_compare_check(&b.o, err);
    if (!st) st = check(&b, err);
    b.o.nmax = 2;
    for (size_t k = 0; k < (st ? 0 : ks_size(count, psi ? other_count : count)); k++) out[k] = NULL;
    if (!st) st = open_batch(&b, &placement, &arena, err);
    if (!st) {
        st = ks_placement_run(&placement, st, NULL, attempt_any, &b, err);
        for (int s = 0; s < 2; s++)
            for (size_t k = 0; k < b.side[s].count; k++) ks_arena_free(&b.side[s].arena[k]);
    } else {
        ks_placement_close(&placement);
    }
    ks_arena_free(&arena);
    return st;
}
