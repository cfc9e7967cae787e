/* kspec_accumulator_*: second-order estimates of rows that pass by once. */
#include "dimension/accumulator.h"

#include "base/center.h"
#include "base/error.h"
#include "base/matrix.h"
#include "base/parallel.h"
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>
#include <sys/random.h>

/* A block is long enough that the products of columns take most of the time, and short beside them. */
size_t ks_accumulator_block = 1024;

enum { RESERVOIR = 4096 };

/* ---- opening ---- */

static kspec_status check(size_t features, kspec_accumulator_opts *o, kspec_error *err) {
    if (features == 0) return ks_fail(err, KSPEC_E_ARG, "an accumulator of 0 features is below 1");
    if (o->sampled < KSPEC_SAMPLED_BOTH || o->sampled > KSPEC_SAMPLED_COLS)
        return ks_about(err, "sampled", NULL,
                        ks_fail(err, KSPEC_E_ARG, "unknown sampled %d", (int)o->sampled));
    kspec_status st = ks_center_resolve(&o->center, KSPEC_CENTER_ROWS, err);
    if (!st && ks_cols_centred(o->center))
        st = ks_about(err, "center", "rows",
                      ks_fail(err, KSPEC_E_ARG,
                              "an accumulator is centred over rows or not at all, not over %s",
                              o->center == KSPEC_CENTER_COLS ? "columns" : "both sides"));
    if (!o->reservoir) o->reservoir = RESERVOIR;
    if (!st && o->reservoir < 2)
        st = ks_about(err, "reservoir", NULL,
                      ks_fail(err, KSPEC_E_ARG, "a reservoir of %zu rows is below 2", o->reservoir));
    return st;
}

/* A stream that no other accumulator has, in whatever process */
static kspec_status own_stream(uint64_t *stream, kspec_error *err) {
    while (*stream == 0)
        if (getrandom(stream, sizeof *stream, 0) != sizeof *stream)
            return ks_about(err, "stream", NULL,
                            ks_fail(err, KSPEC_E_IO, "the system gives no random numbers for a stream"));
    return KSPEC_OK;
}

static kspec_status check_size(const kspec_accumulator *a, size_t all, kspec_error *err) {
    const size_t products = ks_size(ks_stream_numbers((size_t[]){all, 0}), sizeof(double)),
                 rows = ks_size(ks_size_add(a->o.reservoir, a->block), ks_size(all, sizeof(double)));
    return ks_check_memory(err, ks_size_add(products, rows),
                           "an accumulator of %zu x %zu products of columns (%.0f MB) and %zu rows (%.0f MB)",
                           all, all, ks_megabytes(products), a->o.reservoir + a->block, ks_megabytes(rows));
}

kspec_status ks_accumulator_new(size_t features, const kspec_accumulator_opts *o, size_t block,
                                size_t streams, kspec_accumulator **out, kspec_error *err) {
    const size_t all = ks_size_add(features, o->other_features), cols[2] = {features, o->other_features};
    ks_run run;
    kspec_accumulator *a = ks_zalloc(1, sizeof *a);
    if (!a) return ks_nomem(err, "an accumulator", sizeof *a);
    a->o = *o, a->block = block;
    kspec_status st = ks_run_init(&run, o->threads, (kspec_progress){0}, err);
    a->threads = run.threads;
    if (!st) st = check_size(a, all, err);
    if (!st) st = ks_stream_open(&a->sums, cols, &a->arena, err);
    if (!st) st = ks_reservoir_open(&a->sample, o->seed, o->reservoir, all, &a->arena, err);
    if (!st) st = ks_stream_room_open(&a->room, all, a->block, &a->arena, err);
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
    ks_arena_free(&a->arena);
    ks_free(a->streams);
    ks_free(a);
}

const kspec_accumulator_shape *kspec_accumulator_describe(kspec_accumulator *a) {
    if (!a) return NULL;
    a->shape = (kspec_accumulator_shape){a->sums.cols[0], a->sums.cols[1],     a->o.center, a->o.sampled,
                                         a->o.stream,     a->sums.n + a->held, a->omitted};
    return &a->shape;
}

/* ---- rows ---- */

static void flush(kspec_accumulator *a) {
    if (a->held) ks_stream_add(a->threads, &a->sums, a->waiting, a->held, &a->room);
    a->held = 0;
}

kspec_status ks_accumulator_flush(kspec_accumulator *a, kspec_error *err) {
    if (!a->held) return KSPEC_OK;
    kspec_status st = ks_blas_enter(a->threads, err);
    if (st) return st;
    flush(a);
    ks_blas_exit();
    return KSPEC_OK;
}

/* What row i of a batch is, after every entry was looked at */
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

static kspec_status check_entries(const kspec_accumulator *a, const kspec_matrix *x, const char *what,
                                  kspec_error *err) {
    for (size_t i = 0; i < x->rows; i++) {
        size_t where = 0;
        const kind k = look(x, i, &where);
        if (k == WHOLE || (k == MISSING && a->o.omit_nan)) continue;
        kspec_status st = ks_fail(err, KSPEC_E_DATA, "%s: row %zu, column %zu (from 0) is %s", what, i, where,
                                  k == MISSING ? "NaN" : "infinite");
        return k == MISSING ? ks_about(err, "omit_nan", NULL, st) : st;
    }
    return KSPEC_OK;
}

static kspec_status check_batch(const kspec_accumulator *a, const kspec_matrix *x, const kspec_matrix *other,
                                kspec_error *err) {
    const size_t cols[2] = {a->sums.cols[0], a->sums.cols[1]};
    const kspec_matrix *part[2] = {x, other};
    static const char *const names[2] = {"the batch", "the second batch"};
    if (!other != !cols[1])
        return ks_fail(err, KSPEC_E_ARG,
                       cols[1] ? "a batch of the second matrix is missing"
                               : "the accumulator has no second matrix: other_features is 0");
    for (int k = 0; k < 2 && part[k]; k++) {
        if (part[k]->rows == 0) return ks_fail(err, KSPEC_E_ARG, "%s has 0 rows, fewer than 1", names[k]);
        kspec_status st = ks_matrix_check(part[k], names[k], err);
        if (st) return st;
        if (part[k]->cols != cols[k])
            return ks_fail(err, KSPEC_E_ARG, "%s has %zu columns, the accumulator %zu", names[k],
                           part[k]->cols, cols[k]);
    }
    if (other && other->rows != x->rows)
        return ks_fail(err, KSPEC_E_ARG, "the batches have %zu and %zu rows", x->rows, other->rows);
    kspec_status st = check_entries(a, x, names[0], err);
    return st || !other ? st : check_entries(a, other, names[1], err);
}

static void copy_row(const kspec_matrix *x, size_t i, double *to) {
    if (x->col_stride == 1)
        memcpy(to, x->data + (ptrdiff_t)i * x->row_stride, x->cols * sizeof *to);
    else
        for (size_t j = 0; j < x->cols; j++) to[j] = ks_at(x, i, j);
}

kspec_status kspec_accumulator_update(kspec_accumulator *a, const kspec_matrix *x, const kspec_matrix *other,
                                      kspec_error *err) {
    ks_clear(err);
    kspec_status st = ks_check_pointer(err, a, "the accumulator");
    if (!st) st = ks_check_pointer(err, x, "the batch");
    if (!st) st = check_batch(a, x, other, err);
    if (!st) st = ks_blas_enter(a->threads, err);
    for (size_t i = 0; i < x->rows && !st; i++) { /* nothing fails from here on */
        double *to = a->waiting + a->held * a->sums.all;
        size_t where;
        if (a->o.omit_nan && (look(x, i, &where) || (other && look(other, i, &where)))) {
            a->omitted++;
            continue;
        }
        copy_row(x, i, to);
        if (other) copy_row(other, i, to + x->cols);
        ks_reservoir_offer(&a->sample, a->o.stream, a->taken++, to);
        if (++a->held == a->block) flush(a);
    }
    if (!st) ks_blas_exit();
    return st;
}

/* ---- two accumulators ---- */

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
    };
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++)
        if (settings[k].a != settings[k].b)
            return ks_fail(err, KSPEC_E_ARG, "accumulators of different settings: %s %llu and %llu",
                           settings[k].what, (unsigned long long)settings[k].a,
                           (unsigned long long)settings[k].b);
    for (size_t i = 0; i < a->stream_count; i++)
        for (size_t k = 0; k < b->stream_count; k++)
            if (a->streams[i] == b->streams[k])
                return ks_about(
                    err, "stream", NULL,
                    ks_fail(err, KSPEC_E_ARG,
                            "both accumulators have rows of stream %llu: one is merged already, a copy "
                            "of the other, or opened with the same stream",
                            (unsigned long long)a->streams[i]));
    return KSPEC_OK;
}

kspec_status kspec_accumulator_merge(kspec_accumulator *a, const kspec_accumulator *other, kspec_error *err) {
    ks_clear(err);
    kspec_status st = ks_check_pointer(err, a, "the accumulator");
    if (!st) st = ks_check_pointer(err, other, "the other accumulator");
    if (!st) st = check_pair(a, other, err);
    if (st) return st;
    const size_t mine = a->stream_count, theirs = other->stream_count;
    uint64_t *streams = ks_alloc(ks_size_add(mine, theirs), sizeof *streams);
    if (!streams) return ks_nomem(err, "the list of streams", ks_size(mine + theirs, sizeof *streams));
    if ((st = ks_blas_enter(a->threads, err))) {
        ks_free(streams);
        return st;
    }
    memcpy(streams, a->streams, mine * sizeof *streams);
    memcpy(streams + mine, other->streams, theirs * sizeof *streams);
    ks_free(a->streams);
    a->streams = streams, a->stream_count = mine + theirs;
    flush(a);
    ks_stream_merge(a->threads, &a->sums, &other->sums, &a->room);
    ks_reservoir_merge(&a->sample, &other->sample);
    memcpy(a->waiting, other->waiting, other->held * a->sums.all * sizeof *a->waiting);
    a->held = other->held;
    a->omitted += other->omitted;
    ks_blas_exit();
    return KSPEC_OK;
}
