/*
 * Protects the exact estimator from the rounding errors of one entry, row or column that is far larger than
 * all others.
 *
 * The rows of a cycle differ, and so do its columns. So from order 2 on, a cycle contains an entry once or
 * not at all, and the sum S over cycles is linear in each entry v. The graphs of the exact estimator
 * nevertheless have terms in v^2n, which cancel and leave their rounding errors. Let S(s) be the sum if the
 * large entry is multiplied by s. S is linear in s, so S(1) = (1 - 1/s) S(0) + (1/s) S(s). The code chooses s
 * so that s v is no larger than the other entries. Both sums then have the rounding errors of ordinary
 * entries, multiplied by 1/s and not by s^-2n. A cycle contains two entries of a row or column, or none. So
 * for rows and columns, and at order 1, s^2 replaces s. The estimates without a row or a column are sums of
 * the same form.
 */
#include "exact/apart.h"

#include "base/error.h"
#include "device/tile.h"
#include "team/team.h"

#include <math.h>
#include <string.h>

/* ---- search ---- */

static double square_at(const ks_pair *p, size_t i, size_t a) {
    double x = p->A[i * p->Q + a], y = p->B[i * p->Q + a];
    /* Entries are finite. fmax() would cost a function call for each entry. */
    return x * x > y * y ? x * x : y * y;
}

/*
 * first and second are the two largest sums of squares of lines, and at is the number of the line with the
 * largest.
 */
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

/* Computes the sums of squares of a chunk of rows or of columns. */
enum { ROWS = 64, COLS = 32 };
typedef struct {
    const ks_pair *p;
    double *sums;
} sums_job;

static size_t end_of(size_t from, size_t by, size_t all) { return all - from < by ? all : from + by; }

static kspec_status row_sums(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const sums_job *j = ctx;
    const ks_pair *p = j->p;
    for (size_t i = chunk * ROWS, end = end_of(i, ROWS, p->P); i < end; i++) {
        double sum[4] = {0}; /* Four independent sums let the processor add in parallel. */
        for (size_t a = 0; a < p->Q; a++) sum[a % 4] += square_at(p, i, a);
        j->sums[i] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
    return KSPEC_OK;
}

static kspec_status col_sums(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const sums_job *j = ctx;
    const ks_pair *p = j->p;
    const size_t from = chunk * COLS, n = end_of(from, COLS, p->Q) - from;
    double sum[COLS] = {0};
    for (size_t i = 0; i < p->P; i++)
        for (size_t k = 0; k < n; k++) sum[k] += square_at(p, i, from + k);
    memcpy(j->sums + from, sum, n * sizeof *sum);
    return KSPEC_OK;
}

static two largest(const double *sums, size_t count) {
    two t = {0};
    for (size_t i = 0; i < count; i++) consider(&t, sums[i], i);
    return t;
}

static kspec_status both_sums(const ks_run *run, const ks_pair *p, double *rows, double *cols,
                              kspec_error *err) {
    const ks_share row = {rows, sizeof *rows, p->P, ROWS}, col = {cols, sizeof *cols, p->Q, COLS};
    /* With so few entries, the sums take less time than a message to another process. */
    const int little = (double)p->P * (double)p->Q < 1e6;
    const ks_run alone = ks_run_alone(run), quiet = ks_run_part(little ? &alone : run, 0, 0);
    const ks_run r = ks_tile_threads(&quiet, 4.0 * (double)p->P * (double)p->Q);
    sums_job j = {p, rows};
    kspec_status st = ks_team_for(&r, "rows", (p->P + ROWS - 1) / ROWS, row_sums, &j, &row, 1, err);
    j.sums = cols;
    return st ? st : ks_team_for(&r, "columns", (p->Q + COLS - 1) / COLS, col_sums, &j, &col, 1, err);
}

/*
 * Returns the larger of two sums of squares: of the row and of the column, both without their common entry.
 */
static double beside(const ks_pair *p, size_t row, size_t col) {
    double in_row = 0, in_col = 0;
    for (size_t a = 0; a < p->Q; a++) in_row += a == col ? 0 : square_at(p, row, a);
    for (size_t i = 0; i < p->P; i++) in_col += i == row ? 0 : square_at(p, i, col);
    return fmax(in_row, in_col);
}

/*
 * Replaces *best by `a` if `a` exceeds the remaining entries by a larger factor than *best does. Skips `a` if
 * its terms would underflow in units of the remaining entries.
 */
static void prefer(ks_apart *best, ks_apart a, int nmax, double large, double rest) {
    if (!(rest > 0)) return;
    a.unit = ilogb(rest) / 2;
    a.size = ilogb(large) / 2;
    if (a.size - a.unit > best->size - best->unit && 2 * nmax * a.unit > -900) *best = a;
}

static void find(const ks_pair *p, two rows, two cols, ks_apart *a) {
    const double others = fmax(rows.second, cols.second);
    prefer(a, (ks_apart){rows.at, 1, cols.at, 1, 0, 0}, p->nmax, square_at(p, rows.at, cols.at),
           fmax(others, beside(p, rows.at, cols.at)));
    prefer(a, (ks_apart){rows.at, 1, 0, p->Q, 0, 0}, p->nmax, rows.first, rows.second);
    prefer(a, (ks_apart){0, p->P, cols.at, 1, 0, 0}, p->nmax, cols.first, cols.second);
}

kspec_status ks_apart_find(const ks_run *run, const ks_exact_plan *e, const ks_pair *p, ks_apart *a,
                           kspec_error *err) {
    *a = (ks_apart){0};
    if (e->sampled != KSPEC_SAMPLED_BOTH || ks_exact_weighted(e)) return KSPEC_OK;
    const size_t count = ks_size_add(p->P, p->Q);
    double *sums = ks_alloc(count, sizeof *sums);
    if (!sums) return ks_nomem(err, "the exact estimator", ks_size(count, sizeof *sums));
    kspec_status st = both_sums(run, p, sums, sums + p->P, err);
    if (!st) find(p, largest(sums, p->P), largest(sums + p->P, p->Q), a);
    ks_free(sums);
    return st;
}

/* ---- sums ---- */

/* Copies A or B to `to` in units of the remaining entries, and multiplies the large part by s. */
static void rescale(double *to, const double *from, const ks_pair *p, const ks_apart *a, double s) {
    for (size_t k = 0; k < p->P * p->Q; k++) to[k] = ldexp(from[k], -a->unit);
    for (size_t i = a->row; i < a->row + a->rows; i++)
        for (size_t c = a->col; c < a->col + a->cols; c++) to[i * p->Q + c] *= s;
}

/* Sets x to (1 - f) x + f y, in the units of the data. */
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
