/*
 * Computes the lists of pairs/lists.h on the CPU from the products of columns, X^T Y. The code passes over
 * the rows twice and computes one product of matrices. For a single matrix the product is symmetric, so half
 * of the product suffices.
 */
#include "pairs/lists.h"

#include "base/error.h"
#include "linalg/linalg.h"
#include "team/team.h"

#include <math.h>
#include <string.h>

/* Sums take BAND rows and STRIP columns at a time. The rows are divided into at most PARTS parts. */
enum { BAND = 128, STRIP = 512, PARTS = 64 };

/* Counts the rows of a chunk of forms. More rows are faster, but leave fewer chunks to the threads. */
static size_t band_of(size_t P) { return P < 3000 ? 128 : 256; }

/*
 * For each column, the code sums x^2, w x^2, w x, x^3 and x^4 over the rows, where w is the other matrix's
 * |y|^2.
 */
enum { SQUARES, WEIGHTED, ALONG, CUBES, FOURTHS, SUMS };

typedef struct {
    const ks_lists *l;
    int own;
    size_t rows; /* per part */
    double *partial[2], *tx[2];
    double *M;         /* Q x R */
    size_t band;       /* rows per chunk */
    double **T;        /* per worker */
    double *scale;     /* Factors of the columns (ks_sums.scaled), or NULL. */
    double *weighted;  /* weighted contains the sum of scale x^2 for each row of X. */
    double *row_scale; /* row_scale contains the sum of scale M^2 for each row of M. */
    double *other;     /* other contains the sums of squares of M's columns, for each part. */
    size_t lines;      /* rows per part */
} job;

/* ---- sums ---- */

/*
 * Adds the rows from ... to-1 of X to the sums. The loop over strips of columns keeps the sums in the fastest
 * cache.
 */
static void add_rows(const double *X, size_t cols, size_t from, size_t to, const double *w, int simple,
                     double *sums) {
    for (size_t s = 0; s < cols; s += STRIP) {
        const size_t n = cols - s < STRIP ? cols - s : STRIP;
        double *square = sums + SQUARES * cols + s, *weighted = sums + WEIGHTED * cols + s,
               *along = sums + ALONG * cols + s, *cube = sums + CUBES * cols + s,
               *fourth = sums + FOURTHS * cols + s;
        for (size_t i = from; i < to; i++) {
            const double *x = X + i * cols + s, u = w[i];
            for (size_t k = 0; k < n; k++) {
                const double p = x[k] * x[k];
                square[k] += p, weighted[k] += u * p, along[k] += u * x[k];
            }
            if (simple) continue;
            for (size_t k = 0; k < n; k++) {
                const double p = x[k] * x[k];
                cube[k] += p * x[k], fourth[k] += p * p;
            }
        }
    }
}

static kspec_status sum_rows(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const job *j = ctx;
    const ks_lists *l = j->l;
    const ks_two *t = l->t;
    const size_t from = chunk * j->rows, to = t->P - from < j->rows ? t->P : from + j->rows;
    /* The second pass over a band reads the band from the cache. */
    for (size_t at = from; at < to; at += BAND) {
        const size_t end = to - at < BAND ? to : at + BAND;
        for (size_t i = at; i < end; i++) {
            l->u[i] = ks_dot(t->Q, t->X + i * t->Q, t->X + i * t->Q);
            if (!t->same) l->u2[i] = ks_dot(t->R, t->Y + i * t->R, t->Y + i * t->R);
        }
        add_rows(t->X, t->Q, at, end, l->u2, !j->own, j->partial[0] + chunk * SUMS * t->Q);
        if (!t->same) add_rows(t->Y, t->R, at, end, l->u, 1, j->partial[1] + chunk * SUMS * t->R);
    }
    return KSPEC_OK;
}

/* Adds the sums of one kind over all parts of the rows. */
static void add_parts(const double *partial, size_t parts, size_t cols, int kind, double *to) {
    for (size_t p = 0; p < parts && to; p++)
        for (size_t k = 0; k < cols; k++) to[k] += partial[(p * SUMS + (size_t)kind) * cols + k];
}

static void collect(const job *j, size_t parts) {
    const ks_lists *l = j->l;
    const ks_two *t = l->t;
    add_parts(j->partial[0], parts, t->Q, SQUARES, l->v);
    add_parts(j->partial[0], parts, t->Q, WEIGHTED, l->d);
    add_parts(j->partial[0], parts, t->Q, ALONG, j->tx[0]);
    add_parts(j->partial[0], parts, t->Q, CUBES, l->S3);
    add_parts(j->partial[0], parts, t->Q, FOURTHS, l->S4);
    if (t->same) return;
    add_parts(j->partial[1], parts, t->R, SQUARES, l->v2);
    add_parts(j->partial[1], parts, t->R, WEIGHTED, l->d2);
    add_parts(j->partial[1], parts, t->R, ALONG, j->tx[1]);
}

/* ---- product ---- */

static kspec_status sum_product(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const job *j = ctx;
    const ks_two *t = j->l->t;
    const size_t R = t->R, from = chunk * j->lines, to = t->Q - from < j->lines ? t->Q : from + j->lines;
    double *other = j->other ? j->other + chunk * R : NULL;
    for (size_t k = from; k < to; k++) {
        const double *m = j->M + k * R;
        j->l->c[k] = ks_dot(R, m, m);
        for (size_t g = 0; g < R && other; g++) other[g] += m[g] * m[g];
        for (size_t g = 0; g < R && j->scale; g++) j->row_scale[k] += m[g] * m[g] * j->scale[g];
    }
    return KSPEC_OK;
}

/* ---- forms ---- */

static kspec_status row_band(void *ctx, size_t chunk, const ks_worker *worker) {
    const job *j = ctx;
    const ks_lists *l = j->l;
    const ks_two *t = l->t;
    const size_t Q = t->Q, i0 = chunk * j->band, m = t->P - i0 < j->band ? t->P - i0 : j->band;
    ks_add_forms(t->same, m, Q, t->R, t->X + i0 * Q, Q, j->M, t->R, t->Y + i0 * t->R, t->R,
                 j->T[worker->index], l->form + i0);
    for (size_t i = i0; i < i0 + m; i++) {
        const double *x = t->X + i * Q;
        double fourth = 0, squares = 0, weighted = 0;
        for (size_t k = 0; k < Q && j->own; k++) {
            const double p = x[k] * x[k];
            fourth += p * p, squares += p * l->v[k];
        }
        for (size_t k = 0; k < Q && j->scale; k++) weighted += x[k] * x[k] * j->scale[k];
        l->fourth[i] = fourth, l->squares[i] = squares;
        if (j->scale) j->weighted[i] = weighted;
        if (!t->centered) continue;
        if (j->own) l->cubes[i] = ks_dot(Q, x, l->S3);
        const double along = ks_dot(Q, x, j->tx[0]);
        l->third[i] = t->same ? 2 * along : along + ks_dot(t->R, t->Y + i * t->R, j->tx[1]);
    }
    return KSPEC_OK;
}

/* ---- lists ---- */

/*
 * Returns the sums for columns multiplied by the root of their scale, without pairs of a column with itself.
 */
static ks_quad scaled_quad(const job *j) {
    const ks_lists *l = j->l;
    ks_quad q = {0};
    double own = 0, fourth = 0;
    for (size_t k = 0; k < l->t->Q; k++) {
        const double s = j->scale[k], v = s * l->v[k];
        q.a += s * j->row_scale[k], q.t += v, own += v * v, fourth += s * s * l->S4[k];
    }
    for (size_t i = 0; i < l->t->P; i++) q.d += j->weighted[i] * j->weighted[i];
    q.a -= own, q.c = q.a, q.b = q.t * q.t - own, q.d -= fourth;
    return q;
}

static kspec_status open(const ks_run *run, const ks_lists *l, size_t parts, size_t lines, job *j,
                         ks_arena *arena, kspec_error *err) {
    const ks_two *t = l->t;
    const size_t Q = t->Q, R = t->R, bands = (t->P + j->band - 1) / j->band, cols[2] = {Q, R};
    const size_t workers = (size_t)ks_workers(run, bands);
    for (int k = 0; k < (t->same ? 1 : 2); k++) {
        j->partial[k] = ks_arena_zalloc(arena, ks_size(parts, ks_size(SUMS, cols[k])), sizeof(double));
        j->tx[k] = ks_arena_zalloc(arena, cols[k], sizeof(double));
    }
    j->M = ks_arena_alloc(arena, ks_size(Q, R), sizeof(double));
    if (!t->same) j->other = ks_arena_zalloc(arena, ks_size(lines, R), sizeof(double));
    if (t->scaled && t->same && !t->whole) {
        j->scale = ks_arena_zalloc(arena, Q, sizeof(double));
        j->row_scale = ks_arena_zalloc(arena, Q, sizeof(double));
        j->weighted = ks_arena_zalloc(arena, t->P, sizeof(double));
    }
    j->T = ks_arena_alloc(arena, workers, sizeof *j->T);
    for (size_t k = 0; k < workers && j->T && !t->whole; k++)
        j->T[k] = ks_arena_alloc(arena, j->band * KS_FORM_BLOCK, sizeof(double));
    return arena->failed ? ks_nomem(err, "the products of columns", arena->failed) : KSPEC_OK;
}

/* Computes M = X^T Y. */
static kspec_status product(const ks_run *run, const job *j, kspec_error *err) {
    const ks_two *t = j->l->t;
    const size_t Q = t->Q, R = t->R;
    return t->same ? ks_gemm_symmetric_tiled(run, 1, 0, Q, t->P, 1, t->X, Q, t->X, Q, j->M, Q, err)
                   : ks_gemm_tiled(run, 1, 0, Q, R, t->P, 1, t->X, Q, t->Y, R, 0, j->M, R, err);
}

kspec_status ks_lists_on_host(const ks_run *run, const ks_lists *l, ks_quad *scaled, kspec_error *err) {
    const ks_two *t = l->t;
    const size_t parts = t->P < PARTS * BAND ? (t->P + BAND - 1) / BAND : PARTS,
                 lines = (t->Q + BAND - 1) / BAND, band = band_of(t->P), bands = (t->P + band - 1) / band;
    ks_arena arena = {0};
    job j = {.l = l,
             .own = t->same && (ks_lists_own(t, 0) > 0 || ks_lists_own(t, 1) > 0 || t->scaled),
             .rows = (t->P + parts - 1) / parts,
             .lines = BAND,
             .band = band};
    const ks_run quiet = ks_run_part(run, 0, 0), first = ks_run_part(run, 0, t->whole ? 1 : 0.5),
                 second = ks_run_part(run, 0.5, 1);
    kspec_status st = open(run, l, parts, lines, &j, &arena, err);
    if (!st) st = ks_parallel_for(&quiet, parts, sum_rows, &j, err);
    if (!st) collect(&j, parts);
    for (size_t k = 0; k < t->Q && j.scale && !st; k++)
        j.scale[k] = l->v[k] > 0 ? 1 / sqrt(l->v[k] / (double)t->P) : 0;
    if (!st) st = product(&first, &j, err);
    if (!st) st = ks_parallel_for(&quiet, lines, sum_product, &j, err);
    for (size_t p = 0; p < lines && !t->same && !st; p++)
        for (size_t g = 0; g < t->R; g++) l->o[g] += j.other[p * t->R + g];
    if (!st && !t->whole) {
        double *rows[] = {l->form, l->third, l->fourth, l->squares, l->cubes, j.weighted};
        ks_share shares[sizeof rows / sizeof *rows];
        const int count = (int)(sizeof rows / sizeof *rows) - !j.weighted;
        for (int k = 0; k < count; k++) shares[k] = (ks_share){rows[k], sizeof(double), t->P, band};
        st = ks_team_for(&second, "forms", bands, row_band, &j, shares, count, err);
    }
    if (!st && j.scale) *scaled = scaled_quad(&j);
    ks_arena_free(&arena);
    return st;
}
