/* Adds rows to the second-order state of a stream, and merges two states. */
#include "pairs/stream.h"

#include "base/error.h"
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

enum { STRIP = 64, BAND = 128 };

size_t ks_stream_numbers(const size_t cols[2]) {
    const size_t all = ks_size_add(cols[0], cols[1]);
    return ks_size(all, ks_size_add(all, 6));
}

static void set_arrays(ks_stream *s, double *at) {
    double **vectors[] = {&s->mean, &s->low, &s->S3, &s->S4, &s->V[0], &s->V[1], &s->G};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) *vectors[k] = at + k * s->all;
}

kspec_status ks_stream_open(ks_stream *s, const size_t cols[2], ks_arena *arena, kspec_error *err) {
    *s = (ks_stream){.cols = {cols[0], cols[1]}, .all = cols[0] + cols[1]};
    double *at = ks_arena_zalloc(arena, ks_stream_numbers(cols), sizeof *at);
    if (!at) return ks_nomem(err, "the products of columns", arena->failed);
    set_arrays(s, at);
    return KSPEC_OK;
}

void ks_stream_mirror(const ks_stream *s) {
    for (size_t k = 0; k < s->all; k++)
        for (size_t i = 0; i < k; i++) s->G[k * s->all + i] = s->G[i * s->all + k];
}

/* ---- centre ---- */

static const double *part_of(const ks_stream *s, const double *x, int a) { return x + (a ? s->cols[0] : 0); }

static double dot_of(const ks_stream *s, const double *x, const double *y, int a) {
    return ks_dot(s->cols[a], part_of(s, x, a), part_of(s, y, a));
}

/*
 * Moves the sums to the centre mean + e, where e = f d. The rows become y' = y - e, and their squares become
 * r_a' = r_a - 2 e_a.y_a + E_a with E_a = |e_a|^2. The sum of y is 0.
 */
void ks_stream_move(const ks_stream *s, ks_stream_part *p, double f, const double *d) {
    static const int first[3] = {0, 0, 1}, second[3] = {0, 1, 1};
    double E[2], N4[3];
    for (int a = 0; a < 2; a++) E[a] = f * f * dot_of(s, d, d, a);
    for (int k = 0; k < 3; k++) {
        const int a = first[k], b = second[k];
        N4[k] = p->N4[k] - 2 * f * (dot_of(s, d, p->V[a], b) + dot_of(s, d, p->V[b], a)) + E[b] * p->N2[a] +
                E[a] * p->N2[b] + 4 * f * f * dot_of(s, d, p->g[b], a) + p->n * E[a] * E[b];
    }
    memcpy(p->N4, N4, sizeof N4);
    for (size_t j = 0; j < s->all; j++) {
        const double e = f * d[j], G = p->diagonal[j];
        for (int a = 0; a < 2; a++) p->V[a][j] -= e * p->N2[a] + 2 * f * p->g[a][j] + p->n * E[a] * e;
        p->S4[j] += e * (e * (6 * G + p->n * e * e) - 4 * p->S3[j]);
        p->S3[j] -= e * (3 * G + p->n * e * e);
    }
    for (int a = 0; a < 2; a++) p->N2[a] += p->n * E[a];
}

kspec_status ks_stream_part_open(ks_stream_part *p, size_t all, ks_arena *arena, kspec_error *err) {
    double *room = ks_arena_zalloc(arena, ks_size(7, all), sizeof *room);
    if (!room) return ks_nomem(err, "sums over columns", arena->failed);
    double **vectors[] = {&p->S3, &p->S4, &p->V[0], &p->V[1], &p->diagonal, &p->g[0], &p->g[1]};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++) *vectors[k] = room + k * all;
    return KSPEC_OK;
}

void ks_stream_part_clear(ks_stream_part *p, size_t all, size_t n) {
    p->n = (double)n;
    memset(p->N2, 0, sizeof p->N2);
    memset(p->N4, 0, sizeof p->N4);
    memset(p->S3, 0, 7 * all * sizeof *p->S3);
}

void ks_stream_part_set(ks_stream_part *p, const ks_stream *s, int exponent) {
    const double f = ldexp(1, s->known ? s->exponent - exponent : 0), f2 = f * f, f3 = f2 * f, f4 = f2 * f2;
    ks_stream_part_clear(p, s->all, s->n);
    for (int a = 0; a < 2; a++) p->N2[a] = f2 * s->N2[a];
    for (int k = 0; k < 3; k++) p->N4[k] = f4 * s->N4[k];
    for (size_t j = 0; j < s->all; j++) {
        p->S3[j] = f3 * s->S3[j], p->S4[j] = f4 * s->S4[j], p->diagonal[j] = f2 * s->G[j * s->all + j];
        for (int a = 0; a < 2; a++) p->V[a][j] = f3 * s->V[a][j];
    }
}

static size_t bands(size_t all) { return (all + BAND - 1) / BAND; }

kspec_status ks_stream_room_open(ks_stream_room *room, size_t all, size_t rows, ks_arena *arena,
                                 kspec_error *err) {
    kspec_status st = ks_stream_part_open(&room->part[0], all, arena, err);
    if (!st) st = ks_stream_part_open(&room->part[1], all, arena, err);
    room->vectors = ks_arena_alloc(arena, ks_size(3, all), sizeof(double));
    room->rows = ks_arena_alloc(arena, ks_size(4, rows), sizeof(double));
    room->partial = ks_arena_alloc(arena, ks_size(bands(all), ks_size(2, all)), sizeof(double));
    return st || !arena->failed ? st : ks_nomem(err, "scratch of a batch", arena->failed);
}

/* ---- products ---- */

typedef struct {
    const ks_stream *s;
    const double *d;
    double *partial; /* two vectors per chunk */
} times_job;

static kspec_status times_rows(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const times_job *j = ctx;
    const ks_stream *s = j->s;
    const size_t all = s->all, Q = s->cols[0], from = chunk * BAND,
                 to = from + BAND < all ? from + BAND : all;
    double *g = j->partial + chunk * 2 * all, *h = g + all;
    for (size_t i = from; i < to; i++) {
        const double *row = s->G + i * all, *d = j->d;
        double first = 0, second = 0;
        double *below = i < Q ? g : h;
        for (size_t k = i + 1; k < all; k++) below[k] += row[k] * d[i];
        for (size_t k = i; k < Q; k++) first += row[k] * d[k];
        for (size_t k = i > Q ? i : Q; k < all; k++) second += row[k] * d[k];
        g[i] += first, h[i] += second;
    }
    return KSPEC_OK;
}

/* Runs chunks that never fail and that the caller cannot cancel, so the loop cannot fail. */
static void loop(int threads, size_t chunks, ks_chunk_fn fn, void *ctx) {
    (void)ks_parallel_for(&(ks_run){.threads = threads, .to = 1}, chunks, fn, ctx, NULL);
}

void ks_stream_times(int threads, const ks_stream *s, const double *d, double f, double *g[2],
                     double *partial) {
    const size_t all = s->all, chunks = bands(all);
    times_job j = {s, d, partial};
    memset(partial, 0, chunks * 2 * all * sizeof *partial);
    loop(threads, chunks, times_rows, &j);
    for (size_t c = 0; c < chunks; c++)
        for (size_t k = 0; k < all; k++) {
            g[0][k] += f * partial[c * 2 * all + k];
            g[1][k] += f * partial[(c * 2 + 1) * all + k];
        }
}

/* ---- rows ---- */

typedef struct {
    const ks_stream *s;
    double *x;
    size_t count;
    double scale;
    ks_stream_part *p;
    double *mean, *low;
    const double *d; /* d is the block's mean minus the state's mean. */
    double *r[2], *along[2];
} block;

/* Scales and centres a strip of columns. The mean has twice the digits of a double. */
static kspec_status center_strip(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const block *b = ctx;
    const size_t all = b->s->all, from = chunk * STRIP, to = from + STRIP < all ? from + STRIP : all;
    const double n = (double)b->count;
    for (size_t i = 0; i < b->count; i++)
        for (size_t k = from; k < to; k++) b->mean[k] += (b->x[i * all + k] *= b->scale);
    for (size_t k = from; k < to; k++) b->mean[k] /= n;
    for (size_t i = 0; i < b->count; i++)
        for (size_t k = from; k < to; k++) b->low[k] += (b->x[i * all + k] -= b->mean[k]);
    for (size_t k = from; k < to; k++) b->low[k] /= n;
    for (size_t i = 0; i < b->count; i++)
        for (size_t k = from; k < to; k++) b->x[i * all + k] -= b->low[k];
    return KSPEC_OK;
}

/* Computes r_a and d_a.y of each row. */
static kspec_status measure_rows(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const block *b = ctx;
    const size_t from = chunk * STRIP, to = from + STRIP < b->count ? from + STRIP : b->count;
    for (size_t i = from; i < to; i++)
        for (int a = 0; a < 2; a++) {
            const double *x = b->x + i * b->s->all;
            b->r[a][i] = dot_of(b->s, x, x, a);
            b->along[a][i] = dot_of(b->s, x, b->d, a);
        }
    return KSPEC_OK;
}

static kspec_status sum_strip(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const block *b = ctx;
    const ks_stream_part *p = b->p;
    const size_t all = b->s->all, from = chunk * STRIP, to = from + STRIP < all ? from + STRIP : all;
    const int matrices = b->s->cols[1] ? 2 : 1;
    for (size_t i = 0; i < b->count; i++) {
        const double *x = b->x + i * all;
        for (size_t k = from; k < to; k++) {
            const double square = x[k] * x[k];
            p->diagonal[k] += square;
            p->S3[k] += square * x[k];
            p->S4[k] += square * square;
        }
        for (int a = 0; a < matrices; a++)
            for (size_t k = from; k < to; k++) {
                p->V[a][k] += b->r[a][i] * x[k];
                p->g[a][k] += b->along[a][i] * x[k];
            }
    }
    return KSPEC_OK;
}

static kspec_status make_tile(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    ks_tiled_make(ctx, chunk);
    return KSPEC_OK;
}

/*
 * Adds a number to mean + low without rounding. `mean` must be the larger number, or not known to be smaller.
 */
static void add_mean(double *mean, double *low, double more) {
    const double a = *mean, b = more + *low, sum = a + b, rest = sum - a;
    *mean = sum, *low = (a - (sum - rest)) + (b - rest);
}

void ks_stream_join(ks_stream *s, ks_stream_part *p, ks_stream_part *q, const double *d) {
    const double n = p->n + q->n;
    ks_stream_move(s, p, q->n / n, d);
    ks_stream_move(s, q, -p->n / n, d);
    for (size_t j = 0; j < s->all; j++) {
        s->S3[j] = p->S3[j] + q->S3[j], s->S4[j] = p->S4[j] + q->S4[j];
        for (int a = 0; a < 2; a++) s->V[a][j] = p->V[a][j] + q->V[a][j];
        add_mean(&s->mean[j], &s->low[j], d[j] * (q->n / n));
    }
    for (int a = 0; a < 2; a++) s->N2[a] = p->N2[a] + q->N2[a];
    for (int k = 0; k < 3; k++) s->N4[k] = p->N4[k] + q->N4[k];
    s->n = (size_t)n;
}

/* Converts all sums to the larger unit 2^exponent. */
static void rescale(ks_stream *s, int exponent) {
    const double f = ldexp(1, s->exponent - exponent), f2 = f * f, f3 = f2 * f, f4 = f2 * f2;
    for (size_t j = 0; j < s->all; j++) {
        s->mean[j] *= f, s->low[j] *= f, s->S3[j] *= f3, s->S4[j] *= f4;
        for (int a = 0; a < 2; a++) s->V[a][j] *= f3;
    }
    for (size_t k = 0; k < s->all * s->all; k++) s->G[k] *= f2;
    for (int a = 0; a < 2; a++) s->N2[a] *= f2;
    for (int k = 0; k < 3; k++) s->N4[k] *= f4;
    s->exponent = exponent;
}

int ks_stream_unit(const double *x, size_t count, int known, int exponent, int *unit) {
    enum { HEADROOM = 100 };
    double most = 0;
    for (size_t k = 0; k < count; k++) most = fmax(most, fabs(x[k]));
    frexp(most, unit);
    return most > 0 && (!known || *unit > exponent + HEADROOM);
}

static void set_unit(ks_stream *s, const double *x, size_t count) {
    int e;
    if (!ks_stream_unit(x, count, s->known, s->exponent, &e)) return;
    if (s->known)
        rescale(s, e);
    else
        s->known = 1, s->exponent = e; /* sums are 0 */
}

void ks_stream_add(int threads, ks_stream *s, double *x, size_t count, ks_stream_room *room) {
    const size_t all = s->all, strips = (all + STRIP - 1) / STRIP;
    ks_stream_part *p = &room->part[0], *q = &room->part[1];
    double *d = room->vectors + 2 * all, *rows = room->rows;
    set_unit(s, x, count * all);
    ks_stream_part_set(p, s, s->exponent);
    ks_stream_part_clear(q, all, count);
    memset(room->vectors, 0, 2 * all * sizeof *room->vectors);
    block b = {.s = s,
               .x = x,
               .count = count,
               .scale = ldexp(1, -s->exponent),
               .p = q,
               .mean = room->vectors,
               .low = room->vectors + all,
               .d = d,
               .r = {rows, rows + count},
               .along = {rows + 2 * count, rows + 3 * count}};
    loop(threads, strips, center_strip, &b);
    for (size_t j = 0; j < all; j++) d[j] = (b.mean[j] - s->mean[j]) + (b.low[j] - s->low[j]);
    loop(threads, (count + STRIP - 1) / STRIP, measure_rows, &b);
    loop(threads, strips, sum_strip, &b);
    for (size_t i = 0; i < count; i++) {
        const double r = b.r[0][i], u = b.r[1][i];
        q->N2[0] += r, q->N2[1] += u;
        q->N4[0] += r * r, q->N4[1] += r * u, q->N4[2] += u * u;
    }
    if (s->n) ks_stream_times(threads, s, d, 1, p->g, room->partial);
    /* The difference of the two means contributes to G like one additional row. */
    const double both = sqrt((double)s->n * (double)count / (double)(s->n + count));
    for (size_t j = 0; j < all; j++) x[count * all + j] = both * d[j];
    ks_tiled g = {1, 0, all, all, count + 1, 1, x, all, x, all, 1, s->G, all, 1};
    loop(threads, ks_tiled_count(&g), make_tile, &g);
    ks_stream_join(s, p, q, d);
}

/* ---- merging ---- */

typedef struct {
    ks_stream *s;
    const double *from, *d;
    double scale, both;
} merge_job;

static kspec_status merge_rows(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const merge_job *j = ctx;
    const size_t all = j->s->all, from = chunk * BAND, to = from + BAND < all ? from + BAND : all;
    for (size_t i = from; i < to; i++)
        for (size_t k = i; k < all; k++)
            j->s->G[i * all + k] += j->scale * j->from[i * all + k] + j->both * j->d[i] * j->d[k];
    return KSPEC_OK;
}

void ks_stream_merge(int threads, ks_stream *s, const ks_stream *other, ks_stream_room *room) {
    const size_t all = s->all;
    ks_stream_part *p = &room->part[0], *q = &room->part[1];
    double *d = room->vectors;
    const int to = !s->known                       ? other->exponent
                   : !other->known                 ? s->exponent
                   : other->exponent > s->exponent ? other->exponent
                                                   : s->exponent;
    if (other->n == 0) return;
    if (s->known && to != s->exponent) rescale(s, to);
    if (other->known) s->exponent = to, s->known = 1;
    const double f = other->known ? ldexp(1, other->exponent - to) : 1;
    ks_stream_part_set(p, s, s->exponent);
    ks_stream_part_set(q, other, to);
    for (size_t j = 0; j < all; j++)
        d[j] = (f * other->mean[j] - s->mean[j]) + (f * other->low[j] - s->low[j]);
    ks_stream_times(threads, s, d, 1, p->g, room->partial);
    ks_stream_times(threads, other, d, f * f, q->g, room->partial);
    merge_job j = {s, other->G, d, f * f, p->n * q->n / (p->n + q->n)};
    loop(threads, bands(all), merge_rows, &j);
    ks_stream_join(s, p, q, d);
}
