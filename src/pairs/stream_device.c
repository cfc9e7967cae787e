/* Adds batches on a GPU to the second-order state of a stream. */
#include "pairs/stream_device.h"

#include "base/error.h"
#include "device/borrowed.h"

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

/* Sums row[i] col[j] Y_a[i,j]^power over rows or over columns, and writes the sums to the host vector out. */
static void sum(job *j, int a, int power, const double *row, const double *col, ks_tile_result what,
                double *out) {
    const ks_mat_expression e = {.m = j->b->count,
                                 .n = j->s->cols[a],
                                 .alpha = 1,
                                 .row = row,
                                 .col = col,
                                 .count = 1,
                                 .factor = {{j->b->Y[a], 0, power}}};
    if (!j->status) j->status = j->at->expression(j->run, &e, what, NULL, out, j->err);
}

/* Subtracts col[j] from every entry of column j of Y_a. */
static void take(job *j, int a, const double *col) {
    const ks_mat_expression e = {.m = j->b->count, .n = j->s->cols[a], .alpha = -1, .col = col};
    if (!j->status) j->status = j->at->expression(j->run, &e, KS_TILE_ADD, j->b->Y[a], NULL, j->err);
}

/*
 * Returns the largest root mean square of a row in either matrix. The result is not finite if an entry is not
 * finite.
 */
static double largest(job *j, double *square) {
    double most = 0;
    for (int a = 0; a < matrices(j->s); a++) {
        sum(j, a, 2, NULL, NULL, KS_TILE_ROW_SUMS, square);
        for (size_t i = 0; i < j->b->count && !j->status; i++)
            if (!(square[i] <= most) && !isnan(most)) most = square[i];
    }
    return sqrt(most);
}

void ks_stream_batch_close(const ks_run *run, ks_stream_batch *b) {
    for (int a = 0; a < 2; a++)
        if (b->Y[a]) ks_backend_of(run)->drop(run, b->Y[a]);
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

kspec_status ks_stream_batch_open(const ks_run *run, ks_stream *s, const kspec_matrix *x[2],
                                  ks_stream_batch *b, int *suits, kspec_error *err) {
    static const char what[] = "a batch";
    job j = {run, ks_backend_of(run), s, b, KSPEC_OK, err};
    *b = (ks_stream_batch){.count = x[0]->rows};
    *suits = 0;
    b->rows = ks_arena_alloc(&b->arena, ks_size(4, b->count), sizeof *b->rows);
    if (!b->rows) j.status = ks_nomem(err, what, b->arena.failed);
    for (int a = 0; a < matrices(s) && !j.status; a++) {
        j.status = j.at->hold(run, b->count + 1, s->cols[a], what, &b->Y[a], err);
        if (!j.status) j.status = ks_borrowed_pack(run, x[a], 1, b->Y[a], err);
    }
    const double most = j.status ? 0 : largest(&j, b->rows);
    const int sound = most == 0 || (most > 1e-100 && most < 1e100);
    if (!j.status && sound && set_unit(s, most)) *suits = 1;
    if (j.status || !*suits) ks_stream_batch_close(run, b);
    return j.status;
}

/* Multiplies Y by f and subtracts the mean of each column. The mean has twice the digits of a double. */
static void centre(job *j, int a, double f, double *mean, double *low) {
    const double n = (double)j->b->count;
    const size_t Q = j->s->cols[a];
    const ks_mat_expression e = {
        .m = j->b->count, .n = Q, .alpha = f, .count = 1, .factor = {{j->b->Y[a], 0, 1}}};
    if (f != 1 && !j->status)
        j->status = j->at->expression(j->run, &e, KS_TILE_STORE, j->b->Y[a], NULL, j->err);
    sum(j, a, 1, NULL, NULL, KS_TILE_COL_SUMS, mean);
    for (size_t k = 0; k < Q && !j->status; k++) mean[k] /= n;
    take(j, a, mean);
    sum(j, a, 1, NULL, NULL, KS_TILE_COL_SUMS, low);
    for (size_t k = 0; k < Q && !j->status; k++) low[k] /= n;
    take(j, a, low);
}

/* Copies the rows `from` to `to` of the batch to the sample, from position `place` on. */
static void keep(job *j, const ks_stream_there *there, size_t from, size_t to, size_t place) {
    for (int a = 0; a < matrices(j->s) && from < to; a++) {
        const size_t Q = j->s->cols[a];
        const ks_mat_expression e = {.m = to - from,
                                     .n = Q,
                                     .alpha = 1,
                                     .count = 1,
                                     .factor = {{j->at->view(j->b->Y[a], from * Q), 0, 1}}};
        if (!j->status)
            j->status = j->at->expression(j->run, &e, KS_TILE_STORE, j->at->view(there->rows[a], place * Q),
                                          NULL, j->err);
    }
}

/*
 * Offers the rows of the batch to the sample before Y is scaled. Rows that are consecutive in both batch and
 * sample are copied together.
 */
static void offer(job *j, ks_reservoir *sample, uint64_t stream, uint64_t first,
                  const ks_stream_there *there) {
    size_t from = 0, to = 0, place = 0;
    for (size_t i = 0; i < j->b->count; i++) {
        const double *at = ks_reservoir_place(sample, stream, first + i);
        if (!at) continue;
        const size_t p = (size_t)(at - sample->rows) / sample->width;
        if (i == to && p == place + (to - from)) {
            to++;
            continue;
        }
        keep(j, there, from, to, place);
        from = i, to = i + 1, place = p;
    }
    keep(j, there, from, to, place);
}

/* Computes the products of the state that the sums of a batch need: the diagonal of G, and g[a] = G d_a. */
static void times(job *j, const ks_stream_there *there, const double *d, ks_stream_part *p, double *scratch) {
    const ks_stream *s = j->s;
    const size_t Q = s->cols[0], R = s->cols[1];
    for (int a = 0; a < matrices(s) && !j->status; a++)
        j->status =
            j->at->diagonal(j->run, p->diagonal + start(s, a), there->G[a ? 2 : 0], s->cols[a], j->err);
    for (int w = 0; w < 3; w++)
        for (int turned = 0; turned < (w == 1 ? 2 : 1) && there->G[w]; turned++) {
            const int a = turned ? FIRST[w] : SECOND[w];
            const ks_mat_expression e = {.m = FIRST[w] ? R : Q,
                                         .n = SECOND[w] ? R : Q,
                                         .alpha = 1,
                                         .row = turned ? d : NULL,
                                         .col = turned ? NULL : d + start(s, a),
                                         .count = 1,
                                         .factor = {{there->G[w], 0, 1}}};
            if (!j->status)
                j->status = j->at->expression(j->run, &e, turned ? KS_TILE_COL_SUMS : KS_TILE_ROW_SUMS, NULL,
                                              scratch, j->err);
            memcpy(p->g[a] + start(s, turned ? SECOND[w] : FIRST[w]), scratch,
                   s->cols[turned ? SECOND[w] : FIRST[w]] * sizeof *scratch);
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

kspec_status ks_stream_batch_add(const ks_run *run, ks_stream *s, ks_reservoir *sample, uint64_t stream,
                                 uint64_t first, ks_stream_room *room, ks_stream_batch *b,
                                 ks_stream_there *there, kspec_error *err) {
    job j = {run, ks_backend_of(run), s, b, KSPEC_OK, err};
    const size_t all = s->all, n = b->count;
    double *mean = room->vectors, *low = mean + all, *d = low + all, *r[2] = {b->rows, b->rows + n},
           *along[2] = {b->rows + 2 * n, b->rows + 3 * n};
    ks_stream_part *p = &room->part[0], *q = &room->part[1];
    there->fetched = 0;
    offer(&j, sample, stream, first, there);
    ks_stream_part_set(p, s, s->exponent);
    ks_stream_part_clear(q, all, n);
    memset(b->rows, 0, 4 * n * sizeof *b->rows);
    for (int a = 0; a < matrices(s); a++)
        centre(&j, a, ldexp(1, -s->exponent), mean + start(s, a), low + start(s, a));
    for (size_t k = 0; k < all; k++) d[k] = (mean[k] - s->mean[k]) + (low[k] - s->low[k]);
    for (int a = 0; a < matrices(s); a++) {
        sum(&j, a, 2, NULL, NULL, KS_TILE_ROW_SUMS, r[a]);
        sum(&j, a, 1, NULL, d + start(s, a), KS_TILE_ROW_SUMS, along[a]);
    }
    for (int a = 0; a < matrices(s); a++) {
        const size_t at = start(s, a);
        sum(&j, a, 2, NULL, NULL, KS_TILE_COL_SUMS, q->diagonal + at);
        sum(&j, a, 3, NULL, NULL, KS_TILE_COL_SUMS, q->S3 + at);
        sum(&j, a, 4, NULL, NULL, KS_TILE_COL_SUMS, q->S4 + at);
        for (int c = 0; c < matrices(s); c++) {
            sum(&j, a, 1, r[c], NULL, KS_TILE_COL_SUMS, q->V[c] + at);
            sum(&j, a, 1, along[c], NULL, KS_TILE_COL_SUMS, q->g[c] + at);
        }
    }
    for (size_t i = 0; i < n; i++) {
        q->N2[0] += r[0][i], q->N2[1] += r[1][i];
        q->N4[0] += r[0][i] * r[0][i], q->N4[1] += r[0][i] * r[1][i], q->N4[2] += r[1][i] * r[1][i];
    }
    if (s->n) times(&j, there, d, p, mean); /* d includes the batch's means */
    const double both = sqrt((double)s->n * (double)n / (double)(s->n + n));
    for (size_t k = 0; k < all; k++) mean[k] = both * d[k];
    for (int a = 0; a < matrices(s) && !j.status; a++)
        j.status = j.at->put(run, j.at->view(b->Y[a], n * s->cols[a]), mean + start(s, a), s->cols[a], err);
    add_products(&j, there);
    if (!j.status) ks_stream_join(s, p, q, d);
    return j.status;
}
