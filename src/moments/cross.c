/* Computes the trace of the product of two matrices' kernel operators, and its leave-one-out values. */
#include "moments/careful.h"

#include "base/center.h"
#include "base/error.h"
#include "linalg/linalg.h"
#include "pairs/pairs.h"
#include "pairs/sums.h"

#include <math.h>

static ks_pair split(ks_measured *m, uint64_t seed, size_t r) {
    ks_pair p;
    ks_trials_split(&m->trials, seed, r, &m->halves, &p);
    return p;
}

/*
 * With groups of rows, m(2) of the joined matrix [X Y] is a sum over all pairs of columns. Subtracting m(2)
 * of X and m(2) of Y leaves the pairs with one column of X and one column of Y. Dividing each matrix by its
 * root mean square keeps a small matrix from disappearing in the rounding error of a large one.
 */
static double root_mean_square(const ks_pair *p) {
    const size_t n = p->P * p->Q;
    const double square = ks_dot(n, p->A, p->A) / 2 / (double)n + ks_dot(n, p->B, p->B) / 2 / (double)n;
    return square > 0 ? sqrt(square) : 1;
}

/*
 * Computes 1 + groups + columns values of m(2): from all data, without each group of rows, and without each
 * column.
 */
static kspec_status second_of(const ks_run *run, const double *A, const double *B, const ks_measured *m,
                              size_t Q, double *moment, ks_arena *arena, kspec_error *err) {
    const ks_groups *rows = &m->rows;
    const size_t count = 1 + rows->count + Q;
    const ks_groups cols = {.n = Q, .count = Q};
    double *room = ks_arena_alloc(arena, ks_size(3, count), sizeof *room);
    if (!room) return ks_nomem(err, "pairs", arena->failed);
    const ks_pairs in = {.A = A,
                         .B = B,
                         .rows = rows,
                         .cols = &cols,
                         .centered = ks_centred(m->trials.center),
                         .alike = m->alike,
                         .complete = m->population[1] <= (double)m->trials.Q};
    return ks_pairs_make(run, &in, &(ks_pairs_out){room, room + count, moment, room + 2 * count, NULL}, err);
}

static kspec_status add_cross_of_groups(const ks_run *run, const ks_measured *first, const ks_pair *p,
                                        const ks_pair *q, double weight, double *cross, ks_lost *lost,
                                        kspec_error *err) {
    const size_t P = p->P, Q = p->Q, R = q->Q, G = first->rows.count, all = Q + R;
    const int two = p->A != p->B || q->A != q->B, complete = first->population[1] <= (double)first->trials.Q;
    const double unit[2] = {root_mean_square(p), root_mean_square(q)};
    ks_arena arena = {0};
    double *A = ks_arena_alloc(&arena, ks_size(P, all), sizeof *A),
           *B = two ? ks_arena_alloc(&arena, ks_size(P, all), sizeof *B) : A, *m[3];
    const size_t columns[3] = {all, Q, R};
    for (int k = 0; k < 3; k++) m[k] = ks_arena_alloc(&arena, 1 + G + columns[k], sizeof(double));
    double *part[2][2] = {{NULL}};
    for (int k = 0; k < 2; k++)
        for (int t = 0; t <= two; t++)
            part[k][t] = ks_arena_alloc(&arena, ks_size(P, columns[1 + k]), sizeof(double));
    kspec_status st = arena.failed ? ks_nomem(err, "both matrices", arena.failed) : KSPEC_OK;
    for (int k = 0; k < 2 && !st; k++)
        for (int t = 0; t <= two; t++) {
            const double *from = k ? (t ? q->B : q->A) : t ? p->B : p->A;
            const size_t n = columns[1 + k];
            for (size_t i = 0; i < P; i++)
                for (size_t j = 0; j < n; j++) {
                    const double x = from[i * n + j] / unit[k];
                    part[k][t][i * n + j] = x;
                    (t ? B : A)[i * all + (k ? Q : 0) + j] = x;
                }
        }
    if (!st) st = second_of(run, A, B, first, all, m[0], &arena, err);
    for (int k = 0; k < 2 && !st; k++)
        st = second_of(run, part[k][0], two ? part[k][1] : part[k][0], first, columns[1 + k], m[1 + k],
                       &arena, err);
    const double scale = weight * unit[0] * unit[0] * unit[1] * unit[1];
    if (!st) {
        double fewest;
        const double pairs = ks_pairs_of_groups(&first->rows, &fewest), entries = (double)(P * all),
                     lost_of_all = ks_sums_epsilon(P) * scale * 13 * entries * entries /
                                   (2 * pairs * (double)Q * (double)R);
        lost->all += lost_of_all, lost->row += 4 * lost_of_all * pairs / fewest;
        lost->col += 2 * lost_of_all;
    }
    for (size_t k = 0; k < 1 + G + all && !st; k++) {
        const int of_first = k > G && k <= G + Q, of_second = k > G + Q;
        const double a = (double)(Q - (size_t)of_first), b = (double)(R - (size_t)of_second), n = a + b;
        const double x = of_second ? m[1][0] : m[1][k], y = of_second  ? m[2][k - Q]
                                                            : of_first ? m[2][0]
                                                                       : m[2][k];
        cross[k] += complete
                        ? scale * (n * n * m[0][k] - a * a * x - b * b * y) / (2 * a * b)
                        : scale * (n * (n - 1) * m[0][k] - a * (a - 1) * x - b * (b - 1) * y) / (2 * a * b);
    }
    ks_arena_free(&arena);
    return st;
}

/*
 * Leaving rows out changes the standard deviations of both matrices. The function corrects the values for
 * this change.
 */
static kspec_status restandardize_cross(const ks_measured *const of[2], double *cross, kspec_error *err) {
    const size_t G = of[0]->rows.count, Q = of[0]->trials.Q;
    kspec_status st = KSPEC_OK;
    for (int k = 0; k < 2 && !st; k++) {
        const ks_trials *t = &of[k]->trials;
        const ks_left_out list = {1, cross[0], cross + 1, cross + 1 + G + (k ? Q : 0)};
        if (!ks_standard_known(of[k]))
            st = ks_standard_left_out(t->phi, t->count, t->row_trials, &of[k]->rows, &list, 1, err);
    }
    return st;
}

void ks_cross_add(const ks_sums *sums, size_t n, int centered, double population, const int whole[2],
                  size_t P, size_t Q, size_t R, double weight, double *cross, ks_lost *lost) {
    const double q = (double)Q, r = (double)R;
    for (size_t k = 0; k < 1 + P + Q + R; k++) {
        const int row = k >= 1 && k <= P && population > (double)n, col = k > P && k <= P + Q && !whole[0],
                  other = k > P + Q && !whole[1];
        const ks_quad *x = row     ? &sums->row[k - 1]
                           : col   ? &sums->col[k - 1 - P]
                           : other ? &sums->other[k - 1 - P - Q]
                                   : &sums->all;
        const ks_sums_rows of = {centered, row ? n - 1 : n, population};
        cross[k] += weight * ks_sums_cross(x, &of, (col ? q - 1 : q) * (other ? r - 1 : r));
    }
    const ks_sums_rows rows = {centered, n, population};
    const double fewer = fmin((q - !whole[0]) * r, q * (r - !whole[1]));
    const ks_lost one =
        ks_sums_lost(&rows, q * r, fewer, weight * ks_sums_epsilon(n) * sums->size * sums->other_size);
    lost->all += one.all, lost->row += one.row, lost->col += one.col;
}

kspec_status ks_cross_make(const ks_run *run, ks_measured *first, ks_measured *second, int splits,
                           uint64_t seed, double **cross, ks_lost *lost, double *own, ks_arena *arena,
                           kspec_error *err) {
    const ks_trials *t = &first->trials, *u = &second->trials;
    const size_t P = t->P, Q = t->Q, R = u->Q, G = first->rows.count, count = 1 + G + Q + R;
    size_t a = ks_trials_splits(t, splits), b = ks_trials_splits(u, splits), repeats = a > b ? a : b;
    const int whole[2] = {first->population[1] <= (double)Q, second->population[1] <= (double)R};
    *cross = ks_arena_zalloc(arena, count, sizeof **cross);
    if (!*cross) return ks_nomem(err, "leave-one-out estimates", arena->failed);
    *own = NAN, *lost = (ks_lost){0};
    kspec_status st = KSPEC_OK;
    for (size_t r = 0; r < repeats && !st; r++) {
        ks_pair p = split(first, seed, r), q = split(second, seed, r);
        ks_sums sums;
        ks_arena scratch = {0};
        ks_run part = ks_run_part(run, (double)r / (double)repeats, (double)(r + 1) / (double)repeats);
        if (first->rows.of) {
            st = add_cross_of_groups(&part, first, &p, &q, 1 / (double)repeats, *cross, lost, err);
            continue;
        }
        const ks_two two = {p.A, p.B, q.B, q.A, P, Q, R, 0, 0, ks_centred(t->center)};
        st = ks_sums_make(&part, &two, &sums, &scratch, err);
        if (!st && p.A == p.B && q.A == q.B) *own = sums.whole;
        if (!st)
            ks_cross_add(&sums, P, two.centered, first->population[0], whole, P, Q, R, 1 / (double)repeats,
                         *cross, lost);
        ks_arena_free(&scratch);
    }
    const ks_run quiet = ks_run_part(run, 1, 1);
    int made;
    if (!st && ks_lost_matters(*cross, P, count, lost))
        st = ks_cross_careful(&quiet, first, second, splits, seed, *cross, lost, &made, err);
    const ks_measured *const both[2] = {first, second};
    return st ? st : restandardize_cross(both, *cross, err);
}
