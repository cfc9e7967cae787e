/* Computes second-order estimates with twice the digits of a double. */
#include "pairs/twice.h"

#include "base/error.h"
#include "simd/simd.h"

#include <float.h>
#include <string.h>

enum { MAX_CHUNKS = 64 };

/* Represents a ks_quad with twice the digits. */
typedef struct {
    ks_twice a, b, c, d, t;
} quad;

static void add(quad *to, const quad *from, double times) {
    to->a = ks_twice_add(to->a, ks_twice_times(from->a, times));
    to->b = ks_twice_add(to->b, ks_twice_times(from->b, times));
    to->c = ks_twice_add(to->c, ks_twice_times(from->c, times));
    to->d = ks_twice_add(to->d, ks_twice_times(from->d, times));
    to->t = ks_twice_add(to->t, ks_twice_times(from->t, times));
}

/*
 * Describes one matrix with two trials. For each column, p = x z, v is the sum of p over rows, and norm = |x|
 * |z|. u is the sum of p over columns.
 */
typedef struct {
    ks_twice_matrix p;
    ks_twice *v, *u;
    double *norm;
} side;

typedef struct {
    const ks_twice_two *t;
    const ks_simd *k;
    size_t P, Q, R, stride, chunks;
    side first, second; /* equal for one matrix */
    /*
     * own is the weight of pairs of a column with itself. own_less is this weight if one column is left out.
     */
    double own, own_less;
    /* Each chunk has sums over pairs of different columns, and KS_TWICE_LISTS lists over rows. */
    quad *col, *other, *diagonal;
    double *lists;
    /* Sums of |x| |z| |y| |w|, over all pairs that count and over pairs of a column with itself. */
    double size, own_size;
    double norms; /* The sum of |x| |z| over the columns of the first matrix. */
} job;

double ks_twice_work(size_t P, size_t Q, size_t R, int same) {
    return (double)P * (double)Q * (double)R * (same ? 0.5 : 1);
}

kspec_status ks_twice_matrix_make(size_t P, size_t Q, ks_twice_matrix *m, ks_arena *arena, kspec_error *err) {
    const size_t stride = ks_size_add(P, KS_TWICE_ROWS - 1) / KS_TWICE_ROWS * KS_TWICE_ROWS,
                 count = ks_size(stride, Q);
    *m = (ks_twice_matrix){P, Q, stride, NULL, NULL};
    m->hi = ks_arena_zalloc(arena, count, sizeof *m->hi);
    m->lo = ks_arena_zalloc(arena, count, sizeof *m->lo);
    return arena->failed ? ks_nomem(err, "the matrix in twice the digits", arena->failed) : KSPEC_OK;
}

static ks_twice entry(const ks_twice_matrix *m, size_t i, size_t k) {
    return (ks_twice){m->hi[k * m->stride + i], m->lo[k * m->stride + i]};
}

static kspec_status open_side(const ks_twice_matrix *X, const ks_twice_matrix *Z, side *s, ks_arena *arena,
                              kspec_error *err) {
    kspec_status st = ks_twice_matrix_make(X->P, X->Q, &s->p, arena, err);
    s->v = ks_arena_zalloc(arena, X->Q, sizeof *s->v);
    s->u = ks_arena_zalloc(arena, X->P, sizeof *s->u);
    s->norm = ks_arena_alloc(arena, X->Q, sizeof *s->norm);
    if (arena->failed) return ks_nomem(err, "sums over columns", arena->failed);
    for (size_t k = 0; k < X->Q && !st; k++) {
        double xx = 0, zz = 0, most[2] = {0, 0}; /* squares of small columns may underflow */
        for (size_t i = 0; i < X->P; i++) {
            const ks_twice x = entry(X, i, k), z = entry(Z, i, k), p = ks_twice_mul(x, z);
            s->p.hi[k * s->p.stride + i] = p.hi, s->p.lo[k * s->p.stride + i] = p.lo;
            s->v[k] = ks_twice_add(s->v[k], p), s->u[i] = ks_twice_add(s->u[i], p);
            xx += x.hi * x.hi, zz += z.hi * z.hi;
            most[0] = fmax(most[0], fabs(x.hi)), most[1] = fmax(most[1], fabs(z.hi));
        }
        s->norm[k] = fmax(sqrt(xx), most[0]) * fmax(sqrt(zz), most[1]);
    }
    return st;
}

/* ---- pairs ---- */

static void columns_of(const job *j, size_t k, size_t g, ks_twice_pair *c) {
    const ks_twice_two *t = j->t;
    const size_t from = k * j->stride, to = g * j->stride;
    *c = (ks_twice_pair){.n = j->stride,
                         .centered = t->centered,
                         .x = {t->X->hi + from, t->X->lo + from},
                         .z = {t->Z->hi + from, t->Z->lo + from},
                         .p = {j->first.p.hi + from, j->first.p.lo + from},
                         .y = {t->Y->hi + to, t->Y->lo + to},
                         .w = {t->W->hi + to, t->W->lo + to},
                         .q = {j->second.p.hi + to, j->second.p.lo + to}};
}

static ks_twice part(const double *s, int k) { return (ks_twice){s[2 * k], s[2 * k + 1]}; }

/*
 * Returns the sums of one pair of columns. Adds `weight` times the pair's sums over each row to the chunk's
 * lists.
 */
static quad pair(const job *j, size_t k, size_t g, double weight, double *lists) {
    ks_twice_pair c;
    double s[2 * KS_TWICE_SUMS], v[2], w[2];
    columns_of(j, k, g, &c);
    j->k->twice_sums(&c, s);
    const quad q = {ks_twice_mul(part(s, KS_TWICE_XY), part(s, KS_TWICE_ZW)),
                    ks_twice_mul(j->first.v[k], j->second.v[g]),
                    ks_twice_mul(part(s, KS_TWICE_XW), part(s, KS_TWICE_YZ)),
                    part(s, KS_TWICE_PQ),
                    {0, 0}};
    if (weight == 0) return q;
    for (int i = 0; i < KS_TWICE_SUMS; i++) {
        const ks_twice x = ks_twice_times(part(s, i), weight);
        s[2 * i] = x.hi, s[2 * i + 1] = x.lo;
    }
    const ks_twice x = ks_twice_times(j->first.v[k], weight), y = ks_twice_times(j->second.v[g], weight);
    v[0] = x.hi, v[1] = x.lo, w[0] = y.hi, w[1] = y.lo;
    j->k->twice_rows(&c, s, v, w, weight, lists);
    return q;
}

/*
 * Processes the columns chunk, chunk + chunks, ... of the first matrix, so that all chunks take similar time.
 */
static kspec_status pairs(void *ctx, size_t chunk, const ks_worker *worker) {
    const job *j = ctx;
    const int same = j->t->same;
    double *lists = j->lists + chunk * 2 * KS_TWICE_LISTS * j->stride;
    quad *col = j->col + chunk * j->Q, *other = j->other + chunk * j->R;
    (void)worker;
    for (size_t k = chunk; k < j->Q; k += j->chunks) {
        if (same && j->own > 0) j->diagonal[k] = pair(j, k, k, j->own, lists);
        for (size_t g = same ? k + 1 : 0; g < j->R; g++) {
            const quad q = pair(j, k, g, same ? 2 : 1, lists);
            add(&col[k], &q, 1), add(&other[g], &q, 1);
        }
    }
    return KSPEC_OK;
}

/* ---- estimates ---- */

/*
 * Computes the average of ks_sums_cross(), or of ks_sums_traces() if the caller exchanges own and second.
 * Adds to *lost the error of rounding cancelling terms to doubles.
 */
static double average(const job *j, ks_twice own, const quad *q, ks_twice second, size_t P, double pairs,
                      double *lost) {
    const double n = (double)P, N = j->t->rows;
    const ks_twice others = ks_twice_add(second, q->c);
    if (!(N > n)) return own.hi / (n * n) / pairs;
    /* s[0] sums over tuples of two rows, and s[1] over tuples of one row. */
    ks_twice s[3] = {ks_twice_add(own, ks_twice_minus(q->d)), q->d, {0, 0}};
    double weight[3] = {1 / (n * (n - 1)), 0, 0}, sum = 0, terms = 0;
    if (!isinf(N)) weight[0] *= (N - 1) / N, weight[1] = 1 / (N * n);
    if (j->t->centered) {
        const double two = weight[0], three = two / (n - 2), four = three / (n - 3);
        const ks_twice s4 = ks_twice_add(ks_twice_add(ks_twice_times(own, n * n - 3 * n + 1), others),
                                         ks_twice_times(q->d, -n * (n - 1))),
                       s2 = ks_twice_add(ks_twice_add(ks_twice_times(q->d, n), own), others);
        s[0] = s4, s[1] = s2;
        s[2] = ks_twice_add(ks_twice_times(own, n * n), ks_twice_minus(ks_twice_add(s4, s2)));
        weight[0] = isinf(N) ? four : four * ((N - 2) / N) * ((N - 3) / N);
        weight[1] = isinf(N) ? 0 : two / N / N, weight[2] = isinf(N) ? 0 : three * ((N - 2) / N) / N;
    }
    for (int k = 0; k < 3; k++) sum += weight[k] * s[k].hi, terms += fabs(weight[k] * s[k].hi);
    if (terms > 2 * fabs(sum)) *lost = fmax(*lost, KS_LOST_OF_ITSELF * terms / pairs);
    return sum / pairs;
}

static void estimate(const job *j, const ks_twice_out *out, size_t k, const quad *q, size_t P, size_t Q,
                     double pairs, ks_lost lost[3], int kind) {
    double *bound[3];
    for (int e = 0; e < 3; e++) bound[e] = kind == 0 ? &lost[e].all : kind == 1 ? &lost[e].row : &lost[e].col;
    out->cross[k] += out->weight * average(j, q->a, q, q->b, P, pairs, bound[2]);
    if (out->square) out->square[k] += out->weight * average(j, q->b, q, q->a, P, pairs, bound[1]);
    if (!out->trace) return;
    const double n = (double)P, N = j->t->rows;
    const double trace = !j->t->centered || !(N > n) ? q->t.hi / (n * (double)Q)
                                                     : q->t.hi / ((n - 1) * (double)Q) * (1 - 1 / N);
    out->trace[k] += out->weight * trace;
}

/* Returns the sums without row i. pairs/sums.c explains the formula. */
static quad without_row(const job *j, const quad *all, size_t i) {
    const double n = (double)j->P;
    const ks_twice one = ks_twice_of(1), e = j->t->centered ? ks_twice_over(one, n - 1) : ks_twice_of(0),
                   f = ks_twice_add(one, e), f2 = ks_twice_mul(f, f), e2 = ks_twice_mul(e, e);
    ks_twice list[KS_TWICE_LISTS];
    for (int k = 0; k < KS_TWICE_LISTS; k++)
        list[k] = (ks_twice){j->lists[(size_t)(2 * k) * j->stride + i],
                             j->lists[(size_t)(2 * k + 1) * j->stride + i]};
    const ks_twice *uu = &list[KS_TWICE_ALL], back = ks_twice_mul(f2, *uu), gone = ks_twice_minus(f);
    const ks_twice three =
        ks_twice_add(ks_twice_add(list[KS_TWICE_OWN], list[KS_TWICE_SECOND]), list[KS_TWICE_THIRD]);
    const ks_twice four =
        ks_twice_add(ks_twice_times(ks_twice_mul(e2, e2), n), ks_twice_minus(ks_twice_mul(f2, f2)));
    quad q = {.t = ks_twice_add(all->t, ks_twice_mul(gone, j->first.u[i]))};
    q.a = ks_twice_add(ks_twice_add(all->a, ks_twice_mul(gone, list[KS_TWICE_OWN])), back);
    q.b = ks_twice_add(ks_twice_add(all->b, ks_twice_mul(gone, list[KS_TWICE_SECOND])), back);
    q.c = ks_twice_add(ks_twice_add(all->c, ks_twice_mul(gone, list[KS_TWICE_THIRD])), back);
    q.d = ks_twice_add(ks_twice_add(all->d, ks_twice_mul(e, list[KS_TWICE_CUBES])),
                       ks_twice_add(ks_twice_mul(e2, three), ks_twice_mul(four, *uu)));
    return q;
}

/* Adds the sums of all chunks to the sums of the first chunk. */
static void reduce(job *j) {
    const size_t n = 2 * KS_TWICE_LISTS * j->stride;
    for (size_t c = 1; c < j->chunks; c++) {
        for (size_t k = 0; k < j->Q; k++) add(&j->col[k], &j->col[c * j->Q + k], 1);
        for (size_t g = 0; g < j->R; g++) add(&j->other[g], &j->other[c * j->R + g], 1);
        for (int l = 0; l < KS_TWICE_LISTS; l++)
            for (size_t i = 0; i < j->stride; i++) {
                double *hi = j->lists + (size_t)(2 * l) * j->stride + i, *lo = hi + j->stride;
                const ks_twice sum = ks_twice_add((ks_twice){*hi, *lo}, (ks_twice){hi[c * n], lo[c * n]});
                *hi = sum.hi, *lo = sum.lo;
            }
    }
}

static void estimates(const job *j, const ks_twice_out *out) {
    const ks_twice_two *t = j->t;
    const size_t P = j->P, Q = j->Q, R = j->R;
    const double population = t->columns > 0 ? t->columns : INFINITY,
                 n = t->same ? ks_sums_pairs(Q, population) : (double)Q * (double)R;
    const double sum[3] = {n, t->same ? ks_sums_pairs(Q - 1, population) : (double)(Q - 1) * (double)R,
                           (double)Q * (double)(R - 1)};
    quad off = {{0}}, diagonal = {{0}}, all;
    ks_lost lost[3] = {{0}};
    for (size_t k = 0; k < Q; k++) {
        add(&off, &j->col[k], 1);
        if (t->same) add(&off, &j->other[k], 1);
        off.t = ks_twice_add(off.t, j->first.v[k]);
        if (t->same && j->own > 0) add(&diagonal, &j->diagonal[k], 1);
    }
    all = off;
    add(&all, &diagonal, j->own);
    estimate(j, out, 0, &all, P, Q, sum[0], lost, 0);
    for (size_t i = 0; i < P; i++) {
        const quad q = without_row(j, &all, i);
        estimate(j, out, 1 + i, &q, P - 1, Q, sum[0], lost, 1);
    }
    for (size_t k = 0; k < Q; k++) {
        quad q = off;
        add(&q, &j->col[k], t->same ? -2 : -1);
        if (t->same) add(&q, &j->other[k], -2);
        if (t->same && j->own > 0) {
            add(&q, &diagonal, j->own_less);
            add(&q, &j->diagonal[k], -j->own_less);
        }
        q.t = ks_twice_add(off.t, ks_twice_minus(j->first.v[k]));
        estimate(j, out, 1 + P + k, &q, P, Q - 1, sum[1], lost, 2);
    }
    for (size_t g = 0; g < R && !t->same; g++) {
        quad q = off;
        add(&q, &j->other[g], -1);
        estimate(j, out, 1 + P + Q + g, &q, P, Q, sum[2], lost, 2);
    }
    const ks_sums_rows rows = {t->centered, P, t->rows};
    const double error = KS_TWICE_EPSILON * (double)(P + Q + R + 64) * j->size +
                         (j->own > 0 && j->own < 1 ? 4 * DBL_EPSILON * j->own_size : 0);
    const ks_lost bound = ks_sums_lost(&rows, sum[0], t->same ? sum[1] : fmin(sum[1], sum[2]), error);
    for (int e = 0; e < 3; e++) {
        ks_lost *to = e == 0 ? out->of_trace : e == 1 ? out->of_square : out->of_cross;
        if (!to) continue;
        if (e == 0) {
            const double trace = KS_TWICE_EPSILON * (double)(P + Q + 64) * j->norms /
                                 (fmax(1, (double)P - 2) * fmax(1, (double)Q - 1));
            lost[e].all += trace, lost[e].row += trace, lost[e].col += trace;
        } else {
            lost[e].all += bound.all, lost[e].row += bound.row, lost[e].col += bound.col;
        }
        to->all += out->weight * lost[e].all;
        to->row += out->weight * lost[e].row, to->col += out->weight * lost[e].col;
    }
}

static kspec_status open_job(job *j, ks_arena *arena, kspec_error *err) {
    const ks_twice_two *t = j->t;
    const double Q = (double)j->Q, M = t->columns;
    /*
     * A pair of a column with itself has weight 1 if columns are complete, 0 if the population is infinite,
     * and a weight in between for a sample from a finite population.
     */
    j->own = t->same && M > 0 ? (M > Q ? (Q - 1) / (M - 1) : 1) : 0;
    j->own_less = t->same && M > 0 ? (M > Q - 1 ? (Q - 2) / (M - 1) : 1) : 0;
    kspec_status st = ks_simd_choose(&j->k, err);
    if (!st) st = open_side(t->X, t->Z, &j->first, arena, err);
    if (!st && !t->same) st = open_side(t->Y, t->W, &j->second, arena, err);
    if (!st && t->same) j->second = j->first;
    j->chunks = j->Q < MAX_CHUNKS ? j->Q : MAX_CHUNKS;
    j->col = ks_arena_zalloc(arena, ks_size(j->chunks, j->Q), sizeof *j->col);
    j->other = ks_arena_zalloc(arena, ks_size(j->chunks, j->R), sizeof *j->other);
    j->diagonal = ks_arena_zalloc(arena, j->Q, sizeof *j->diagonal);
    j->lists = ks_arena_zalloc(arena, ks_size(j->chunks, 2 * KS_TWICE_LISTS * j->stride), sizeof *j->lists);
    if (!st && arena->failed) st = ks_nomem(err, "sums in twice the digits", arena->failed);
    double all = 0, after = 0;
    for (size_t k = 0; k < j->R && !st; k++) all += j->second.norm[k];
    for (size_t k = j->Q; k-- > 0 && !st;) {
        const double norm = j->first.norm[k];
        j->size += t->same ? 2 * norm * after : norm * all;
        after += norm, j->norms += norm;
        j->own_size += norm * norm;
    }
    if (j->own > 0) j->size += j->own_size;
    return st;
}

kspec_status ks_twice_make(const ks_run *run, const ks_twice_two *t, const ks_twice_out *out,
                           kspec_error *err) {
    ks_arena arena = {0};
    job j = {.t = t, .P = t->X->P, .Q = t->X->Q, .R = t->Y->Q, .stride = t->X->stride};
    kspec_status st = open_job(&j, &arena, err);
    if (!st) st = ks_parallel_for(run, j.chunks, pairs, &j, err);
    if (!st) reduce(&j), estimates(&j, out);
    ks_arena_free(&arena);
    return st;
}
