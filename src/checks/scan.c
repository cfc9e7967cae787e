/* One pass over all entries, which sums the squares of each row and column. */
#include "checks/parts.h"

#include "base/matrix.h"
#include "base/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the centre of a column ---- */

/*
 * The number of rows that determine the centre of a column, which only needs to be near the bulk of the
 * values. SIDE columns are sorted side by side, each with its missing values at the end.
 */
enum { ASKED = 31, SLOTS = 32, SIDE = 8 };

/* Batcher's odd-even merge sort; it does not branch on values */
static void sort_columns(double x[SLOTS][SIDE]) {
    for (size_t p = 1; p < SLOTS; p *= 2)
        for (size_t k = p; k > 0; k /= 2)
            for (size_t first = k < p ? k : 0, i = first; i + k < SLOTS; i++) {
                if (((i - first) & k) || (i ^ (i + k)) >= 2 * p) continue;
                double *restrict a = x[i], *restrict b = x[i + k];
                for (size_t l = 0; l < SIDE; l++) {
                    const double low = a[l] < b[l] ? a[l] : b[l];
                    b[l] = a[l] > b[l] ? a[l] : b[l];
                    a[l] = low;
                }
            }
}

void ks_scan_centers(const ks_checked *c, size_t trial, size_t n, const size_t *cols, double *center) {
    const size_t P = c->phi->rows, asked = P < ASKED ? P : ASKED;
    for (size_t j = 0; j < n; j++) center[j] = 0;
    for (size_t from = 0; from < n && c->center != KSPEC_CENTER_NONE; from += SIDE) {
        const size_t side = n - from < SIDE ? n - from : SIDE;
        size_t count[SIDE] = {0};
        double x[SLOTS][SIDE];
        for (size_t k = 0; k < SLOTS; k++)
            for (size_t l = 0; l < SIDE; l++) x[k][l] = INFINITY;
        for (size_t k = 0; k < asked; k++) {
            const size_t i = k * P / asked;
            for (size_t l = 0; l < side && ks_is_seen(c, trial, i); l++) {
                const double value = ks_at(&c->phi[trial], i, cols ? cols[from + l] : from + l);
                if (isfinite(value)) x[k][l] = value, count[l]++;
            }
        }
        sort_columns(x);
        for (size_t l = 0; l < side; l++) center[from + l] = count[l] ? x[count[l] / 2][l] : 0;
    }
}

/* ---- the pass ---- */

/* Weights of the projection: between 1 and 2, without a pattern */
static double weight(size_t k) {
    double turns = (double)(k + 1) * 0.6180339887498949;
    return 1 + (turns - floor(turns));
}

static const double LEAST_MARK = 999;

static inline int is_mark(double x) {
    x = fabs(x);
    return (x == 999) | (x == 9999) | (x == 32768) | (x >= 9e19);
}

/* Sums that the processor adds up side by side, and the largest entries */
enum { LANES = 8 };

typedef struct {
    double square[LANES], image[LANES], most[LANES];
} lanes;

/* Adds the first entries of a line to the sums, up to a multiple of LANES. Returns how many. */
static size_t add_lanes(const double *restrict x, size_t n, const double *restrict center, double scale,
                        double own, const double *restrict weights, lanes *to, double *restrict squares,
                        double *restrict images) {
    lanes sums = {{0}, {0}, {0}};
    size_t k = 0;
    for (; k + LANES <= n; k += LANES)
        for (size_t l = 0; l < LANES; l++) {
            const double size = fabs(x[k + l]), raw = (x[k + l] - center[k + l]) * scale,
                         d = raw == raw ? raw : 0;
            sums.most[l] = size > sums.most[l] ? size : sums.most[l];
            sums.square[l] += d * d;
            sums.image[l] += weights[k + l] * d;
            squares[k + l] += d * d;
            images[k + l] += own * d;
        }
    *to = sums;
    return k;
}

/*
 * Adds one row of entries x[0], x[step] ... to the sums (or one column, if the matrix is stored by columns)
 */
static inline int add_line(const double *x, ptrdiff_t step, size_t n, const double *center, double scale,
                           double own, const double *weights, double *square, double *image,
                           double *restrict squares, double *restrict images, const unsigned char *seen) {
    lanes part = {{0}, {0}, {0}};
    double sum = 0, projected = 0, most = 0;
    int marked = 0;
    size_t k = step == 1 && !seen ? add_lanes(x, n, center, scale, own, weights, &part, squares, images) : 0;
    for (size_t l = 0; l < LANES; l++)
        sum += part.square[l], projected += part.image[l], most = fmax(most, part.most[l]);
    for (size_t j = 0; j < k && most >= LEAST_MARK; j++) marked |= is_mark(x[j]);
    for (; k < n; k++) {
        const double value = x[(ptrdiff_t)k * step];
        double d = (value - center[k]) * scale;
        if (seen && !seen[k]) continue;
        d = d == d ? d : 0;
        marked |= is_mark(value);
        sum += d * d;
        projected += weights[k] * d;
        squares[k] += d * d;
        images[k] += own * d;
    }
    *square += sum;
    *image += projected;
    return marked;
}

/*
 * Scratch for a pass, allocated once. Lines are rows, or columns if the matrix is stored by columns. Each
 * part of the lines has its own sums over the other side.
 */
typedef struct {
    double *center, *row_weight, *col_weight, *row_image, *col_image;
    unsigned char *seen;
    size_t parts;
    double *squares, *images, *same; /* per part */
    int *marked;
} room;

enum { ENTRIES = 1 << 17, MOST = 32 };

static size_t longer_of(const ks_checked *c) {
    return c->phi->rows > c->phi->cols ? c->phi->rows : c->phi->cols;
}

static void room_make(const ks_checked *c, room *r, ks_arena *arena) {
    const size_t P = c->phi->rows, Q = c->phi->cols, parts = P * Q / ENTRIES + 1, all = longer_of(c);
    r->parts = parts < MOST ? parts : MOST;
    r->center = ks_arena_alloc(arena, Q, sizeof(double));
    r->row_weight = ks_arena_alloc(arena, P, sizeof(double));
    r->col_weight = ks_arena_alloc(arena, Q, sizeof(double));
    r->row_image = ks_arena_zalloc(arena, P, sizeof(double));
    r->col_image = ks_arena_zalloc(arena, Q, sizeof(double));
    r->seen = ks_arena_alloc(arena, P, 1);
    r->squares = ks_arena_alloc(arena, ks_size(r->parts, all), sizeof(double));
    r->images = ks_arena_alloc(arena, ks_size(r->parts, all), sizeof(double));
    r->same = ks_arena_alloc(arena, ks_size(r->parts, P), sizeof(double));
    r->marked = ks_arena_alloc(arena, r->parts, sizeof *r->marked);
}

typedef struct {
    const ks_checked *c;
    size_t trial, all; /* all: the stride of a part's sums */
    int by_rows;
    ks_scan *s;
    room *r;
    double *row_image, *col_image;
} pass;

/* The lines of one part */
static kspec_status add_part(void *ctx, size_t part, const ks_worker *worker) {
    (void)worker;
    const pass *p = ctx;
    const room *r = p->r;
    const ks_scan *s = p->s;
    const kspec_matrix *m = &p->c->phi[p->trial];
    const size_t lines = p->by_rows ? s->P : s->Q, from = part * lines / r->parts,
                 to = (part + 1) * lines / r->parts;
    double *squares = r->squares + part * p->all, *images = r->images + part * p->all,
           *same = r->same + part * s->P;
    memset(squares, 0, p->all * sizeof *squares);
    memset(images, 0, p->all * sizeof *images);
    r->marked[part] = 0;
    for (size_t i = from; i < to && p->by_rows; i++)
        if (r->seen[i])
            r->marked[part] |= add_line(m->data + (ptrdiff_t)i * m->row_stride, m->col_stride, s->Q,
                                        r->center, s->scale, r->row_weight[i], r->col_weight, &s->row[i],
                                        &p->row_image[i], squares, images, NULL);
    for (size_t j = from; j < to && !p->by_rows; j++) {
        for (size_t i = 0; i < s->P; i++) same[i] = r->center[j];
        r->marked[part] |= add_line(m->data + (ptrdiff_t)j * m->col_stride, m->row_stride, s->P, same,
                                    s->scale, r->col_weight[j], r->row_weight, &s->col[j], &p->col_image[j],
                                    squares, images, p->c->row_trials ? r->seen : NULL);
    }
    return KSPEC_OK;
}

static void add_trial(const ks_run *run, const ks_checked *c, size_t t, ks_scan *s, room *r) {
    const kspec_matrix *m = &c->phi[t];
    const size_t P = s->P, Q = s->Q;
    const int by_rows = labs((long)m->col_stride) <= labs((long)m->row_stride) || P == 1;
    pass p = {
        c, t, longer_of(c), by_rows, s, r, t ? r->row_image : s->row_image, t ? r->col_image : s->col_image};
    ks_scan_centers(c, t, Q, NULL, r->center);
    for (size_t i = 0; i < P; i++) r->seen[i] = (unsigned char)ks_is_seen(c, t, i);
    (void)ks_parallel_for(run, r->parts, add_part, &p, NULL); /* no part can fail */
    double *squares = by_rows ? s->col : s->row, *images = by_rows ? p.col_image : p.row_image;
    for (size_t part = 0; part < r->parts; part++) {
        for (size_t k = 0; k < (by_rows ? Q : P); k++) {
            squares[k] += r->squares[part * p.all + k];
            images[k] += r->images[part * p.all + k];
        }
        s->marked |= r->marked[part];
    }
    for (size_t j = 0; j < Q && !t; j++) s->center[j] = r->center[j];
}

static double largest(const ks_checked *c) {
    double most = 0;
    for (size_t t = 0; t < c->ntrials; t++)
        for (size_t i = 0; i < c->phi->rows; i++)
            for (size_t j = 0; j < c->phi->cols && ks_is_seen(c, t, i); j++)
                most = fmax(most, fabs(ks_at(&c->phi[t], i, j)));
    return most;
}

/* Adds up all trials. If their squares leave the range of a double, does it again with another scale. */
static void add_all(const ks_checked *c, ks_scan *s, room *r) {
    const size_t P = s->P, Q = s->Q;
    ks_run run;
    if (ks_run_init(&run, c->threads, (kspec_progress){0}, NULL)) run = (ks_run){.threads = 1, .to = 1};
    for (size_t i = 0; i < P; i++) r->row_weight[i] = weight(i);
    for (size_t j = 0; j < Q; j++) r->col_weight[j] = weight(j);
    for (int again = 0; again < 2; again++) {
        for (size_t i = 0; i < P; i++) s->row[i] = s->row_image[i] = 0;
        for (size_t j = 0; j < Q; j++) s->col[j] = s->col_image[j] = 0;
        for (size_t t = 0; t < c->ntrials; t++) add_trial(&run, c, t, s, r);
        s->all = 0;
        for (size_t i = 0; i < P; i++) s->all += s->row[i];
        if (again || (s->all > 1e-200 && s->all < 1e200)) return;
        const double most = largest(c); /* The sum of squares exceeds the range of a double. */
        if (!(most > 0)) return;
        s->scale = most > 1 ? ldexp(1, -ilogb(most)) : fmin(ldexp(1, -ilogb(most) - 1), 1e300);
    }
}

void ks_scan_make(const ks_checked *c, ks_scan *s, ks_arena *arena) {
    const size_t P = c->phi->rows, Q = c->phi->cols;
    *s = (ks_scan){.P = P,
                   .Q = Q,
                   .scale = 1,
                   .row = ks_arena_alloc(arena, P, sizeof(double)),
                   .col = ks_arena_alloc(arena, Q, sizeof(double)),
                   .row_image = ks_arena_alloc(arena, P, sizeof(double)),
                   .col_image = ks_arena_alloc(arena, Q, sizeof(double)),
                   .center = ks_arena_alloc(arena, Q, sizeof(double))};
    ks_arena scratch = {0}; /* freed before the next check allocates */
    room r;
    room_make(c, &r, &scratch);
    if (scratch.failed) arena->failed = scratch.failed;
    if (!arena->failed) add_all(c, s, &r);
    ks_arena_free(&scratch);
}
