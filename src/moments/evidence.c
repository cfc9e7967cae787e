/* Compares m(2) with its value for pure noise, to tell whether a matrix contains any signal. */
#include "moments/evidence.h"

#include "base/center.h"
#include "base/error.h"
#include "base/streams.h"
#include "device/backend.h"
#include "device/device.h"
#include "pairs/sums.h"

#include <math.h>
#include <string.h>

/*
 * Let all entries be independent with mean 0. A cycle x_ia x_ja x_jb x_ib over different rows and columns has
 * mean 0, and two cycles over different sets of entries are uncorrelated. So the variance of m(2) is k m(2)[x
 * o x] / ((P)_2 (Q)_2), where k ordered cycles have the same product: k = 4 with one trial and k = 2 with two
 * trials. Centring leaves P - 1 of the P degrees of freedom of the rows, and P - 2 for the second row of a
 * pair.
 *
 * A trial may have noise shared along a row, such as a common gain. Let C be the noise's covariance and c the
 * mean of C_ab^2 over different columns. With such noise, m(2) of two trials has a further component with
 * standard deviation sqrt(2) c over sqrt((P)_2). If the rows share a single factor, this component is
 * distributed like chi^2 - 1 with one degree of freedom. The 97.5% point of chi^2 - 1 is at 2.8 standard
 * deviations, so the code multiplies this component by 2. The difference of the trials has no signal, and its
 * m(2) is 4 c.
 *
 * Any scale of the columns is valid. The code divides each column by the root of its standard deviation. This
 * scale is halfway between the data and columns of equal variance, and best finds weak signals in columns of
 * unequal size.
 */
static const double NONE_BELOW = 2, CLEAR_FROM = 4;

/*
 * Computes the standard deviation of m(2) of pure noise in one trial or two, from m(2) of the squared
 * entries.
 */
static double error_of(double squares, size_t P, size_t Q, int centered, int one) {
    const double p = (double)P, q = (double)Q, f = centered ? p / (p - 1) : 1,
                 pairs = centered ? (p - 1) * (p - 2) : p * (p - 1);
    return sqrt((one ? 4 : 2) * fmax(squares, 0) / (pairs * q * (q - 1))) * f * f;
}

/* Computes m(2) of two trials, or of one trial if X = Z */
static kspec_status second(const ks_run *run, const double *X, const double *Z, size_t P, size_t Q,
                           int centered, double *out, kspec_error *err) {
    ks_arena arena = {0};
    ks_sums s;
    const ks_two two = {
        .X = X, .Z = Z, .Y = Z, .W = X, .P = P, .Q = Q, .R = Q, .same = 1, .whole = 1, .centered = centered};
    kspec_status st = ks_sums_make(run, &two, &s, &arena, err);
    const ks_sums_rows rows = {centered, P, INFINITY};
    if (!st) *out = ks_sums_cross(&s.all, &rows, ks_sums_pairs(Q, INFINITY));
    ks_arena_free(&arena);
    return st;
}

typedef struct {
    const ks_pair *p;
    double *scale;
} scale_job;

enum { STRIP = 64 };

static kspec_status scale_strip(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const scale_job *j = ctx;
    const ks_pair *p = j->p;
    const size_t from = chunk * STRIP, to = p->Q - from < STRIP ? p->Q : from + STRIP;
    double *scale = j->scale;
    for (size_t k = from; k < to; k++) scale[k] = 0;
    for (size_t i = 0; i < p->P; i++) {
        const double *a = p->A + i * p->Q, *b = p->B + i * p->Q;
        for (size_t k = from; k < to; k++) scale[k] += a[k] * a[k] + b[k] * b[k];
    }
    for (size_t k = from; k < to; k++)
        scale[k] = scale[k] > 0 ? 1 / sqrt(sqrt(scale[k] / (double)(2 * p->P))) : 0;
    return KSPEC_OK;
}

/* Sets each column's scale to (mean square of the column)^(-1/4), or to 0 for a column of zeros. */
static kspec_status set_scale(const ks_run *run, const ks_pair *p, double *scale, kspec_error *err) {
    const ks_run quiet = ks_run_part(run, 0, 0);
    return ks_parallel_for(&quiet, (p->Q + STRIP - 1) / STRIP, scale_strip, &(scale_job){p, scale}, err);
}

static void multiply(const double *from, const double *scale, size_t P, size_t Q, double *to) {
    for (size_t i = 0; i < P; i++)
        for (size_t k = 0; k < Q; k++) to[i * Q + k] = from[i * Q + k] * scale[k];
}

static void subtract(const double *a, const double *b, size_t n, double *to) {
    for (size_t k = 0; k < n; k++) to[k] = a[k] - b[k];
}

static void square(double *x, size_t n) {
    for (size_t k = 0; k < n; k++) x[k] *= x[k];
}

/*
 * Noise needs m(2) of the squared entries only roughly, so MOST of the rows are enough: one from each of MOST
 * equal ranges, at random, because rows may repeat a pattern. This product would take as long as that of the
 * data.
 */
enum { PIECE = 1 << 16, MOST = 2048 };

static size_t rows_of_noise(size_t P) { return P < MOST ? P : MOST; }

/* Returns the row of range i among `kept` ranges of P rows. */
static size_t row_of_noise(size_t i, size_t kept, size_t P) {
    double u = 0;
    if (kept == P) return i;
    kspec_random_uniform(0, ks_stream(KS_STREAM_NOISE_ROWS, 0), i, 1, &u);
    const size_t from = i * P / kept, to = (i + 1) * P / kept;
    return from + (size_t)(u * (double)(to - from));
}

typedef struct {
    const double *X, *scale;
    size_t P, Q, kept, rows;
    double *to;
} squares_job;

static kspec_status square_piece(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const squares_job *j = ctx;
    const size_t from = chunk * j->rows, to = j->kept - from < j->rows ? j->kept : from + j->rows;
    for (size_t i = from; i < to; i++) {
        const double *X = j->X + row_of_noise(i, j->kept, j->P) * j->Q;
        for (size_t k = 0; k < j->Q; k++) {
            const double x = X[k] * j->scale[k];
            j->to[i * j->Q + k] = x * x;
        }
    }
    return KSPEC_OK;
}

/* A is scratch of P x Q numbers, and may be p->A. */
static kspec_status of_sums(const ks_run *run, const ks_pair *p, const ks_quad *scaled, const double *scale,
                            double *A, int centered, double *z, kspec_error *err) {
    const size_t rows = p->Q < PIECE ? PIECE / p->Q : 1, kept = rows_of_noise(p->P);
    ks_arena arena = {0};
    double *to = kept < p->P ? ks_arena_alloc(&arena, ks_size(kept, p->Q), sizeof *to) : A;
    if (!to) return ks_nomem(err, "the squares of the entries", arena.failed);
    squares_job j = {p->A, scale, p->P, p->Q, kept, rows, to};
    const ks_run quiet = ks_run_part(run, 0, 0);
    double squares = 0;
    const ks_sums_rows of = {centered, p->P, INFINITY};
    kspec_status st = ks_parallel_for(&quiet, (kept + rows - 1) / rows, square_piece, &j, err);
    if (!st) st = second(run, to, to, kept, p->Q, 0, &squares, err);
    ks_arena_free(&arena);
    *z = ks_sums_cross(scaled, &of, ks_sums_pairs(p->Q, INFINITY)) /
         error_of(squares, p->P, p->Q, centered, 1);
    return st;
}

/*
 * Computes z of two trials A and B (P x Q), which must be scaled. The function overwrites both. With one
 * trial, A and B are the same pointer. D is scratch of P x Q numbers.
 */
static kspec_status standardize(const ks_run *run, double *A, double *B, double *D, size_t P, size_t Q,
                                int centered, double *z, kspec_error *err) {
    const size_t n = ks_size(P, Q);
    const int one = A == B;
    double m = 0, noise = 0, squares = 0;
    kspec_status st = second(run, A, B, P, Q, centered, &m, err);
    if (!st && !one) {
        subtract(A, B, n, D);
        st = second(run, D, D, P, Q, centered, &noise, err);
    }
    const size_t kept = one ? rows_of_noise(P) : P;
    for (size_t i = 0; i < kept && one; i++) /* no row moves down */
        memmove(A + i * Q, A + row_of_noise(i, kept, P) * Q, Q * sizeof *A);
    square(A, kept * Q);
    if (!one) square(B, n);
    if (!st) st = second(run, A, B, kept, Q, 0, &squares, err);
    const double p = (double)P, pairs = centered ? (p - 1) * (p - 2) : p * (p - 1);
    *z = m / (error_of(squares, P, Q, centered, one) + 2 * fmax(noise / 4, 0) / sqrt(pairs));
    return st;
}

/* Sets Y to the squares of the scaled entries of X, of the rows that row_of_noise() names. */
static kspec_status squares_on_device(const ks_run *run, const double *X, const double *scale, size_t P,
                                      size_t Q, ks_mat *Y, kspec_error *err) {
    const size_t kept = rows_of_noise(P);
    ks_device *d = run->device;
    ks_arena arena = {0};
    double *squared = ks_arena_alloc(&arena, Q, sizeof *squared);
    size_t *list = ks_arena_alloc(&arena, ks_size(2, kept), sizeof *list);
    if (arena.failed) {
        kspec_status st = ks_nomem(err, "the squares of the entries", arena.failed);
        ks_arena_free(&arena);
        return st;
    }
    for (size_t k = 0; k < Q; k++) squared[k] = scale[k] * scale[k];
    for (size_t i = 0; i < kept; i++) list[2 * i] = row_of_noise(i, kept, P), list[2 * i + 1] = i;
    ks_mat_expression e = {
        .m = kept, .n = Q, .alpha = 1, .col = squared, .count = 1, .factor = {{ks_mat_of(X), 0, 2}}};
    kspec_status st = KSPEC_OK;
    if (kept < P) {
        e.factor[0].x = Y;
        st = ks_device_status(d, d->plugin->copy_rows(d->gpu, kept, list, Q, X, ks_mat_address(Y)),
                              "a sample of the rows", err);
    }
    if (!st) st = ks_backend_of(run)->expression(run, &e, KS_TILE_STORE, Y, NULL, err);
    ks_arena_free(&arena);
    return st;
}

/* Computes z for one trial X on the device */
static kspec_status on_device(const ks_run *run, const double *X, double *scale, size_t P, size_t Q,
                              int centered, double *z, kspec_error *err) {
    const ks_backend *at = ks_backend_of(run);
    ks_mat *Y = NULL;
    ks_mat_expression e = {.m = P, .n = Q, .alpha = 1, .count = 1, .factor = {{ks_mat_of(X), 0, 2}}};
    double value[2] = {0};
    kspec_status st = at->expression(run, &e, KS_TILE_COL_SUMS, NULL, scale, err);
    for (size_t k = 0; k < Q && !st; k++) scale[k] = scale[k] > 0 ? 1 / sqrt(sqrt(scale[k] / (double)P)) : 0;
    if (!st) st = at->hold(run, P, Q, "the scaled columns", &Y, err);
    if (st) return st;
    ks_device_take(run->device, ks_mat_address(Y));
    e.col = scale, e.factor[0].power = 1;
    if (!st) st = at->expression(run, &e, KS_TILE_STORE, Y, NULL, err);
    const double *y = ks_mat_address(Y);
    if (!st) st = second(run, y, y, P, Q, centered, &value[0], err);
    if (!st) st = squares_on_device(run, X, scale, P, Q, Y, err);
    if (!st) st = second(run, y, y, rows_of_noise(P), Q, 0, &value[1], err);
    ks_device_forget(run->device, ks_mat_address(Y));
    at->drop(run, Y);
    *z = value[0] / error_of(value[1], P, Q, centered, 1);
    return st;
}

static void set_signal(ks_evidence *e) {
    if (isnan(e->z)) return;
    e->signal = e->z < NONE_BELOW   ? KSPEC_EVIDENCE_NONE
                : e->z < CLEAR_FROM ? KSPEC_EVIDENCE_WEAK
                                    : KSPEC_EVIDENCE_CLEAR;
}

static double of_totals(const double *t, size_t P, size_t Q, int centered) {
    const ks_quad q = {t[0] - t[2], t[4] * t[4] - t[2], t[0] - t[2], t[1] - t[3], t[4]};
    const ks_sums_rows rows = {centered, P, INFINITY};
    return ks_sums_cross(&q, &rows, ks_sums_pairs(Q, INFINITY));
}

void ks_evidence_of_totals(const double *scaled, const double *squared, size_t P, size_t Q, int centered,
                           ks_evidence *out) {
    *out = (ks_evidence){KSPEC_EVIDENCE_UNKNOWN, NAN};
    if (P < (centered ? 5 : 3) || Q < 3) return;
    out->z = of_totals(scaled, P, Q, centered) / error_of(of_totals(squared, P, Q, 0), P, Q, centered, 1);
    set_signal(out);
}

/* Returns 1 if there are too few rows or columns, or if entries may not be independent draws. */
static int untestable(const ks_measured *m, int centered) {
    return m->rows.of || m->cols.of || m->trials.pairwise || m->trials.P < (centered ? 5 : 3) ||
           m->trials.Q < 3;
}

kspec_status ks_evidence_make(const ks_run *run, ks_measured *m, const ks_second *s, uint64_t seed,
                              ks_evidence *out, kspec_error *err) {
    const size_t P = m->trials.P, Q = m->trials.Q, n = ks_size(P, Q);
    *out = (ks_evidence){KSPEC_EVIDENCE_UNKNOWN, NAN};
    const int centered = ks_centred(m->trials.center), one = m->trials.count == 1;
    if (untestable(m, centered)) return KSPEC_OK;
    ks_arena arena = {0};
    ks_pair p;
    if (m->trials.on_device) {
        double *scale = ks_alloc(Q, sizeof *scale);
        if (!scale) return ks_nomem(err, "the scaled columns", ks_size(Q, sizeof *scale));
        p = ks_measured_pair(m, seed, 0);
        kspec_status st = on_device(run, p.A, scale, P, Q, centered, &out->z, err);
        ks_free(scale);
        if (!st) set_signal(out);
        return st;
    }
    const int known = one && s && s->has_scaled, in_place = known && m->halves.a;
    double *scale = ks_arena_alloc(&arena, Q, sizeof *scale),
           *A = in_place ? m->halves.a : ks_arena_alloc(&arena, n, sizeof *A),
           *B = one ? A : ks_arena_alloc(&arena, n, sizeof *B),
           *D = one ? A : ks_arena_alloc(&arena, n, sizeof *D);
    if (arena.failed) {
        const size_t wanted = arena.failed;
        ks_arena_free(&arena);
        return ks_nomem(err, "the scaled columns", wanted);
    }
    p = ks_measured_pair(m, seed, 0);
    if (in_place) m->pair.A = NULL;
    kspec_status st = set_scale(run, &p, scale, err);
    if (!st && !known) multiply(p.A, scale, P, Q, A);
    if (!st && !one) multiply(p.B, scale, P, Q, B);
    if (!st)
        st = known ? of_sums(run, &p, &s->scaled, scale, A, centered, &out->z, err)
                   : standardize(run, A, B, D, P, Q, centered, &out->z, err);
    ks_arena_free(&arena);
    if (!st) set_signal(out);
    return st;
}

kspec_status ks_evidence_of_noise(const ks_run *run, ks_measured *m, uint64_t seed, double *z,
                                  kspec_error *err) {
    const size_t P = m->trials.P, Q = m->trials.Q, n = ks_size(P, Q);
    const int centered = ks_centred(m->trials.center);
    *z = NAN;
    if (m->trials.count == 1 || m->trials.on_device || untestable(m, centered)) return KSPEC_OK;
    ks_arena arena = {0};
    double *scale = ks_arena_alloc(&arena, Q, sizeof *scale), *A = ks_arena_alloc(&arena, n, sizeof *A),
           *D = ks_arena_alloc(&arena, n, sizeof *D), moment = 0, squares = 0;
    kspec_status st = arena.failed ? ks_nomem(err, "the scaled columns", arena.failed) : KSPEC_OK;
    if (!st) {
        const ks_pair p = ks_measured_pair(m, seed, 0);
        st = set_scale(run, &p, scale, err);
        subtract(p.A, p.B, n, A);
        if (!st) multiply(A, scale, P, Q, D);
    }
    if (!st) st = second(run, D, D, P, Q, centered, &moment, err);
    if (!st) {
        square(D, n);
        st = second(run, D, D, P, Q, 0, &squares, err);
    }
    ks_arena_free(&arena);
    if (!st && squares > 0) *z = moment / error_of(squares, P, Q, centered, 1);
    return st;
}

const char *ks_evidence_name(kspec_evidence e) {
    static const char *const names[] = {NULL, "none", "weak", "clear"};
    return e >= KSPEC_EVIDENCE_UNKNOWN && e <= KSPEC_EVIDENCE_CLEAR ? names[e] : NULL;
}
