/* Scales, normalises, centres and splits the caller's trials in host memory. */
#include "moments/trials.h"

#include "base/center.h"
#include "base/error.h"
#include "base/matrix.h"
#include "base/streams.h"
#include "device/backend.h"
#include "device/pair_device.h"
#include "moments/trials_device.h"
#include "team/team.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

kspec_matrix *ks_trials_turned(const kspec_matrix *phi, size_t count, ks_arena *arena) {
    kspec_matrix *to = ks_arena_alloc(arena, count, sizeof *to);
    for (size_t t = 0; t < count && to; t++)
        to[t] = (kspec_matrix){phi[t].data, phi[t].cols, phi[t].rows, phi[t].col_stride, phi[t].row_stride};
    return to;
}

static size_t trials_of(const ks_trials *t, size_t row) {
    return t->row_trials ? t->row_trials[row] : t->count;
}

static kspec_status unfit(const ks_trials *t, size_t k, size_t i, size_t j, double x, kspec_error *err) {
    const char *what = isnan(x) ? "NaN" : "infinite";
    if (t->count == 1)
        return ks_fail(err, KSPEC_E_DATA, "the matrix: row %zu, column %zu (from 0) is %s", i, j, what);
    return ks_fail(err, KSPEC_E_DATA, "trial %zu: row %zu, column %zu (from 0) is %s", k, i, j, what);
}

/* Finds the largest |entry|, and fails at the first entry that is not finite. */
static kspec_status largest(const ks_trials *t, double *max, kspec_error *err) {
    *max = 0;
    for (size_t i = 0; i < t->P; i++)
        for (size_t k = 0; k < trials_of(t, i); k++)
            for (size_t j = 0; j < t->Q; j++) {
                double x = fabs(ks_at(&t->phi[k], i, j));
                if (t->pairwise && isnan(x)) continue;
                if (!(x <= DBL_MAX)) return unfit(t, k, i, j, x, err);
                if (x > *max) *max = x;
            }
    return KSPEC_OK;
}

static ks_run run_of(const ks_trials *t) {
    return (ks_run){.threads = t->threads > 1 ? t->threads : 1, .to = 1};
}

/* ---- scale ---- */

/* The code scans rows in pieces of about SCAN entries. */
enum { SCAN = 1 << 20 };

typedef struct {
    const ks_trials *t;
    size_t rows;
    double unit;
    /*
     * Each chunk writes its largest |entry|, its sum of squares in units of 1/unit, and its number of
     * entries.
     */
    double *max, *square, *entries;
} scan;

static kspec_status scan_chunk(void *ctx, size_t chunk, const ks_worker *worker) {
    const scan *s = ctx;
    const ks_trials *t = s->t;
    const size_t from = chunk * s->rows, to = t->P - from < s->rows ? t->P : from + s->rows;
    double max = 0, square = 0, entries = 0;
    for (size_t i = from; i < to; i++)
        for (size_t k = 0; k < trials_of(t, i); k++) {
            size_t missing = 0;
            for (size_t j = 0; j < t->Q; j++) {
                const double x = fabs(ks_at(&t->phi[k], i, j));
                if (t->pairwise && isnan(x)) {
                    missing++;
                    continue;
                }
                if (!(x <= DBL_MAX)) return unfit(t, k, i, j, x, worker->err);
                if (x > max) max = x;
                square += x * s->unit * (x * s->unit);
            }
            entries += (double)(t->Q - missing);
        }
    s->max[chunk] = max, s->square[chunk] = square, s->entries[chunk] = entries;
    return KSPEC_OK;
}

/* Ranks divide the scan among themselves. Every rank reports the first entry that is not finite. */
static kspec_status scan_all(const ks_run *run, scan *s, size_t chunks, kspec_error *err) {
    const ks_share shares[] = {{s->max, sizeof *s->max, chunks, 1},
                               {s->square, sizeof *s->square, chunks, 1},
                               {s->entries, sizeof *s->entries, chunks, 1}};
    const ks_run alone = ks_run_alone(run);
    kspec_status st = ks_team_for(chunks > 1 ? run : &alone, "scale", chunks, scan_chunk, s, shares, 3, err);
    return st == KSPEC_E_DATA && run->team ? ks_parallel_for(&alone, chunks, scan_chunk, s, err) : st;
}

/*
 * Computes the largest |entry| and the root mean square, and fails at the first entry that is not finite. If
 * squares overflow or underflow, the function sums them again in units of a power of two near the largest
 * entry.
 */
static kspec_status measure(const ks_run *run, const ks_trials *t, double *max, double *rms,
                            kspec_error *err) {
    ks_arena arena = {0};
    scan s = {.t = t, .rows = t->Q < SCAN ? SCAN / t->Q : 1, .unit = 1};
    const size_t chunks = (t->P + s.rows - 1) / s.rows;
    s.max = ks_arena_alloc(&arena, ks_size(3, chunks), sizeof(double));
    if (!s.max) return ks_nomem(err, "the scale", arena.failed);
    s.square = s.max + chunks, s.entries = s.square + chunks;
    double square = 0, entries = 0;
    *max = *rms = 0;
    kspec_status st = scan_all(run, &s, chunks, err);
    for (size_t c = 0; c < chunks && !st; c++) *max = fmax(*max, s.max[c]);
    if (!st && *max > 0 && !(*max > 1e-140 && *max < 1e140)) {
        int e;
        frexp(*max, &e);
        s.unit = e > -1000 ? ldexp(1, -e) : 0x1p1000;
        st = scan_all(run, &s, chunks, err);
    }
    for (size_t c = 0; c < chunks && !st; c++) square += s.square[c], entries += s.entries[c];
    if (!st && entries > 0) *rms = sqrt(square / entries) / s.unit;
    ks_arena_free(&arena);
    return st;
}

ks_trials ks_trials_of(const kspec_matrix *phi, size_t ntrials, const kspec_moments_opts *how) {
    return (ks_trials){.phi = phi,
                       .count = ntrials,
                       .P = phi[0].rows,
                       .Q = phi[0].cols,
                       .row_trials = how->row_trials,
                       .center = how->center,
                       .normalize = how->normalize};
}

kspec_status ks_trials_init(ks_trials *t, kspec_error *err) {
    for (size_t k = 0; k < t->count; k++) {
        kspec_status st = ks_matrix_check(&t->phi[k], "a trial", err);
        if (st) return st;
        if (t->phi[k].rows != t->P || t->phi[k].cols != t->Q)
            return ks_fail(err, KSPEC_E_ARG, "trial %zu is %zu x %zu, trial 0 is %zu x %zu", k,
                           t->phi[k].rows, t->phi[k].cols, t->P, t->Q);
    }
    int ragged = 0;
    for (size_t i = 0; i < t->P && t->row_trials; i++) {
        if (t->row_trials[i] < 2 || t->row_trials[i] > t->count)
            return ks_fail(err, KSPEC_E_ARG, "row %zu has %zu trials, not 2 to %zu", i, t->row_trials[i],
                           t->count);
        ragged |= t->row_trials[i] != t->count;
    }
    if (!ragged) t->row_trials = NULL;
    t->split = t->count > 2 || ragged;
    return KSPEC_OK;
}

kspec_status ks_trials_missing(ks_trials *t, size_t *missing, kspec_error *err) {
    double max;
    *missing = 0;
    if (!t->pairwise) return KSPEC_OK;
    kspec_status st = largest(t, &max, err);
    for (size_t k = 0; k < t->count && !st; k++)
        for (size_t i = 0; i < t->P; i++)
            for (size_t j = 0; j < t->Q; j++) *missing += isnan(ks_at(&t->phi[k], i, j)) != 0;
    if (!st && *missing == t->count * t->P * t->Q)
        return ks_fail(err, KSPEC_E_DATA, "all %zu entries are missing", *missing);
    t->pairwise = *missing > 0;
    return st;
}

kspec_status ks_trials_scale(ks_trials *t, int nmax, kspec_error *err) {
    const ks_run run = run_of(t);
    return ks_trials_scale_by(&run, t, nmax, err);
}

kspec_status ks_trials_scale_by(const ks_run *run, ks_trials *t, int nmax, kspec_error *err) {
    const ks_run quiet = ks_run_part(run, 0, 0);
    double max = 0, rms = 0;
    kspec_status st =
        t->on_device ? ks_trials_device_measure(&quiet, t, &rms, err) : measure(&quiet, t, &max, &rms, err);
    if (st) return st;
    if (t->on_device) max = rms;
    t->factor = 1;
    t->exponent = t->normal_exponent = 0;
    if (max == 0) return KSPEC_OK;
    int e;
    double mantissa = frexp(rms, &e);
    if (t->normalize) {
        t->normal_exponent = e;
        t->factor = 1 / mantissa;
    } else if (abs(2 * nmax * e) > 100) {
        /* A small exponent leaves m(nmax) close enough to 1, so the data need no scaled copy. */
        t->exponent = e;
    }
    return KSPEC_OK;
}

/* Adds weight times row i of the scaled trial k to out. */
static void add_row(const ks_trials *t, size_t k, size_t i, double weight, double *out) {
    const kspec_matrix *m = &t->phi[k];
    int e = -(t->normalize ? t->normal_exponent : t->exponent);
    double f = weight * t->factor;
    if (e == 0)
        for (size_t j = 0; j < t->Q; j++) out[j] += f * ks_at(m, i, j);
    else
        for (size_t j = 0; j < t->Q; j++) out[j] += f * ldexp(ks_at(m, i, j), e);
}

/*
 * Adds row i of the scaled trial k to out, except missing entries. seen[j] counts the entries added to column
 * j.
 */
static void add_seen(const ks_trials *t, size_t k, size_t i, double *out, double *seen) {
    const kspec_matrix *m = &t->phi[k];
    int e = -(t->normalize ? t->normal_exponent : t->exponent);
    for (size_t j = 0; j < t->Q; j++) {
        double x = ks_at(m, i, j);
        if (isnan(x)) continue;
        out[j] += t->factor * ldexp(x, e);
        seen[j]++;
    }
}

/* Turns sums and counts into means, and positive counts into 1. */
static void mean_of_seen(double *x, double *seen, size_t n) {
    for (size_t j = 0; j < n; j++)
        if (seen[j] > 0) x[j] /= seen[j], seen[j] = 1;
}

/* Subtracts from each column the mean of its known entries. Missing entries stay 0. */
static void subtract_seen_means(double *X, const double *seen, double *mean, size_t P, size_t Q) {
    for (size_t j = 0; j < Q; j++) {
        double sum = 0, n = 0;
        for (size_t i = 0; i < P; i++) sum += X[i * Q + j], n += seen[i * Q + j];
        mean[j] = n > 0 ? sum / n : 0;
    }
    for (size_t i = 0; i < P; i++)
        for (size_t j = 0; j < Q; j++) X[i * Q + j] -= seen[i * Q + j] * mean[j];
}

/*
 * Subtracts column means, computed from differences to a column's first entry. So a constant column becomes
 * exactly zero. Otherwise the rounding error of its mean would count as a dimension. The differences also
 * keep all digits of a small variation about a large mean.
 */
static void subtract_column_means(double *X, double *mean, size_t P, size_t Q) {
    memset(mean, 0, Q * sizeof *mean);
    for (size_t i = 0; i < P; i++)
        for (size_t j = 0; j < Q; j++) mean[j] += (X[i * Q + j] - X[j]) / (double)P;
    for (size_t i = P; i-- > 0;)
        for (size_t j = 0; j < Q; j++) X[i * Q + j] = X[i * Q + j] - X[j] - mean[j];
}

static void subtract_row_means(double *X, size_t P, size_t Q) {
    for (size_t i = 0; i < P; i++) {
        double mean = 0, first = X[i * Q];
        for (size_t j = 0; j < Q; j++) mean += (X[i * Q + j] - first) / (double)Q;
        for (size_t j = 0; j < Q; j++) X[i * Q + j] = X[i * Q + j] - first - mean;
    }
}

static void centre(const ks_trials *t, double *X, double *mean) {
    if (ks_rows_centred(t->center)) subtract_column_means(X, mean, t->P, t->Q);
    if (ks_cols_centred(t->center)) subtract_row_means(X, t->P, t->Q);
}

/* Returns the caller's own trial if the data need no change, and otherwise NULL. */
static const double *as_it_is(const ks_trials *t, size_t k) {
    const kspec_matrix *m = &t->phi[k];
    if (t->on_device) return t->held[k] ? ks_mat_address(t->held[k]) : m->data;
    int plain = m->col_stride == 1 && (m->row_stride == (ptrdiff_t)t->Q || t->P == 1) && t->exponent == 0 &&
                !t->normalize && (!ks_centred(t->center) || t->keep_means) && !t->pairwise;
    return plain ? m->data : NULL;
}

/* Returns the number of rows of a piece. The code copies and centres one trial piece by piece. */
static size_t piece_rows(const ks_trials *t) {
    enum { ENTRIES = SCAN / 2, MOST = 64 };
    const size_t few = (t->P + MOST - 1) / MOST, rows = ENTRIES / t->Q;
    return rows > few ? rows : few;
}

static size_t pieces_of(const ks_trials *t) { return (t->P + piece_rows(t) - 1) / piece_rows(t); }

size_t ks_trials_splits(const ks_trials *t, int splits) { return t->split ? (size_t)splits : 1; }

kspec_status ks_trials_alloc(const ks_trials *t, ks_arena *arena, ks_halves *h, kspec_error *err) {
    int split = t->split, two = t->count > 1;
    size_t entries = ks_size(t->P, t->Q);
    *h = (ks_halves){0};
    if (split || !as_it_is(t, 0)) h->a = ks_arena_alloc(arena, entries, sizeof(double));
    if (two && (split || !as_it_is(t, 1))) h->b = ks_arena_alloc(arena, entries, sizeof(double));
    if (t->pairwise) h->seen_a = h->seen_b = ks_arena_alloc(arena, entries, sizeof(double));
    if (t->pairwise && two) h->seen_b = ks_arena_alloc(arena, entries, sizeof(double));
    h->mean = ks_arena_alloc(arena, ks_size(1 + (two ? 0 : pieces_of(t)), t->Q), sizeof(double));
    h->order = ks_arena_alloc(arena, t->count, sizeof *h->order);
    return arena->failed ? ks_nomem(err, "a copy of the matrix", arena->failed) : KSPEC_OK;
}

/*
 * Computes a pair of halves with missing entries. Each mean includes only the trials that contain the entry.
 */
static void split_seen(const ks_trials *t, ks_halves *h, ks_pair *p) {
    const size_t Q = t->Q, half = t->split ? t->count / 2 : 1;
    double *x[2] = {h->a, h->b}, *seen[2] = {h->seen_a, h->seen_b};
    for (int s = 0; s < (h->b ? 2 : 1); s++) {
        memset(x[s], 0, t->P * Q * sizeof(double));
        memset(seen[s], 0, t->P * Q * sizeof(double));
        for (size_t i = 0; i < t->P; i++)
            for (size_t k = s ? half : 0; k < (s ? t->count : half); k++)
                add_seen(t, t->split ? h->order[k] : k, i, x[s] + i * Q, seen[s] + i * Q);
        mean_of_seen(x[s], seen[s], t->P * Q);
        if (ks_centred(t->center)) subtract_seen_means(x[s], seen[s], h->mean, t->P, Q);
    }
    p->P = t->P, p->Q = Q, p->A = h->a, p->B = h->b ? h->b : h->a;
}

/* ---- copies ---- */

typedef struct {
    const ks_trials *t;
    double *X;
    const double *mean; /* NULL: not centred */
    size_t rows, Q;     /* rows per piece */
    double *sums;       /* sums contains Q sums for each piece, of the differences to the first row. */
} one_trial;

static size_t piece_end(const one_trial *o, size_t from) {
    return o->t->P - from < o->rows ? o->t->P : from + o->rows;
}

static kspec_status copy_piece(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const one_trial *o = ctx;
    const size_t from = chunk * o->rows, Q = o->Q;
    double *sums = o->mean ? o->sums + chunk * Q : NULL;
    for (size_t i = from ? from : 1; i < piece_end(o, from); i++) { /* every piece reads row 0 */
        double *x = o->X + i * Q;
        memset(x, 0, Q * sizeof *x);
        add_row(o->t, 0, i, 1, x);
        for (size_t j = 0; j < Q && sums; j++) sums[j] += x[j] - o->X[j];
    }
    return KSPEC_OK;
}

static kspec_status centre_piece(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const one_trial *o = ctx;
    const size_t from = chunk * o->rows, Q = o->Q;
    for (size_t i = from ? from : 1; i < piece_end(o, from); i++)
        for (size_t j = 0; j < Q; j++) o->X[i * Q + j] = o->X[i * Q + j] - o->X[j] - o->mean[j];
    return KSPEC_OK;
}

/* Copies one trial to h->a, and centres it over rows if requested. */
static void make_one(const ks_trials *t, ks_halves *h) {
    const size_t Q = t->Q, pieces = pieces_of(t);
    const ks_run run = run_of(t);
    const int centred = ks_rows_centred(t->center) && !t->keep_means;
    double *X = h->a, *mean = h->mean;
    one_trial o = {t, X, centred ? mean : NULL, piece_rows(t), Q, mean + Q};
    memset(X, 0, Q * sizeof *X);
    memset(mean, 0, (1 + pieces) * Q * sizeof *mean);
    add_row(t, 0, 0, 1, X);
    (void)ks_parallel_for(&run, pieces, copy_piece, &o, NULL);
    if (!centred) return;
    for (size_t c = 0; c < pieces; c++)
        for (size_t j = 0; j < Q; j++) mean[j] += o.sums[c * Q + j] / (double)t->P;
    (void)ks_parallel_for(&run, pieces, centre_piece, &o, NULL);
    for (size_t j = 0; j < Q; j++) X[j] = -mean[j];
}

void ks_trials_split(const ks_trials *t, uint64_t seed, size_t r, ks_halves *h, ks_pair *p) {
    if (t->split) ks_random_permutation(seed, ks_stream(KS_STREAM_SPLIT, r), t->count, h->order);
    if (t->pairwise) {
        split_seen(t, h, p);
        return;
    }
    if (t->count == 1 && h->a && !ks_cols_centred(t->center)) {
        make_one(t, h);
        *p = (ks_pair){h->a, h->a, t->P, t->Q, p->nmax};
        return;
    }
    for (size_t i = 0; i < t->P; i++) {
        double *a = h->a ? h->a + i * t->Q : NULL, *b = h->b ? h->b + i * t->Q : NULL;
        if (a) memset(a, 0, t->Q * sizeof *a);
        if (b) memset(b, 0, t->Q * sizeof *b);
        if (!t->split) {
            if (a) add_row(t, 0, i, 1, a);
            if (b) add_row(t, 1, i, 1, b);
            continue;
        }
        size_t T = trials_of(t, i), half = T / 2;
        if (t->row_trials)
            ks_random_permutation(seed, ks_stream(KS_STREAM_RAGGED, r * t->P + i), T, h->order);
        for (size_t k = 0; k < T; k++)
            add_row(t, h->order[k], i, 1 / (double)(k < half ? half : T - half), k < half ? a : b);
    }
    if (h->a && !t->keep_means) centre(t, h->a, h->mean);
    if (h->b && !t->keep_means) centre(t, h->b, h->mean);
    p->P = t->P, p->Q = t->Q;
    p->A = h->a ? h->a : as_it_is(t, 0);
    p->B = t->count == 1 ? p->A : h->b ? h->b : as_it_is(t, 1);
}

void ks_trials_copy(const ks_trials *t, size_t k, ks_halves *h, double *out) {
    memset(out, 0, t->P * t->Q * sizeof *out);
    for (size_t i = 0; i < t->P; i++) add_row(t, k, i, 1, out + i * t->Q);
    centre(t, out, h->mean);
}

void ks_trials_mean(const ks_trials *t, double *mean, double *out) {
    memset(out, 0, t->P * t->Q * sizeof *out);
    for (size_t i = 0; i < t->P; i++)
        for (size_t k = 0; k < trials_of(t, i); k++)
            add_row(t, k, i, 1 / (double)trials_of(t, i), out + i * t->Q);
    centre(t, out, mean);
}

kspec_status ks_pair_transpose(const ks_pair *p, ks_pair *t, ks_arena *arena, kspec_error *err) {
    enum { TILE = 32 };
    const double *from[2] = {p->A, p->B};
    double *to[2] = {NULL, NULL};
    for (int k = 0; k < (p->A == p->B ? 1 : 2); k++) {
        to[k] = ks_arena_alloc(arena, ks_size(p->P, p->Q), sizeof(double));
        if (!to[k]) return ks_nomem(err, "the transposed matrix", arena->failed);
        for (size_t i0 = 0; i0 < p->P; i0 += TILE)
            for (size_t j0 = 0; j0 < p->Q; j0 += TILE)
                for (size_t j = j0; j < j0 + TILE && j < p->Q; j++)
                    for (size_t i = i0; i < i0 + TILE && i < p->P; i++)
                        to[k][j * p->P + i] = from[k][i * p->Q + j];
    }
    *t = (ks_pair){to[0], to[1] ? to[1] : to[0], p->Q, p->P, p->nmax};
    return KSPEC_OK;
}

/*
 * Computes the share of the mean for data with missing entries, where each column mean has its own count of
 * entries.
 */
static double seen_mean_share(const ks_pair *p, const ks_halves *h) {
    double total = 0, entries = 0, share = 0, cols = 0;
    for (size_t a = 0; a < p->Q; a++) {
        double x = 0, y = 0, both = 0, nx = 0, ny = 0, n = 0;
        for (size_t k = a; k < p->P * p->Q; k += p->Q) {
            x += p->A[k], y += p->B[k], both += p->A[k] * p->B[k];
            nx += h->seen_a[k], ny += h->seen_b[k], n += h->seen_a[k] * h->seen_b[k];
        }
        total += both, entries += n;
        if (nx * ny > n) share += (x * y - both) / (nx * ny - n), cols++;
    }
    return total > 0 && cols > 0 ? share / cols / (total / entries) : NAN;
}

kspec_status ks_mean_share(const ks_run *run, const ks_pair *p, const ks_halves *h, double *sum,
                           double *share, kspec_error *err) {
    const double P = (double)p->P;
    const size_t Q = p->Q;
    *share = NAN;
    if (p->P < 2) return KSPEC_OK;
    if (h->seen_a) *share = seen_mean_share(p, h);
    if (h->seen_a) return KSPEC_OK;
    const ks_run near = ks_run_near(run, p->A), quiet = ks_run_part(&near, 0, 0);
    const ks_backend *at = quiet.device ? ks_backend_of(&quiet) : ks_backend_for(&quiet, p->P, Q);
    const ks_mat *A = NULL, *B = NULL;
    const double *other = p->A == p->B ? sum : sum + Q;
    kspec_status st = at->copy_in(&quiet, p->A, p->P, Q, "the means", &A, err);
    if (!st) st = at->copy_in(&quiet, p->B, p->P, Q, "the means", &B, err);
    ks_mat_expression e = {.m = p->P, .n = Q, .alpha = 1, .count = 1, .factor = {{A, 0, 1}, {B, 0, 1}}};
    if (!st) st = at->expression(&quiet, &e, KS_TILE_COL_SUMS, NULL, sum, err);
    e.count = 2;
    if (!st) st = at->expression(&quiet, &e, KS_TILE_COL_SUMS, NULL, sum + 2 * Q, err);
    e.count = 1, e.factor[0].x = B;
    if (!st && p->A != p->B) st = at->expression(&quiet, &e, KS_TILE_COL_SUMS, NULL, sum + Q, err);
    at->release(&quiet, B);
    at->release(&quiet, A);
    if (st) return st;
    double total = 0, square = 0;
    for (size_t a = 0; a < Q; a++) total += sum[2 * Q + a], square += sum[a] * other[a];
    if (total > 0) *share = (square - total) / (P * (P - 1)) / (total / P);
    return KSPEC_OK;
}
