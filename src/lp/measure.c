/* Fits a measure to moments by linear programming, and reads eigenvalues from it. */
#include "lp/measure.h"

#include "base/error.h"
#include "base/memory.h"
#include "lp/lp.h"

#include <math.h>
#include <string.h>

void ks_grid_uniform(size_t T, double *s) {
    for (size_t i = 0; i < T; i++) s[i] = (double)i / (double)(T - 1);
}

void ks_grid_geometric(size_t T, double smallest, double *s) {
    s[0] = 0;
    for (size_t i = 1; i < T; i++) s[i] = pow(smallest, (double)(T - 1 - i) / (double)(T - 2));
}

/*
 * The linear program. Columns: T for p, then K for the positive part u and K for the negative part v of W r.
 * Rows: (W V p)_n + u_n - v_n = (W mu)_n with V_ni = s_i^n, and last sum p = 1. Minimise sum u + v. With free
 * mass V_ni = s_i^(n-1), without the last row.
 *
 * Moments may span many decades, so the code scales rows and columns. Each row is scaled so that its
 * right-hand side is 1, or at least 1e-12 of the row's largest entry. Then each column is scaled so that its
 * largest entry is 1. Neither changes the solution. Without scaling the solver would ignore numbers below its
 * tolerance.
 *
 * A given moment may exceed the moment of every measure on the grid, and its row would then dominate. |(W V
 * p)_n| is at most the row's largest entry; beyond that the distance to the right-hand side is linear in p.
 * So the code sets the right-hand side to twice that entry and adds the remaining distance to the objective.
 * The nearest measure stays the same. Free mass can reach every moment, and needs none of this. The solver
 * gets costs above 1e6 in larger units, since it stops at 1e25 and the gap of its certificate is absolute.
 */
typedef struct {
    size_t rows, cols;
    /* scale: the factors of the columns; x is scale times the solver's x */
    double *A, *b, *c, *x, *y, *scale;
    /* unit: the factor of the costs. beyond: the part of the objective that does not depend on p */
    double unit, beyond;
    ks_arena arena;
} program;

static kspec_status alloc(program *g, const ks_fit *f, kspec_error *err) {
    g->rows = f->K + !f->free_mass;
    g->cols = f->T + 2 * f->K;
    g->A = ks_arena_zalloc(&g->arena, ks_size(g->rows, g->cols), sizeof *g->A);
    g->b = ks_arena_alloc(&g->arena, g->rows, sizeof *g->b);
    g->c = ks_arena_zalloc(&g->arena, g->cols, sizeof *g->c);
    g->x = ks_arena_alloc(&g->arena, g->cols, sizeof *g->x);
    g->y = ks_arena_alloc(&g->arena, g->rows, sizeof *g->y);
    g->scale = ks_arena_alloc(&g->arena, g->cols, sizeof *g->scale);
    return g->arena.failed ? ks_nomem(err, "the linear program", g->arena.failed) : KSPEC_OK;
}

static void fill(program *g, const ks_fit *f, const double *mu) {
    size_t K = f->K, m = g->rows;
    for (size_t i = 0; i < f->T; i++) {
        double *column = g->A + i * m, power = f->free_mass ? 1 : f->s[i];
        for (size_t l = 0; l < K; l++, power *= f->s[i])
            for (size_t n = l; n < K; n++) column[n] += f->W[n * K + l] * power;
        if (!f->free_mass) column[K] = 1;
    }
    if (!f->free_mass) g->b[K] = 1;
    for (size_t n = 0; n < K; n++) {
        double rhs = 0, largest = 0;
        for (size_t l = 0; l <= n; l++) rhs += f->W[n * K + l] * mu[l];
        for (size_t i = 0; i < f->T; i++) largest = fmax(largest, fabs(g->A[i * m + n]));
        double reach = f->free_mass ? fabs(rhs) : fmin(fabs(rhs), 2 * largest),
               row = 1 / fmax(reach, 1e-12 * largest);
        g->beyond += fabs(rhs) - reach;
        rhs = copysign(reach, rhs);
        g->b[n] = row * rhs;
        for (size_t i = 0; i < f->T; i++) g->A[i * m + n] *= row;
        for (size_t sign = 0; sign < 2; sign++) {
            size_t j = f->T + sign * K + n;
            g->A[j * m + n] = sign ? -1 : 1;
            g->c[j] = 1 / row;
        }
    }
    double dearest = 0;
    for (size_t j = f->T; j < g->cols; j++) dearest = fmax(dearest, g->c[j]);
    g->unit = fmax(1, dearest / 1e6);
    for (size_t j = 0; j < g->cols; j++) {
        double largest = 0;
        for (size_t n = 0; n < m; n++) largest = fmax(largest, fabs(g->A[j * m + n]));
        g->scale[j] = 1 / largest;
        for (size_t n = 0; n < m; n++) g->A[j * m + n] *= g->scale[j];
        g->c[j] *= g->scale[j] / g->unit;
    }
}

/*
 * A few moments leave the number of very small eigenvalues open, because many of them have almost no weight.
 * So a second program looks among the measures with the moments of the solution x for the measure with the
 * fewest eigenvalues. It minimises sum p_i/s_i with W V p fixed. If the second program has no solution, x
 * stays.
 */
static kspec_status fewest(program *g, const ks_fit *f, int *iterations, kspec_error *err) {
    size_t m = g->rows;
    kspec_error unsolved;
    double *x = ks_arena_alloc(&g->arena, f->T, sizeof *x);
    if (!x) return ks_nomem(err, "the linear program", g->arena.failed);
    memset(g->b, 0, m * sizeof *g->b);
    for (size_t i = 0; i < f->T; i++)
        for (size_t n = 0; n < m; n++) g->b[n] += g->A[i * m + n] * fmax(0, g->x[i]);
    /* Costs are in units of the largest, which belongs to the smallest point s_0. */
    for (size_t i = 0; i < f->T; i++) g->c[i] = g->scale[i] / g->scale[0] * f->s[0] / f->s[i];
    kspec_status st = ks_lp_solve(&(ks_lp){m, f->T, g->A, g->b, g->c}, x, g->y, iterations, &unsolved);
    if (!st) memcpy(g->x, x, f->T * sizeof *x);
    return st == KSPEC_E_NOMEM ? ks_fail_again(err, &unsolved) : KSPEC_OK;
}

kspec_status ks_fit_measure(const ks_fit *f, const double *mu, double *p, double *objective, int *iterations,
                            kspec_error *err) {
    program g = {0};
    kspec_status st = alloc(&g, f, err);
    if (!st) {
        fill(&g, f, mu);
        st = ks_lp_solve(&(ks_lp){g.rows, g.cols, g.A, g.b, g.c}, g.x, g.y, iterations, err);
    }
    if (!st) {
        *objective = g.beyond;
        for (size_t j = f->T; j < g.cols; j++) *objective += g.unit * g.c[j] * fmax(0, g.x[j]);
        if (f->free_mass) st = fewest(&g, f, iterations, err);
    }
    if (!st) {
        double total = 0;
        /* Corrects the tolerance of the solver: no weight below 0, and a sum of 1. */
        for (size_t i = 0; i < f->T; i++) total += p[i] = g.x[i] > 0 ? g.x[i] * g.scale[i] : 0;
        for (size_t i = 0; i < f->T && !f->free_mass; i++) p[i] /= total;
    }
    ks_arena_free(&g.arena);
    return st;
}

void ks_measure_moments(const ks_fit *f, const double *p, double *mu) {
    memset(mu, 0, f->K * sizeof *mu);
    for (size_t i = 0; i < f->T; i++) {
        double power = f->free_mass ? p[i] : p[i] * f->s[i];
        for (size_t n = 0; n < f->K; n++, power *= f->s[i]) mu[n] += power;
    }
}

void ks_measure_quantiles(const ks_fit *f, const double *p, kspec_quantile kind, size_t d, double *lambda) {
    const double slack = 1e-9; /* A level may coincide with a step up to the tolerance of the solver. */
    size_t i = 0, last = 0;
    for (size_t k = 0; k < f->T; k++)
        if (p[k] > 0) last = k;
    double below = p[0];
    for (size_t j = 1; j <= d; j++) {
        double q =
            kind == KSPEC_QUANTILE_MIDPOINT ? ((double)j - 0.5) / (double)d : (double)j / ((double)d + 1);
        while (i < last && below < q - slack) below += p[++i];
        lambda[d - j] = f->s[i];
    }
}

double ks_measure_counts(const ks_fit *f, const double *p, double d, size_t count, double *lambda) {
    double above = 0;
    size_t k = 0;
    for (size_t i = f->T; i-- > 0;) {
        above += d * p[i] / f->s[i];
        while (k < count && (double)k + 0.5 <= above) lambda[k++] = f->s[i];
    }
    while (k < count) lambda[k++] = 0;
    return above;
}
