/* Adds batches on a GPU to the second-order state of a stream. */
#include "pairs/stream_device.h"

#include "base/error.h"
#include "device/borrowed.h"
#include "device/device.h"

#include <math.h>
#include <string.h>

static const int FIRST[3] = {0, 0, 1}, SECOND[3] = {0, 1, 1};

static size_t start(const ks_stream *s, int a) { return a ? s->cols[0] : 0; }
static int matrices(const ks_stream *s) { return s->cols[1] ? 2 : 1; }

/* ---- state ---- */

void ks_stream_leave(const ks_run *run, ks_stream_there *there) {
    for (int w = 0; w < 3; w++)
        if (there->G[w]) ks_backend_of(run)->drop(run, there->G[w]);
    for (int a = 0; a < 2; a++)
        if (there->rows[a]) ks_backend_of(run)->drop(run, there->rows[a]);
    *there = (ks_stream_there){.fetched = 0};
}

static kspec_status clear(const ks_run *run, ks_mat *X, size_t m, size_t n, kspec_error *err) {
    const ks_mat_expression zero = {.m = m, .n = n};
    return ks_backend_of(run)->expression(run, &zero, KS_TILE_STORE, X, NULL, err);
}

/*
 * Sends an m x n block of a matrix in host memory to the dense device matrix X. The host matrix has `width`
 * columns.
 */
static kspec_status send(const ks_run *run, ks_mat *X, const double *from, size_t m, size_t n, size_t width,
                         kspec_error *err) {
    const ks_backend *at = ks_backend_of(run);
    kspec_status st = KSPEC_OK;
    if (n == width) return at->put(run, X, from, m * n, err);
    for (size_t i = 0; i < m && !st; i++) st = at->put(run, at->view(X, i * n), from + i * width, n, err);
    return st;
}

static kspec_status fetch(const ks_run *run, double *to, const ks_mat *X, size_t m, size_t n, size_t width,
                          kspec_error *err) {
    ks_device *d = run->device;
    return ks_device_status(d, d->plugin->get_block(d->gpu, to, width, ks_mat_address(X), m, n),
                            "an accumulator", err);
}

kspec_status ks_stream_send(const ks_run *run, const ks_stream *s, const ks_reservoir *sample,
                            ks_stream_there *there, kspec_error *err) {
    static const char what[] = "the products of columns";
    const ks_backend *at = ks_backend_of(run);
    kspec_status st = KSPEC_OK;
    if (there->G[0]) return KSPEC_OK;
    if (s->n) ks_stream_mirror(s);
    for (int w = 0; w < 3 && !st; w++) {
        const int a = FIRST[w], b = SECOND[w];
        const size_t m = s->cols[a], n = s->cols[b];
        if (!m || !n) continue;
        st = at->hold(run, m, n, what, &there->G[w], err);
        if (!st)
            st = s->n ? send(run, there->G[w], s->G + start(s, a) * s->all + start(s, b), m, n, s->all, err)
                      : clear(run, there->G[w], m, n, err);
    }
    for (int a = 0; a < matrices(s) && !st; a++) {
        st = at->hold(run, sample->capacity, s->cols[a], "the sample of rows", &there->rows[a], err);
        if (!st && sample->count)
            st =
                send(run, there->rows[a], sample->rows + start(s, a), sample->count, s->cols[a], s->all, err);
    }
    if (st) ks_stream_leave(run, there);
    return st;
}

kspec_status ks_stream_fetch(const ks_run *run, ks_stream *s, ks_reservoir *sample, ks_stream_there *there,
                             kspec_error *err) {
    kspec_status st = KSPEC_OK;
    if (!there->G[0] || there->fetched) return KSPEC_OK;
    for (int w = 0; w < 3 && !st; w++) {
        const int a = FIRST[w], b = SECOND[w];
        if (there->G[w])
            st = fetch(run, s->G + start(s, a) * s->all + start(s, b), there->G[w], s->cols[a], s->cols[b],
                       s->all, err);
    }
    for (int a = 0; a < matrices(s) && !st; a++)
        st = fetch(run, sample->rows + start(s, a), there->rows[a], sample->count, s->cols[a], s->all, err);
    there->fetched = !st;
    return st;
}

/* ---- batch ---- */

typedef struct {
    const ks_run *run;
    const ks_backend *at;
    const ks_stream *s;
    const ks_stream_batch *b;
    kspec_status status;
    kspec_error *err;
} job;

/* Writes the sums of squares of the rows of Y_a to the host vector out. */
static void squares(job *j, int a, double *out) {
    const ks_mat_expression e = {
        .m = j->b->count, .n = j->s->cols[a], .alpha = 1, .count = 1, .factor = {{j->b->Y[a], 0, 2}}};
    if (!j->status) j->status = j->at->expression(j->run, &e, KS_TILE_ROW_SUMS, NULL, out, j->err);
}

enum { NONE = -1 };
static const ks_mat *vector(const job *j, ptrdiff_t at) {
    return at == NONE ? NULL : j->at->view(j->b->vectors, (size_t)at);
}

/*
 * Sums alpha row[i] col[j] X[i,j]^power over rows or over columns, and writes the sums to the vectors from
 * `to` on. row and col are places in the vectors, or NONE.
 */
static void sum_of(job *j, const ks_mat *X, size_t m, size_t n, double alpha, int power, ptrdiff_t row,
                   ptrdiff_t col, ks_tile_result what, size_t to) {
    const ks_mat_expression e = {.m = m,
                                 .n = n,
                                 .alpha = alpha,
                                 .row_held = vector(j, row),
                                 .col_held = vector(j, col),
                                 .sums_held = 1,
                                 .count = 1,
                                 .factor = {{X, 0, power}}};
    if (!j->status)
        j->status = j->at->expression(j->run, &e, what, j->at->view(j->b->vectors, to), NULL, j->err);
}

/* Computes such sums of the batch Y_a. */
static void sum(job *j, int a, int power, ptrdiff_t row, ptrdiff_t col, ks_tile_result what, size_t to) {
    sum_of(j, j->b->Y[a], j->b->count, j->s->cols[a], 1, power, row, col, what, to);
}

/* Subtracts vectors[col + j] from every entry of column j of Y_a. */
static void take(job *j, int a, size_t col) {
    const ks_mat_expression e = {
        .m = j->b->count, .n = j->s->cols[a], .alpha = -1, .col_held = vector(j, (ptrdiff_t)col)};
    if (!j->status) j->status = j->at->expression(j->run, &e, KS_TILE_ADD, j->b->Y[a], NULL, j->err);
}

/*
 * Returns the largest root mean square of a row in either matrix. If an entry is not finite, the root mean
 * square is not finite either.
 */
static double largest(job *j, double *square) {
    double most = 0;
    for (int a = 0; a < matrices(j->s); a++) {
        squares(j, a, square);
        for (size_t i = 0; i < j->b->count && !j->status; i++)
            if (!(square[i] <= most) && !isnan(most)) most = square[i];
    }
    return sqrt(most);
}

void ks_stream_batch_close(const ks_run *run, ks_stream_batch *b) {
    for (int a = 0; a < 2; a++)
        if (b->Y[a]) ks_backend_of(run)->drop(run, b->Y[a]);
    if (b->vectors) ks_backend_of(run)->drop(run, b->vectors);
    ks_arena_free(&b->arena);
    *b = (ks_stream_batch){.count = 0};
}

/* Sets the stream's unit from its first entries. Returns 0 if later entries do not fit this unit. */
static int set_unit(ks_stream *s, double most) {
    enum { HEADROOM = 100 };
    int e;
    if (most == 0) return 1;
    frexp(most, &e);
    if (!s->known) s->known = 1, s->exponent = e;
    return e <= s->exponent + HEADROOM;
}

/* Places in the vectors of a batch. Those that the host needs are together, from `r` on. */
typedef struct {
    size_t mean, low, d, along, r, diagonal, S3, S4, V, g, times, end;
} places;

static places places_of(const ks_stream *s, size_t n) {
    const size_t all = s->all, M = (size_t)matrices(s);
    places p = {.low = all, .d = 2 * all, .along = 3 * all};
    p.r = p.along + M * n, p.diagonal = p.r + M * n;
    p.S3 = p.diagonal + all, p.S4 = p.S3 + all, p.V = p.S4 + all;
    p.g = p.V + M * all, p.times = p.g + M * all, p.end = p.times + M * all;
    return p;
}

kspec_status ks_stream_batch_open(const ks_run *run, ks_stream *s, const ks_reservoir *sample,
                                  const kspec_matrix *x[2], ks_stream_batch *b, int *suits,
                                  kspec_error *err) {
    static const char what[] = "a batch";
    job j = {run, ks_backend_of(run), s, b, KSPEC_OK, err};
    const size_t n = x[0]->rows;
    const places at = places_of(s, n);
    *b = (ks_stream_batch){.count = n};
    *suits = 0;
    b->found = ks_arena_alloc(&b->arena, at.end - at.r, sizeof *b->found);
    b->list = ks_arena_alloc(&b->arena, ks_size_add(ks_size(2, n), sample->capacity), sizeof *b->list);
    if (b->arena.failed) j.status = ks_nomem(err, what, b->arena.failed);
    if (!j.status) j.status = j.at->hold(run, 1, at.end, what, &b->vectors, err);
    for (int a = 0; a < matrices(s) && !j.status; a++) {
        j.status = j.at->hold(run, n + 1, s->cols[a], what, &b->Y[a], err);
        if (!j.status) j.status = ks_borrowed_pack(run, x[a], 1, b->Y[a], err);
    }
    const double most = j.status ? 0 : largest(&j, b->found);
    const int sound = most == 0 || (most > 1e-100 && most < 1e100);
    if (!j.status && sound && set_unit(s, most)) *suits = 1;
    if (j.status || !*suits) ks_stream_batch_close(run, b);
    return j.status;
}

/*
 * Multiplies Y by f and subtracts the mean of each column. The mean has twice the digits of a double. Its two
 * parts go to the vectors from `mean` and from `low` on.
 */
static void centre(job *j, int a, double f, size_t mean, size_t low) {
    const size_t n = j->b->count, Q = j->s->cols[a];
    const ks_mat_expression e = {.m = n, .n = Q, .alpha = f, .count = 1, .factor = {{j->b->Y[a], 0, 1}}};
    if (f != 1 && !j->status)
        j->status = j->at->expression(j->run, &e, KS_TILE_STORE, j->b->Y[a], NULL, j->err);
    sum_of(j, j->b->Y[a], n, Q, 1 / (double)n, 1, NONE, NONE, KS_TILE_COL_SUMS, mean);
    take(j, a, mean);
    sum_of(j, j->b->Y[a], n, Q, 1 / (double)n, 1, NONE, NONE, KS_TILE_COL_SUMS, low);
    take(j, a, low);
}

/*
 * Offers the rows of the batch to the sample before Y is scaled, and copies all rows that the sample takes at
 * once. A later row may replace an earlier row of the sample.
 */
static void offer(job *j, ks_reservoir *sample, uint64_t stream, uint64_t first, size_t *list,
                  const ks_stream_there *there) {
    const size_t n = j->b->count;
    size_t *at = list + 2 * n, count = 0; /* at[place]: 1 + the place in the list */
    memset(at, 0, sample->capacity * sizeof *at);
    for (size_t i = 0; i < n; i++) {
        const double *row = ks_reservoir_place(sample, stream, first + i);
        if (!row) continue;
        const size_t place = (size_t)(row - sample->rows) / sample->width;
        if (!at[place]) at[place] = ++count;
        list[2 * at[place] - 2] = i, list[2 * at[place] - 1] = place;
    }
    ks_device *d = j->run->device;
    for (int a = 0; a < matrices(j->s) && !j->status; a++)
        j->status =
            ks_device_status(d,
                             d->plugin->copy_rows(d->gpu, count, list, j->s->cols[a],
                                                  ks_mat_address(j->b->Y[a]), ks_mat_address(there->rows[a])),
                             "the sample of rows", j->err);
}

/*
 * Writes G d_a, the products of the state that the sums of a batch need, to the vectors from to + a all on. d
 * is in the vectors.
 */
static void times(job *j, const ks_stream_there *there, size_t d, size_t to) {
    const ks_stream *s = j->s;
    for (int w = 0; w < 3; w++)
        for (int turned = 0; turned < (w == 1 ? 2 : 1) && there->G[w]; turned++) {
            const int of = turned ? FIRST[w] : SECOND[w], out = turned ? SECOND[w] : FIRST[w];
            const ptrdiff_t at = (ptrdiff_t)(d + start(s, of));
            sum_of(j, there->G[w], s->cols[FIRST[w]], s->cols[SECOND[w]], 1, 1, turned ? at : NONE,
                   turned ? NONE : at, turned ? KS_TILE_COL_SUMS : KS_TILE_ROW_SUMS,
                   to + (size_t)of * s->all + start(s, out));
        }
}

/* Adds Y^T Y to G. The difference of the two means contributes like one additional row. */
static void add_products(job *j, const ks_stream_there *there) {
    for (int w = 0; w < 3 && !j->status; w++) {
        const size_t m = j->s->cols[FIRST[w]], n = j->s->cols[SECOND[w]];
        const ks_mat *A = j->b->Y[FIRST[w]], *B = j->b->Y[SECOND[w]];
        const ks_mat_product p = {1, 0, m, n, j->b->count + 1, 1, A, m, B, n, 1, there->G[w], n, w != 1};
        if (there->G[w]) j->status = j->at->product(j->run, &p, j->err);
    }
}

/* Sets the row after the batch's last one to f times the vectors from `d` on. */
static void last_row(job *j, double f, size_t d) {
    for (int a = 0; a < matrices(j->s) && !j->status; a++) {
        const size_t Q = j->s->cols[a];
        const ks_mat_expression e = {.m = 1,
                                     .n = Q,
                                     .alpha = f,
                                     .count = 1,
                                     .factor = {{vector(j, (ptrdiff_t)(d + start(j->s, a))), 0, 1}}};
        j->status = j->at->expression(j->run, &e, KS_TILE_STORE, j->at->view(j->b->Y[a], j->b->count * Q),
                                      NULL, j->err);
    }
}

kspec_status ks_stream_batch_add(const ks_run *run, ks_stream *s, ks_reservoir *sample, uint64_t stream,
                                 uint64_t first, ks_stream_room *room, ks_stream_batch *b,
                                 ks_stream_there *there, kspec_error *err) {
    job j = {run, ks_backend_of(run), s, b, KSPEC_OK, err};
    const size_t all = s->all, n = b->count, M = (size_t)matrices(s);
    const places at = places_of(s, n);
    double *mean = room->vectors, *low = mean + all, *d = low + all, *found = b->found;
    ks_stream_part *p = &room->part[0], *q = &room->part[1];
    there->fetched = 0;
    offer(&j, sample, stream, first, b->list, there);
    ks_stream_part_set(p, s, s->exponent);
    ks_stream_part_clear(q, all, n);
    for (int a = 0; a < matrices(s); a++)
        centre(&j, a, ldexp(1, -s->exponent), at.mean + start(s, a), at.low + start(s, a));
    if (!j.status) j.status = j.at->get(run, mean, b->vectors, 2 * all, 1, err);
    for (size_t k = 0; k < all && !j.status; k++) d[k] = (mean[k] - s->mean[k]) + (low[k] - s->low[k]);
    if (!j.status) j.status = j.at->put(run, j.at->view(b->vectors, at.d), d, all, err);
    for (int a = 0; a < matrices(s); a++) {
        const size_t c = (size_t)a;
        sum(&j, a, 2, NONE, NONE, KS_TILE_ROW_SUMS, at.r + c * n);
        sum(&j, a, 1, NONE, (ptrdiff_t)(at.d + start(s, a)), KS_TILE_ROW_SUMS, at.along + c * n);
    }
    for (int a = 0; a < matrices(s); a++) {
        const size_t col = start(s, a);
        sum(&j, a, 2, NONE, NONE, KS_TILE_COL_SUMS, at.diagonal + col);
        sum(&j, a, 3, NONE, NONE, KS_TILE_COL_SUMS, at.S3 + col);
        sum(&j, a, 4, NONE, NONE, KS_TILE_COL_SUMS, at.S4 + col);
        for (size_t c = 0; c < M; c++) {
            sum(&j, a, 1, (ptrdiff_t)(at.r + c * n), NONE, KS_TILE_COL_SUMS, at.V + c * all + col);
            sum(&j, a, 1, (ptrdiff_t)(at.along + c * n), NONE, KS_TILE_COL_SUMS, at.g + c * all + col);
        }
    }
    const double both = sqrt((double)s->n * (double)n / (double)(s->n + n));
    if (s->n) times(&j, there, at.d, at.times);
    last_row(&j, both, at.d);
    add_products(&j, there);
    if (!j.status)
        j.status =
            j.at->get(run, found, j.at->view(b->vectors, at.r), (s->n ? at.end : at.times) - at.r, 1, err);
    if (j.status) return j.status;
    memcpy(q->diagonal, found + (at.diagonal - at.r), all * sizeof *found);
    memcpy(q->S3, found + (at.S3 - at.r), all * sizeof *found);
    memcpy(q->S4, found + (at.S4 - at.r), all * sizeof *found);
    for (size_t c = 0; c < M; c++) {
        memcpy(q->V[c], found + (at.V - at.r) + c * all, all * sizeof *found);
        memcpy(q->g[c], found + (at.g - at.r) + c * all, all * sizeof *found);
        if (s->n) memcpy(p->g[c], found + (at.times - at.r) + c * all, all * sizeof *found);
    }
    /* the host's diagonal is always valid: the next batch needs it */
    for (size_t k = 0; k < all; k++)
        s->G[k * all + k] = p->diagonal[k] + q->diagonal[k] + both * both * (d[k] * d[k]);
    for (size_t i = 0; i < n; i++) {
        const double x = found[i], y = M > 1 ? found[n + i] : 0;
        q->N2[0] += x, q->N2[1] += y;
        q->N4[0] += x * x, q->N4[1] += x * y, q->N4[2] += y * y;
    }
    ks_stream_join(s, p, q, d);
    return KSPEC_OK;
}
