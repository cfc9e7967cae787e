/* Computes second-order sums of matrices with one trial from lists over rows and columns. */
#include "pairs/lists.h"

#include "base/error.h"

#include <math.h>

double ks_lists_own(const ks_two *t, int less) {
    return t->same ? ks_sums_own_share(t->Q - (less ? 1 : 0), t->columns > 0 ? t->columns : INFINITY) : 0;
}

kspec_status ks_lists_open(ks_lists *l, const ks_two *t, ks_arena *arena, kspec_error *err) {
    const size_t P = t->P, Q = t->Q, R = t->same ? 0 : t->R;
    double *rows = ks_arena_zalloc(arena, ks_size(7, P), sizeof *rows),
           *cols = ks_arena_zalloc(arena, ks_size(5, Q), sizeof *cols),
           *others = ks_arena_zalloc(arena, ks_size(3, R ? R : 1), sizeof *others);
    if (arena->failed) return ks_nomem(err, "leave-one-out sums", arena->failed);
    *l = (ks_lists){.t = t,
                    .u = rows,
                    .u2 = t->same ? rows : rows + P,
                    .form = rows + 2 * P,
                    .third = rows + 3 * P,
                    .fourth = rows + 4 * P,
                    .squares = rows + 5 * P,
                    .cubes = rows + 6 * P,
                    .v = cols,
                    .c = cols + Q,
                    .S3 = cols + 2 * Q,
                    .S4 = cols + 3 * Q,
                    .d = cols + 4 * Q,
                    .v2 = t->same ? cols : others,
                    .o = t->same ? NULL : others + R,
                    .d2 = t->same ? NULL : others + 2 * R};
    return KSPEC_OK;
}

static double sum(const double *x, size_t n) {
    double s = 0;
    for (size_t k = 0; k < n; k++) s += x[k];
    return s;
}

/*
 * Computes the sums over all pairs of columns, and subtracts the fraction `own` of the pairs of a column with
 * itself.
 */
static ks_quad all_of(const ks_lists *l, double own, double V, double V2) {
    const ks_two *t = l->t;
    const double whole = sum(l->c, t->Q);
    ks_quad q = {whole, V * V2, whole, 0, V};
    for (size_t i = 0; i < t->P; i++) q.d += l->u[i] * l->u2[i];
    for (size_t k = 0; k < t->Q && own > 0; k++) {
        const double square = own * (l->v[k] * l->v[k]);
        q.a -= square, q.b -= square, q.c -= square, q.d -= own * l->S4[k];
    }
    return q;
}

/* Computes the sums without row i. without_row() in sums.c explains the formula. */
static ks_quad without_row(const ks_lists *l, double own, double V, double V2, const ks_quad *all, size_t i) {
    const ks_two *t = l->t;
    const double n = (double)t->P, f = t->centered ? n / (n - 1) : 1, e = t->centered ? 1 / (n - 1) : 0;
    double uu = l->u[i] * l->u2[i], q = 2 * l->form[i], qb = V * l->u2[i] + V2 * l->u[i],
           third = t->centered ? 2 * l->third[i] : 0;
    if (own > 0) {
        uu -= own * l->fourth[i];
        q -= own * (2 * l->squares[i]);
        qb -= own * (2 * l->squares[i]);
        if (t->centered) third -= own * (4 * l->cubes[i]);
    }
    const double d = all->d + e * third + e * e * (2 * q + qb) + (n * pow(e, 4) - pow(1 + e, 4)) * uu;
    return (ks_quad){all->a - f * q + f * f * uu, all->b - f * qb + f * f * uu, all->c - f * q + f * f * uu,
                     d, all->t - f * l->u[i]};
}

/*
 * Computes the sums without each column, as without_columns() in sums.c does. V is the other matrix's sum of
 * squares.
 */
static void without_columns(const ks_lists *l, int second, double own, double V, const ks_quad *all,
                            ks_quad *out) {
    const ks_two *t = l->t;
    const size_t cols = second ? t->R : t->Q;
    const double *v = second ? l->v2 : l->v, *c = second ? l->o : l->c, *d = second ? l->d2 : l->d,
                 times = t->same ? 2 : 1;
    for (size_t k = 0; k < cols; k++) {
        const double square = own * (v[k] * v[k]), fourth = own > 0 ? own * l->S4[k] : 0;
        out[k] = (ks_quad){all->a - times * (c[k] - square), all->b - times * (v[k] * V - square),
                           all->c - times * (c[k] - square), all->d - times * (d[k] - fourth),
                           second ? all->t : all->t - v[k]};
    }
}

kspec_status ks_lists_sums(const ks_lists *l, ks_sums *s, ks_arena *arena, kspec_error *err) {
    const ks_two *t = l->t;
    const double V = sum(l->v, t->Q), V2 = t->same ? V : sum(l->v2, t->R), own = ks_lists_own(t, 0),
                 own_less = ks_lists_own(t, 1);
    s->size = V, s->other_size = V2, s->whole = sum(l->c, t->Q), s->all = all_of(l, own, V, V2);
    if (t->whole) return KSPEC_OK;
    s->row = ks_arena_alloc(arena, t->P, sizeof *s->row);
    s->col = ks_arena_alloc(arena, t->Q, sizeof *s->col);
    s->other = t->same ? NULL : ks_arena_alloc(arena, t->R, sizeof *s->other);
    if (arena->failed) return ks_nomem(err, "leave-one-out sums", arena->failed);
    const ks_quad less = own_less == own ? s->all : all_of(l, own_less, V, V2);
    for (size_t i = 0; i < t->P; i++) s->row[i] = without_row(l, own, V, V2, &s->all, i);
    without_columns(l, 0, t->same ? (1 + own_less) / 2 : 0, V2, &less, s->col);
    if (!t->same) without_columns(l, 1, 0, V, &less, s->other);
    return KSPEC_OK;
}
