/* One pass over all entries, which sums the squares of each row and column. */
#include "checks/parts.h"

#include "base/matrix.h"
#include "base/parallel.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the centre of a column ---- */

/*
 * The number of rows that determine the centre of a column, which only needs to be near the bulk of the
 * values.
 */
enum { ASKED = 31 };

double ks_scan_center(const ks_checked *c, size_t trial, size_t j) {
    double x[ASKED];
    size_t n = 0, P = c->phi->rows, asked = P < ASKED ? P : ASKED;
    for (size_t k = 0; k < asked; k++) {
        const size_t i = k * P / asked;
        const double value = ks_is_seen(c, trial, i) ? ks_at(&c->phi[trial], i, j) : NAN;
        if (isfinite(value)) x[n++] = value;
    }
    if (!n || c->center == KSPEC_CENTER_NONE) return 0;
    ks_sort_ascending(x, n);
    return x[n / 2];
}

/* ---- the pass ---- */

/* Weights of the projection: between 1 and 2, without a pattern */
static double weight(size_t k) {
    double turns = (double)(k + 1) * 0.6180339887498949;
    return 1 + (turns - floor(turns));
}

static inline int is_mark(double x) {
    x = fabs(x);
    return (x == 999) | (x == 9999) | (x == 32768) | (x >= 9e19);
}

/*
 * Adds one row of entries x[0], x[step] ... to the sums (or one column, if the matrix is stored by columns)
 */
static inline int add_line(const double *x, ptrdiff_t step, size_t n, const double *center, double scale,
                           double own, const double *weights, double *square, double *image,
                           double *restrict squares, double *restrict images, const unsigned char *seen) {
    enum { LANES = 8 }; /* sums that the processor adds up side by side */
    double sum = 0, projected = 0, part[LANES] = {0}, image_part[LANES] = {0};
    int marked = 0;
    size_t k = 0;
    for (; k + LANES <= n && step == 1 && !seen; k += LANES)
        for (size_t l = 0; l < LANES; l++) {
            double d = (x[k + l] - center[k + l]) * scale;
            d = d == d ? d : 0;
            marked |= is_mark(x[k + l]);
            part[l] += d * d;
            image_part[l] += weights[k + l] * d;
            squares[k + l] += d * d;
            images[k + l] += own * d;
        }
    for (size_t l = 0; l < LANES; l++) sum += part[l], projected += image_part[l];
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
    for (size_t j = 0; j < Q; j++) r->center[j] = ks_scan_center(c, t, j);
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
