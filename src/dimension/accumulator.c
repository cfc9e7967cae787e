/*
 * Implements the calls kspec_accumulator_*, which estimate second-order quantities from rows that arrive
 * once, in batches.
 */
#include "dimension/accumulator.h"

#include "base/center.h"
#include "base/error.h"
#include "base/matrix.h"
#include "base/parallel.h"
#include "device/borrowed.h"
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>
#include <sys/random.h>

/*
 * The block must be long enough for products of columns to dominate the time, and small compared with these
 * products.
 */
size_t ks_accumulator_block = 1024;

enum { RESERVOIR = 4096 };

/* ---- opening ---- */

static kspec_status check(size_t features, kspec_accumulator_opts *o, kspec_error *err) {
    if (features == 0) return ks_fail(err, KSPEC_E_ARG, "an accumulator of 0 features is below 1");
    if (o->sampled < KSPEC_SAMPLED_BOTH || o->sampled > KSPEC_SAMPLED_COLS)
        return ks_refuse(err, KSPEC_E_ARG, "sampled", NULL, "unknown sampled %d", (int)o->sampled);
    kspec_status st = ks_center_resolve(&o->center, KSPEC_CENTER_ROWS, err);
    if (!st && ks_cols_centred(o->center))
        st = ks_refuse(err, KSPEC_E_ARG, "center", "rows",
                       "an accumulator is centred over rows or not at all, not over %s",
                       o->center == KSPEC_CENTER_COLS ? "columns" : "both sides");
    if (!o->reservoir) o->reservoir = RESERVOIR;
    if (!st && o->grouped && o->sampled == KSPEC_SAMPLED_COLS)
        st = ks_refuse(err, KSPEC_E_ARG, "grouped", NULL, "groups and complete rows cannot be combined");
    if (!st && o->reservoir < 2)
        st = ks_refuse(err, KSPEC_E_ARG, "reservoir", NULL, "a reservoir of %zu rows is below 2",
                       o->reservoir);
    return st;
}

/* Chooses a stream number that no other accumulator has, in any process. */
static kspec_status own_stream(uint64_t *stream, kspec_error *err) {
    while (*stream == 0)
        if (getrandom(stream, sizeof *stream, 0) != sizeof *stream)
            return ks_refuse(err, KSPEC_E_IO, "stream", NULL,
                             "the system gives no random numbers for a stream");
    return KSPEC_OK;
}

static kspec_status check_size(const kspec_accumulator *a, size_t all, kspec_error *err) {
    const size_t products = a->o.grouped ? ks_grouped_bytes((size_t[]){all, 0}, ks_centred(a->o.center), 1)
                                         : ks_size(ks_stream_numbers((size_t[]){all, 0}), sizeof(double)),
                 rows = ks_size(ks_size_add(a->o.reservoir, a->block), ks_size(all, sizeof(double)));
    return ks_check_memory(err, ks_size_add(products, rows),
                           "an accumulator of %zu x %zu products of columns (%.0f MB) and %zu rows (%.0f MB)",
                           all, all, ks_megabytes(products), a->o.reservoir + a->block, ks_megabytes(rows));
}

static kspec_status open_state(kspec_accumulator *a, const size_t cols[2], kspec_error *err) {
    const size_t all = cols[0] + cols[1];
    if (a->o.grouped) {
        a->sums.cols[0] = cols[0], a->sums.cols[1] = cols[1], a->sums.all = all;
        kspec_status st = ks_grouped_open(&a->groups, cols, ks_centred(a->o.center), &a->arena, err);
        return st ? st
                  : ks_group_sample_open(&a->group_sample, a->o.seed, a->o.reservoir, all, &a->arena, err);
    }
    kspec_status st = ks_stream_open(&a->sums, cols, &a->arena, err);
    if (!st) st = ks_reservoir_open(&a->sample, a->o.seed, a->o.reservoir, all, &a->arena, err);
    if (!st) st = ks_stream_room_open(&a->room, all, a->block, &a->arena, err);
    return st;
}

kspec_status ks_accumulator_new(size_t features, const kspec_accumulator_opts *o, size_t block,
                                size_t streams, kspec_accumulator **out, kspec_error *err) {
    const size_t all = ks_size_add(features, o->other_features), cols[2] = {features, o->other_features};
    ks_run run;
    kspec_accumulator *a = ks_zalloc(1, sizeof *a);
    if (!a) return ks_nomem(err, "an accumulator", sizeof *a);
    a->o = *o, a->block = o->grouped ? 0 : block;
    kspec_status st = ks_run_init(&run, o->threads, (kspec_progress){0}, err);
    a->threads = run.threads;
    if (!st) st = check_size(a, all, err);
    if (!st) st = open_state(a, cols, err);
    a->waiting = st ? NULL : ks_arena_alloc(&a->arena, a->block + 1, ks_size(all, sizeof(double)));
    a->streams = st ? NULL : ks_alloc(streams, sizeof *a->streams);
    if (!st && (!a->waiting || !a->streams)) st = ks_nomem(err, "an accumulator", a->arena.failed);
    if (st) {
        kspec_accumulator_close(a);
        return st;
    }
    a->streams[0] = o->stream, a->stream_count = 1;
    *out = a;
    return KSPEC_OK;
}

kspec_status kspec_accumulator_open(size_t features, const kspec_accumulator_opts *opts,
                                    kspec_accumulator **out, kspec_error *err) {
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    kspec_accumulator_opts o;
    kspec_status st = ks_take_opts(&o, sizeof o, opts, err);
    if (!st) st = check(features, &o, err);
    if (!st) st = own_stream(&o.stream, err);
    return st ? st : ks_accumulator_new(features, &o, ks_accumulator_block, 1, out, err);
}

void kspec_accumulator_close(kspec_accumulator *a) {
    if (!a) return;
    if (a->placement.device) ks_stream_leave(&(ks_run){.device = a->placement.device}, &a->there);
    ks_placement_close(&a->placement);
    ks_arena_free(&a->arena);
    ks_free(a->streams);
    ks_free(a);
}

const kspec_accumulator_shape *kspec_accumulator_describe(kspec_accumulator *a) {
    if (!a) return NULL;
    const uint64_t rows = a->o.grouped ? a->groups.rows : a->sums.n + a->held;
    a->shape = (kspec_accumulator_shape){a->sums.cols[0], a->sums.cols[1],  a->o.center,
                                         a->o.sampled,    a->o.stream,      rows,
                                         a->omitted,      a->groups.groups, a->o.grouped != 0};
    return &a->shape;
}

/* ---- rows ---- */

static ks_run on_device(const kspec_accumulator *a) {
    return (ks_run){.threads = a->threads, .to = 1, .device = a->placement.device};
}

/* Copies the state from the GPU to host memory. The accumulator's results do not change. */
kspec_status ks_accumulator_fetch(const kspec_accumulator *of, kspec_error *err) {
    kspec_accumulator *a = (kspec_accumulator *)of;
    const ks_run run = on_device(a);
    kspec_status st = KSPEC_OK;
    if (!a->lost && !run.device) return KSPEC_OK;
    if (!a->lost) st = ks_stream_fetch(&run, &a->sums, &a->sample, &a->there, err);
    if (st) a->lost = 1;
    return a->lost ? ks_fail(err, KSPEC_E_NUMERIC, "the GPU failed while it stored rows of the accumulator")
                   : KSPEC_OK;
}

/* Moves the state to the host, and removes the copy on the GPU. The host may then change the state. */
static kspec_status bring_home(kspec_accumulator *a, kspec_error *err) {
    kspec_status st = ks_accumulator_fetch(a, err);
    const ks_run run = on_device(a);
    if (!st && run.device) ks_stream_leave(&run, &a->there);
    return st;
}

static void flush(kspec_accumulator *a) {
    if (a->held) ks_stream_add(a->threads, &a->sums, a->waiting, a->held, &a->room);
    a->held = 0;
}

kspec_status ks_accumulator_flush(kspec_accumulator *a, kspec_error *err) {
    kspec_status st = a->held ? bring_home(a, err) : ks_accumulator_fetch(a, err);
    if (st || !a->held) return st;
    st = ks_blas_enter(a->threads, err);
    if (st) return st;
    flush(a);
    ks_blas_exit();
    return KSPEC_OK;
}

/* A row of a batch is MISSING if it contains NaN, and INFINITE if it contains an infinite entry. */
typedef enum { WHOLE, MISSING, INFINITE } kind;

static kind look(const kspec_matrix *x, size_t i, size_t *where) {
    kind k = WHOLE;
    for (size_t j = 0; j < x->cols && k != INFINITE; j++) {
        const double v = ks_at(x, i, j);
        if (isfinite(v) || (isnan(v) && k == MISSING)) continue;
        k = isnan(v) ? MISSING : INFINITE;
        *where = j;
    }
    return k;
}

static const char *const BATCHES[2] = {"the batch", "the second batch"};

/* Rows that one thread checks or copies at a time */
enum { ROWS = 64 };

typedef struct {
    kspec_accumulator *a;
    const kspec_matrix *x, *other;
    const char *what;
    size_t from, count; /* the rows of the batch */
    double *to;
} rows_job;

static kspec_status each_rows(const rows_job *j, ks_chunk_fn fn, kspec_error *err) {
    const ks_run run = {.threads = j->a->threads, .to = 1};
    return ks_parallel_for(&run, (j->count + ROWS - 1) / ROWS, fn, (void *)(uintptr_t)j, err);
}

static kspec_status check_rows(void *ctx, size_t chunk, const ks_worker *worker) {
    const rows_job *j = ctx;
    const size_t from = chunk * ROWS, to = from + ROWS < j->count ? from + ROWS : j->count;
    for (size_t i = from; i < to; i++) {
        size_t where = 0;
        const kind k = look(j->x, i, &where);
        if (k == WHOLE || (k == MISSING && j->a->o.omit_nan)) continue;
        kspec_status st = ks_fail(worker->err, KSPEC_E_DATA, "%s: row %zu, column %zu (from 0) is %s",
                                  j->what, i, where, k == MISSING ? "NaN" : "infinite");
        return k == MISSING ? ks_about(worker->err, "omit_nan", NULL, st) : st;
    }
    return KSPEC_OK;
}

static kspec_status check_entries(kspec_accumulator *a, const kspec_matrix *x, const char *what,
                                  kspec_error *err) {
    rows_job j = {.a = a, .x = x, .what = what, .count = x->rows};
    kspec_status st = each_rows(&j, check_rows, NULL);
    /* Only this thread's second look at the entries can name the option that leaves out rows with NaN. */
    const ks_worker alone = {.err = err};
    for (size_t k = 0; st && k * ROWS < x->rows; k++) {
        kspec_status found = check_rows(&j, k, &alone);
        if (found) return found;
    }
    return st;
}

static kspec_status check_batch(const kspec_accumulator *a, const kspec_matrix *x, const kspec_matrix *other,
                                const uint64_t *groups, kspec_error *err) {
    const size_t cols[2] = {a->sums.cols[0], a->sums.cols[1]};
    const kspec_matrix *part[2] = {x, other};
    if (groups && !a->o.grouped)
        return ks_refuse(err, KSPEC_E_ARG, "grouped", NULL,
                         "the accumulator takes no groups: it was not opened with grouped");
    if (!other != !cols[1])
        return ks_fail(err, KSPEC_E_ARG,
                       cols[1] ? "a batch of the second matrix is missing"
                               : "the accumulator has no second matrix: other_features is 0");
    for (int k = 0; k < 2 && part[k]; k++) {
        if (part[k]->rows == 0) return ks_fail(err, KSPEC_E_ARG, "%s has 0 rows, fewer than 1", BATCHES[k]);
        kspec_status st = ks_matrix_check(part[k], BATCHES[k], err);
        if (st) return st;
        if (part[k]->cols != cols[k])
            return ks_fail(err, KSPEC_E_ARG, "%s has %zu columns, the accumulator %zu", BATCHES[k],
                           part[k]->cols, cols[k]);
    }
    if (other && other->rows != x->rows)
        return ks_fail(err, KSPEC_E_ARG, "the batches have %zu and %zu rows", x->rows, other->rows);
    return KSPEC_OK;
}

int ks_accumulator_omits(const kspec_matrix *x, const kspec_matrix *other, size_t i) {
    size_t where;
    return look(x, i, &where) || (other && look(other, i, &where));
}

static void copy_row(const kspec_matrix *x, size_t i, double *to) {
    if (x->col_stride == 1)
        memcpy(to, x->data + (ptrdiff_t)i * x->row_stride, x->cols * sizeof *to);
    else
        for (size_t j = 0; j < x->cols; j++) to[j] = ks_at(x, i, j);
}

void ks_accumulator_row(const kspec_matrix *x, const kspec_matrix *other, size_t i, double *to) {
    copy_row(x, i, to);
    if (other) copy_row(other, i, to + x->cols);
}

static kspec_status copy_rows(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const rows_job *j = ctx;
    const size_t from = chunk * ROWS, to = from + ROWS < j->count ? from + ROWS : j->count;
    for (size_t i = from; i < to; i++)
        ks_accumulator_row(j->x, j->other, j->from + i, j->to + i * j->a->sums.all);
    return KSPEC_OK;
}

/* Counts the rows from `from` on that are added together: up to the first omitted one, or to a full block. */
static size_t rows_together(const kspec_accumulator *a, const kspec_matrix *x, const kspec_matrix *other,
                            size_t from) {
    const size_t room = a->block - a->held, left = x->rows - from, most = left < room ? left : room;
    size_t n = 0;
    while (a->o.omit_nan && n < most && !ks_accumulator_omits(x, other, from + n)) n++;
    return a->o.omit_nan ? n : most;
}

kspec_status kspec_accumulator_update(kspec_accumulator *a, const kspec_matrix *x, const kspec_matrix *other,
                                      const uint64_t *groups, kspec_error *err) {
    ks_clear(err);
    kspec_status st = ks_check_pointer(err, a, "the accumulator");
    if (!st) st = ks_check_pointer(err, x, "the batch");
    if (!st) st = check_batch(a, x, other, groups, err);
    if (!st) st = check_entries(a, x, BATCHES[0], err);
    if (!st && other) st = check_entries(a, other, BATCHES[1], err);
    if (!st && a->o.grouped) return ks_accumulator_add_groups(a, x, other, groups, err);
    if (!st) st = bring_home(a, err);
    if (!st) st = ks_blas_enter(a->threads, err);
    for (size_t i = 0; i < x->rows && !st;) {
        const size_t n = rows_together(a, x, other, i), all = a->sums.all;
        double *to = a->waiting + a->held * all;
        (void)each_rows(&(rows_job){a, x, other, NULL, i, n, to}, copy_rows, NULL); /* cannot fail */
        for (size_t k = 0; k < n; k++) ks_reservoir_offer(&a->sample, a->o.stream, a->taken++, to + k * all);
        a->held += n, i += n;
        if (a->held == a->block) {
            flush(a);
        } else if (i < x->rows) {
            a->omitted++, i++;
        }
    }
    if (!st) ks_blas_exit();
    return st;
}

/* ---- GPU ---- */

/* Opens the GPU whose memory contains the batch, when the first such batch arrives. */
static kspec_status open_device(kspec_accumulator *a, const kspec_matrix *x, size_t count, kspec_error *err) {
    ks_placement *p = &a->placement;
    if (!p->device) return ks_placement_of_data(p, KSPEC_DEVICE_AUTO, x, count, err);
    for (size_t k = 0; k < count; k++)
        if (p->device->plugin->owner(x[k].data) < 0)
            return ks_fail(err, KSPEC_E_ARG, "%s is not in the memory of a GPU", BATCHES[k]);
    return KSPEC_OK;
}

/* Adds the batch on the GPU. If the host must add it, sets *done to 0. */
static kspec_status add_on_device(kspec_accumulator *a, const kspec_matrix *x[2], int *done,
                                  kspec_error *err) {
    const ks_run run = on_device(a);
    ks_stream_batch b = {.count = 0};
    kspec_error unused = {0};
    *done = 0;
    if (!run.device || ks_stream_batch_open(&run, &a->sums, &a->sample, x, &b, done, &unused))
        return KSPEC_OK;
    if (*done && ks_stream_send(&run, &a->sums, &a->sample, &a->there, &unused)) *done = 0;
    kspec_status st = KSPEC_OK;
    if (*done) {
        st = ks_stream_batch_add(&run, &a->sums, &a->sample, a->o.stream, a->taken, &a->room, &b, &a->there,
                                 err);
        a->lost = st != KSPEC_OK;
        a->taken += b.count;
    }
    ks_stream_batch_close(&run, &b);
    return st;
}

/* Adds a copy of the batch in host memory, and reports errors in the batch. */
static kspec_status add_copies(kspec_accumulator *a, const kspec_matrix x[2], size_t count,
                               kspec_error *err) {
    ks_arena arena = {0};
    kspec_matrix host[2];
    kspec_status st = ks_borrowed_fetch(&a->placement, x, count, host, &arena, err);
    if (!st) st = kspec_accumulator_update(a, &host[0], count > 1 ? &host[1] : NULL, NULL, err);
    ks_arena_free(&arena);
    return st;
}

kspec_status kspec_accumulator_update_device(kspec_accumulator *a, const kspec_matrix *x,
                                             const kspec_matrix *other, kspec_error *err) {
    ks_clear(err);
    int done = 0;
    kspec_status st = ks_check_pointer(err, a, "the accumulator");
    if (!st) st = ks_check_pointer(err, x, "the batch");
    if (!st) st = check_batch(a, x, other, NULL, err);
    if (st) return st;
    const size_t count = other ? 2 : 1;
    const kspec_matrix both[2] = {*x, other ? *other : *x}, *parts[2] = {&both[0], &both[1]};
    st = open_device(a, both, count, err);
    if (!st && a->o.grouped) return add_copies(a, both, count, err);
    if (!st && a->lost) st = ks_accumulator_fetch(a, err);
    if (!st && a->held) st = ks_accumulator_flush(a, err);
    if (!st) st = ks_blas_enter(a->threads, err);
    if (st) return st;
    st = add_on_device(a, parts, &done, err);
    ks_blas_exit();
    return st || done ? st : add_copies(a, both, count, err);
}

/* ---- merging ---- */

static kspec_status check_pair(const kspec_accumulator *a, const kspec_accumulator *b, kspec_error *err) {
    const struct {
        const char *what;
        uint64_t a, b;
    } settings[] = {
        {"features", a->sums.cols[0], b->sums.cols[0]},
        {"features of a second matrix", a->sums.cols[1], b->sums.cols[1]},
        {"center", a->o.center, b->o.center},
        {"sampled", a->o.sampled, b->o.sampled},
        {"reservoir", a->o.reservoir, b->o.reservoir},
        {"seed", a->o.seed, b->o.seed},
        {"omit_nan", a->o.omit_nan != 0, b->o.omit_nan != 0},
        {"grouped", a->o.grouped != 0, b->o.grouped != 0},
    };
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++)
        if (settings[k].a != settings[k].b)
            return ks_fail(err, KSPEC_E_ARG, "accumulators of different settings: %s %llu and %llu",
                           settings[k].what, (unsigned long long)settings[k].a,
                           (unsigned long long)settings[k].b);
    for (size_t i = 0; i < a->stream_count; i++)
        for (size_t k = 0; k < b->stream_count; k++)
            if (a->streams[i] == b->streams[k])
                return ks_refuse(err, KSPEC_E_ARG, "stream", NULL,
                                 "both accumulators have rows of stream %llu: one is merged already, a copy "
                                 "of the other, or opened with the same stream",
                                 (unsigned long long)a->streams[i]);
    return KSPEC_OK;
}

kspec_status kspec_accumulator_merge(kspec_accumulator *a, const kspec_accumulator *other, kspec_error *err) {
    ks_clear(err);
    kspec_status st = ks_check_pointer(err, a, "the accumulator");
    if (!st) st = ks_check_pointer(err, other, "the other accumulator");
    if (!st) st = check_pair(a, other, err);
    if (!st) st = bring_home(a, err);
    if (!st) st = ks_accumulator_fetch(other, err);
    if (st) return st;
    const size_t mine = a->stream_count, theirs = other->stream_count;
    uint64_t *streams = ks_alloc(ks_size_add(mine, theirs), sizeof *streams);
    if (!streams) return ks_nomem(err, "the list of streams", ks_size(mine + theirs, sizeof *streams));
    if ((st = ks_blas_enter(a->threads, err))) {
        ks_free(streams);
        return st;
    }
    if (a->o.grouped) st = ks_grouped_merge(a->threads, &a->groups, &other->groups, err);
    if (st) {
        ks_blas_exit();
        ks_free(streams);
        return st;
    }
    memcpy(streams, a->streams, mine * sizeof *streams);
    memcpy(streams + mine, other->streams, theirs * sizeof *streams);
    ks_free(a->streams);
    a->streams = streams, a->stream_count = mine + theirs;
    a->omitted += other->omitted;
    if (a->o.grouped) {
        ks_group_sample_merge(&a->group_sample, &other->group_sample);
        ks_blas_exit();
        return KSPEC_OK;
    }
    flush(a);
    ks_stream_merge(a->threads, &a->sums, &other->sums, &a->room);
    ks_reservoir_merge(&a->sample, &other->sample);
    memcpy(a->waiting, other->waiting, other->held * a->sums.all * sizeof *a->waiting);
    a->held = other->held;
    ks_blas_exit();
    return KSPEC_OK;
}
