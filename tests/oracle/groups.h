/*
 * Groups by definition: means over all tuples of rows and columns whose groups differ, in long double, with
 * and without a group left out, centred or not.
 */
#ifndef KSPEC_GROUPS_ORACLE_H
#define KSPEC_GROUPS_ORACLE_H

#include "oracle/brute.h"

#include <math.h>

/* Two trials (the same twice where there is one), the groups of rows and columns, and the group left out */
typedef struct {
    const double *A, *B;
    size_t P, Q;
    const size_t *rows, *cols;
    size_t no_row, no_col;
} grouped;

static inline int groups_allowed(const size_t *t, int n, const size_t *group, size_t left_out,
                                 int increasing) {
    for (int a = 0; a < n; a++) {
        if (group[t[a]] == left_out) return 0;
        for (int b = a + 1; b < n; b++)
            if (increasing ? group[t[a]] >= group[t[b]] : group[t[a]] == group[t[b]]) return 0;
    }
    return 1;
}

/* The mean over cycles of order n whose groups differ (increasing: path's); NaN where there are none */
static inline double grouped_mean(const grouped *s, int n, int increasing) {
    long double sum = 0, count = 0;
    size_t i[8] = {0}, a[8];
    do {
        if (!groups_allowed(i, n, s->rows, s->no_row, increasing)) continue;
        for (int l = 0; l < n; l++) a[l] = 0;
        do {
            if (!groups_allowed(a, n, s->cols, s->no_col, increasing)) continue;
            long double v = 1;
            for (int l = 0; l < n; l++)
                v *= (long double)s->A[i[l] * s->Q + a[l]] * s->B[i[(l + 1) % n] * s->Q + a[l]];
            sum += v;
            count++;
        } while (brute_next(a, n, s->Q));
    } while (brute_next(i, n, s->P));
    return count > 0 ? (double)(sum / count) : NAN;
}

/*
 * Second order: rows i, i2, j, j2 with the value A[i,a] B[i2,c] B[j,a] A[j2,c], the mean over different
 * groups of columns a and c. i2 = i and j2 = j in the cycle of m(2); in two 1-cycles i2 = j and j2 = i
 * (which renames to A[i,a] B[i,a] A[j,c] B[j,c]). `weight` of a row: 1, or 1 over the size of its group.
 */
typedef struct {
    grouped g;
    int traces;
    const double *weight;
} second_order;

/* k rows, in different groups; which of them each of the four factors takes */
static inline double second_mean(const second_order *s, int k, const int *take) {
    const grouped *g = &s->g;
    long double sum = 0, count = 0;
    for (size_t a = 0; a < g->Q; a++)
        for (size_t c = 0; c < g->Q; c++) {
            if (g->cols[a] == g->cols[c] || g->cols[a] == g->no_col || g->cols[c] == g->no_col) continue;
            size_t i[4] = {0};
            do {
                if (!groups_allowed(i, k, g->rows, g->no_row, 0)) continue;
                long double w = 1;
                for (int l = 0; l < k; l++) w *= s->weight[i[l]];
                /* the factors x = A[.,a], y = B[.,c], z = B[.,a], w = A[.,c] */
                sum += w * g->A[i[take[0]] * g->Q + a] * g->B[i[take[1]] * g->Q + c] *
                       g->B[i[take[2]] * g->Q + a] * g->A[i[take[3]] * g->Q + c];
                count += w;
            } while (brute_next(i, k, g->P));
        }
    return count > 0 ? (double)(sum / count) : NAN;
}

/* m(2), or m(1)^2, centred or not */
static inline double second_by_definition(const second_order *s, int centered) {
    static const int cross[4][4] = {{0, 0, 1, 1}, {0, 1, 2, 2}, {0, 0, 1, 2}, {0, 1, 2, 3}},
                     trace[4][4] = {{0, 1, 0, 1}, {0, 1, 2, 1}, {0, 1, 0, 2}, {0, 1, 2, 3}};
    const int(*t)[4] = s->traces ? trace : cross;
    if (!centered) return second_mean(s, 2, t[0]);
    return second_mean(s, 2, t[0]) - second_mean(s, 3, t[1]) - second_mean(s, 3, t[2]) +
           second_mean(s, 4, t[3]);
}

/* m(1) */
static inline double first_by_definition(const second_order *s, int centered) {
    const grouped *g = &s->g;
    long double own = 0, n = 0, two = 0, pairs = 0;
    for (size_t a = 0; a < g->Q; a++)
        for (size_t i = 0; i < g->P; i++)
            for (size_t j = 0; j < g->P; j++) {
                if (g->cols[a] == g->no_col || g->rows[i] == g->no_row || g->rows[j] == g->no_row) continue;
                long double w = (long double)s->weight[i] * s->weight[j];
                if (i == j) own += s->weight[i] * g->A[i * g->Q + a] * g->B[i * g->Q + a], n += s->weight[i];
                if (g->rows[i] != g->rows[j]) two += w * g->A[i * g->Q + a] * g->B[j * g->Q + a], pairs += w;
            }
    return (double)(own / n - (centered ? two / pairs : 0));
}

#endif
