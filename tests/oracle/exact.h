/*
 * What the tests of `exact` share: matrices, and the estimator as its definition reads, a sum over all
 * cycles.
 */
#ifndef EXACT_ORACLE_H
#define EXACT_ORACLE_H

#include "exact/exact.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef __int128 exact_int;

/* s = s * 6364136223846793005 + 1442695040888963407 mod 2^64; u = (s >> 11) / 2^53; entry = 2u - 1 + 0.25. */
static inline void oracle_fill(uint64_t seed, size_t count, double *x) {
    for (size_t i = 0; i < count; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        x[i] = 2 * ((double)(seed >> 11) * 0x1p-53) - 1 + 0.25;
    }
}

static inline double *oracle_matrix(uint64_t seed, size_t P, size_t Q) {
    double *x = malloc(P * Q * sizeof *x);
    oracle_fill(seed, P * Q, x);
    return x;
}

/* The estimator, planned for this one pair. terms may be NULL. */
static inline kspec_status exact_once(const ks_run *run, const ks_pair *p, kspec_sampled s,
                                      const ks_moments_out *out, double *terms, kspec_error *err) {
    ks_exact_plan plan = {.P = p->P, .Q = p->Q, .sampled = s, .two = p->A != p->B};
    kspec_status st = ks_exact_terms(run, &plan, p, out, terms, err);
    ks_exact_plan_free(&plan);
    return st;
}

static inline kspec_status exact_cost(const ks_pair *p, kspec_sampled s, int with_loo, double *work,
                                      size_t *bytes) {
    ks_exact_plan plan = {.P = p->P, .Q = p->Q, .sampled = s, .two = p->A != p->B};
    kspec_status st = ks_exact_cost(&plan, p->nmax, with_loo, work, bytes, NULL);
    ks_exact_plan_free(&plan);
    return st;
}

typedef struct {
    ks_pair p;
    int free_rows, free_cols; /* may the indices of this side be the same? */
    int n, row[9], col[9];
} oracle;

static inline long double oracle_cols(oracle *o, int l, long double value) {
    if (l == o->n) return value;
    long double sum = 0;
    for (int a = 0; a < (int)o->p.Q; a++) {
        int used = 0;
        for (int k = 0; k < l && !o->free_cols; k++) used |= o->col[k] == a;
        o->col[l] = a;
        size_t Q = o->p.Q, i = (size_t)o->row[l], j = (size_t)o->row[(l + 1) % o->n], c = (size_t)a;
        if (!used) sum += oracle_cols(o, l + 1, value * o->p.A[i * Q + c] * o->p.B[j * Q + c]);
    }
    return sum;
}

static inline long double oracle_rows(oracle *o, int l) {
    if (l == o->n) return oracle_cols(o, 0, 1);
    long double sum = 0;
    for (int i = 0; i < (int)o->p.P; i++) {
        int used = 0;
        for (int k = 0; k < l && !o->free_rows; k++) used |= o->row[k] == i;
        o->row[l] = i;
        if (!used) sum += oracle_rows(o, l + 1);
    }
    return sum;
}

static inline double oracle_count(size_t N, int n, int is_free) {
    double f = 1;
    for (int k = 0; k < n; k++) f *= is_free ? (double)N : (double)N - k;
    return f;
}

/*
 * m(n): the mean over all cycles with distinct rows (unless complete) and distinct columns (unless complete).
 */
static inline double oracle_moment(const ks_pair *p, kspec_sampled s, int n) {
    oracle o = {.p = *p, .free_rows = s == KSPEC_SAMPLED_COLS, .free_cols = s == KSPEC_SAMPLED_ROWS, .n = n};
    return (double)(oracle_rows(&o, 0) / oracle_count(p->P, n, o.free_rows) /
                    oracle_count(p->Q, n, o.free_cols));
}

/* A copy without row i (or column a): -1 keeps all. */
static inline double *oracle_without(const double *x, size_t P, size_t Q, int i, int a) {
    double *y = malloc(P * Q * sizeof *y);
    size_t k = 0;
    for (size_t r = 0; r < P; r++)
        for (size_t c = 0; c < Q; c++)
            if ((int)r != i && (int)c != a) y[k++] = x[r * Q + c];
    return y;
}

#endif
