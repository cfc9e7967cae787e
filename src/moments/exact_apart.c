/*
 * The rows of a cycle differ, and so do its columns: from order 2 on it goes through an entry once or not at
 * all. So the sum S over cycles is linear in each entry v, although the graphs that exact makes it of have
 * terms in v^2n, which cancel, and leave their rounding. With that one entry times s,
 *     S(s) = S(0) + s D,    so    S(1) = (1 - 1/s) S(0) + (1/s) S(s),
 * and s is chosen so that s v is no larger than the rest: the rounding of either sum is that of the others,
 * times 1/s rather than s^-2n. A cycle goes through two entries of a row or a column, or none: there, and at
 * order 1, s^2 takes the place of s. The estimates without a row or a column are such sums, too.
 */
#include "moments/exact_apart.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

/* ---- what stands out ---- */

static double square_at(const ks_pair *p, size_t i, size_t a) {
    double x = p->A[i * p->Q + a], y = p->B[i * p->Q + a];
    return x * x > y * y ? x * x : y * y; /* finite: fmax() would be a call for each entry */
}

/* The two largest sums of squares, and where the first is */
typedef struct {
    double first, second;
    size_t at;
} two;

static void consider(two *t, double sum, size_t at) {
    if (sum > t->first)
        *t = (two){sum, t->first, at};
    else
        t->second = fmax(t->second, sum);
}

static two of_rows(const ks_pair *p) {
    two t = {0};
    for (size_t i = 0; i < p->P; i++) {
        double sum[4] = {0}; /* which need not wait for each other */
        for (size_t a = 0; a < p->Q; a++) sum[a % 4] += square_at(p, i, a);
        consider(&t, (sum[0] + sum[1]) + (sum[2] + sum[3]), i);
    }
    return t;
}

static two of_columns(const ks_pair *p) {
    enum { AT_ONCE = 32 }; /* as they lie in memory */
    two t = {0};
    for (size_t a = 0; a < p->Q; a += AT_ONCE) {
        double sum[AT_ONCE] = {0};
        size_t n = p->Q - a < AT_ONCE ? p->Q - a : AT_ONCE;
        for (size_t i = 0; i < p->P; i++)
            for (size_t k = 0; k < n; k++) sum[k] += square_at(p, i, a + k);
        for (size_t k = 0; k < n; k++) consider(&t, sum[k], a + k);
    }
    return t;
}

/* The larger of a row and a column, but for the entry where they meet */
static double beside(const ks_pair *p, size_t row, size_t col) {
    double in_row = 0, in_col = 0;
    for (size_t a = 0; a < p->Q; a++) in_row += a == col ? 0 : square_at(p, row, a);
    for (size_t i = 0; i < p->P; i++) in_col += i == row ? 0 : square_at(p, i, col);
    return fmax(in_row, in_col);
}

/* Keeps it where it stands out further, and what is made in units of the rest does not underflow */
static void prefer(ks_apart *best, ks_apart a, int nmax, double large, double rest) {
    if (!(rest > 0)) return;
    a.unit = ilogb(rest) / 2;
    a.size = ilogb(large) / 2;
    if (a.size - a.unit > best->size - best->unit && 2 * nmax * a.unit > -900) *best = a;
}

int ks_apart_find(const ks_exact_plan *e, const ks_pair *p, ks_apart *a) {
    if (e->sampled != KSPEC_SAMPLED_BOTH || ks_exact_weighted(e)) return 0;
    const two rows = of_rows(p), cols = of_columns(p);
    const double others = fmax(rows.second, cols.second);
    *a = (ks_apart){0};
    prefer(a, (ks_apart){rows.at, 1, cols.at, 1, 0, 0}, p->nmax, square_at(p, rows.at, cols.at),
           fmax(others, beside(p, rows.at, cols.at)));
    prefer(a, (ks_apart){rows.at, 1, 0, p->Q, 0, 0}, p->nmax, rows.first, rows.second);
    prefer(a, (ks_apart){0, p->P, cols.at, 1, 0, 0}, p->nmax, cols.first, cols.second);
    return a->rows != 0;
}

/* ---- taken apart ---- */

/* to = A or B in units of the rest, with what stands out times s */
static void rescale(double *to, const double *from, const ks_pair *p, const ks_apart *a, double s) {
    for (size_t k = 0; k < p->P * p->Q; k++) to[k] = ldexp(from[k], -a->unit);
    for (size_t i = a->row; i < a->row + a->rows; i++)
        for (size_t c = a->col; c < a->col + a->cols; c++) to[i * p->Q + c] *= s;
}

/* x = (1 - f) x + f y, back in the units of the data */
static void combine(double *x, const double *y, size_t count, double f, int exponent) {
    for (size_t k = 0; k < count; k++) x[k] = ldexp((1 - f) * x[k] + f * y[k], exponent);
}

kspec_status ks_apart_terms(const ks_run *run, ks_exact_plan *e, const ks_pair *p, const ks_apart *a,
                            const ks_moments_out *out, double *abs_terms, kspec_error *err) {
    const size_t count = ks_size(p->P, p->Q), n = (size_t)p->nmax;
    const int both = p->A != p->B, loo = out->rows != NULL, entry = a->rows == 1 && a->cols == 1;
    ks_arena arena = {0};
    double *A = ks_arena_alloc(&arena, count, sizeof *A), terms[KS_EXACT_NMAX];
    double *B = both ? ks_arena_alloc(&arena, count, sizeof *B) : A;
    ks_moments_out other = {ks_arena_alloc(&arena, n, sizeof(double)), NULL, NULL};
    if (loo) other.rows = ks_arena_alloc(&arena, ks_size(n, p->P), sizeof(double));
    if (loo) other.cols = ks_arena_alloc(&arena, ks_size(n, p->Q), sizeof(double));
    kspec_status st = arena.failed ? ks_nomem(err, "the exact estimator", arena.failed) : KSPEC_OK;
    const double s = ldexp(1, a->unit - a->size);
    for (int k = 0; k < 2 && !st; k++) {
        rescale(A, p->A, p, a, k ? s : 0);
        if (both) rescale(B, p->B, p, a, k ? s : 0);
        ks_run half = ks_run_part(run, k / 2.0, (k + 1) / 2.0);
        const ks_pair scaled = {A, B, p->P, p->Q, p->nmax};
        st = ks_exact_terms(&half, e, &scaled, k ? &other : out, k ? terms : abs_terms, err);
    }
    for (size_t k = 0; k < n && !st; k++) {
        const double f = entry && k ? 1 / s : 1 / (s * s);
        const int exponent = 2 * (int)(k + 1) * a->unit;
        combine(out->m + k, other.m + k, 1, f, exponent);
        abs_terms[k] = ldexp((f - 1) * abs_terms[k] + f * terms[k], exponent);
        if (loo) combine(out->rows + k * p->P, other.rows + k * p->P, p->P, f, exponent);
        if (loo) combine(out->cols + k * p->Q, other.cols + k * p->Q, p->Q, f, exponent);
    }
    ks_arena_free(&arena);
    return st;
}
