/* One pass over all entries, which sums the squares of each row and column. */
#include "checks/parts.h"

#include "base/matrix.h"
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

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
                           double own, const double *weights, double *square, double *image, double *squares,
                           double *images, const unsigned char *seen) {
    double sum = 0, projected = 0;
    int marked = 0;
    for (size_t k = 0; k < n; k++) {
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

/* Scratch for a pass, allocated once */
typedef struct {
    double *center, *same, *row_weight, *col_weight, *row_image, *col_image;
    unsigned char *seen;
} room;

static void add_trial(const ks_checked *c, size_t t, ks_scan *s, room *r) {
    const kspec_matrix *m = &c->phi[t];
    const size_t P = s->P, Q = s->Q;
    const int by_rows = labs((long)m->col_stride) <= labs((long)m->row_stride) || P == 1;
    double *row_image = t ? r->row_image : s->row_image, *col_image = t ? r->col_image : s->col_image;
    for (size_t j = 0; j < Q; j++) r->center[j] = ks_scan_center(c, t, j);
    for (size_t i = 0; i < P; i++) r->seen[i] = (unsigned char)ks_is_seen(c, t, i);
    for (size_t i = 0; i < P && by_rows; i++)
        if (r->seen[i])
            s->marked |=
                add_line(m->data + (ptrdiff_t)i * m->row_stride, m->col_stride, Q, r->center, s->scale,
                         r->row_weight[i], r->col_weight, &s->row[i], &row_image[i], s->col, col_image, NULL);
    for (size_t j = 0; j < Q && !by_rows; j++) {
        for (size_t i = 0; i < P; i++) r->same[i] = r->center[j];
        s->marked |= add_line(m->data + (ptrdiff_t)j * m->col_stride, m->row_stride, P, r->same, s->scale,
                              r->col_weight[j], r->row_weight, &s->col[j], &col_image[j], s->row, row_image,
                              c->row_trials ? r->seen : NULL);
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
    room r = {ks_arena_alloc(arena, Q, sizeof(double)),
              ks_arena_alloc(arena, P, sizeof(double)),
              ks_arena_alloc(arena, P, sizeof(double)),
              ks_arena_alloc(arena, Q, sizeof(double)),
              ks_arena_zalloc(arena, P, sizeof(double)),
              ks_arena_zalloc(arena, Q, sizeof(double)),
              ks_arena_alloc(arena, P, 1)};
    if (arena->failed) return;
    for (size_t i = 0; i < P; i++) r.row_weight[i] = weight(i);
    for (size_t j = 0; j < Q; j++) r.col_weight[j] = weight(j);
    for (int again = 0; again < 2; again++) {
        for (size_t i = 0; i < P; i++) s->row[i] = s->row_image[i] = 0;
        for (size_t j = 0; j < Q; j++) s->col[j] = s->col_image[j] = 0;
        for (size_t t = 0; t < c->ntrials; t++) add_trial(c, t, s, &r);
        s->all = 0;
        for (size_t i = 0; i < P; i++) s->all += s->row[i];
        if (again || (s->all > 1e-200 && s->all < 1e200)) return;
        const double most = largest(c); /* The sum of squares exceeds the range of a double. */
        if (!(most > 0)) return;
        s->scale = most > 1 ? ldexp(1, -ilogb(most)) : fmin(ldexp(1, -ilogb(most) - 1), 1e300);
    }
}
