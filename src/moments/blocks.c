/* Chooses how long blocks of consecutive rows must be, and writes the labels of these blocks. */
#include "moments/prepare.h"

#include "base/error.h"
#include "base/matrix.h"
#include "base/streams.h"

#include <math.h>

/* ---- correlation length ---- */

/* The estimate of the correlation length uses at most ROWS rows and COLS columns. */
enum { ROWS = 1 << 16, COLS = 96, LEAST_BLOCKS = 5 };

typedef struct {
    size_t rows, cols;
    double *x[2]; /* deviations from column means */
} sample;

static double dot(const sample *s, size_t i, size_t k) {
    const double *a = s->x[0] + i * s->cols, *b = s->x[1] + k * s->cols;
    double sum = 0;
    for (size_t j = 0; j < s->cols; j++) sum += a[j] * b[j];
    return sum;
}

static int sample_make(const ks_trials_given *of, sample *s, ks_arena *arena) {
    const kspec_matrix *phi = of->phi;
    const int two = of->ntrials > 1;
    s->rows = phi->rows < ROWS ? phi->rows : ROWS, s->cols = phi->cols < COLS ? phi->cols : COLS;
    for (int t = 0; t <= two; t++) {
        double *x = s->x[t] = ks_arena_alloc(arena, ks_size(s->rows, s->cols), sizeof *x);
        for (size_t k = 0; k < s->cols && x; k++) {
            const size_t j = k * phi->cols / s->cols;
            double sum = 0, count = 0;
            for (size_t i = 0; i < s->rows; i++) {
                const int seen = !of->row_trials || (size_t)t < of->row_trials[i];
                const double value = x[i * s->cols + k] = seen ? ks_at(&phi[t], i, j) : NAN;
                if (isfinite(value)) sum += value, count++;
            }
            for (size_t i = 0; i < s->rows; i++) {
                double *at = &x[i * s->cols + k];
                *at = isfinite(*at) ? *at - sum / count : 0;
            }
        }
    }
    if (!two) s->x[1] = s->x[0];
    if (arena->failed) return 0;
    double most = 0;
    for (int t = 0; t <= two; t++)
        for (size_t k = 0; k < s->rows * s->cols; k++) most = fmax(most, fabs(s->x[t][k]));
    for (int t = 0; t <= two && most > 0; t++)
        for (size_t k = 0; k < s->rows * s->cols; k++) s->x[t][k] /= most;
    return 1;
}

static double lagged(const sample *s, size_t lag) {
    double sum = 0;
    for (size_t i = 0; i + lag < s->rows; i++) {
        sum += dot(s, i, i + lag);
        if (s->x[0] != s->x[1]) sum += dot(s, i + lag, i);
    }
    return sum / (double)(s->rows - lag) / (s->x[0] != s->x[1] ? 2 : 1);
}

/*
 * Computes the sum over lags of the correlation of rows, from lag 1 up to the first lag whose correlation is
 * not clearly positive. For correlations rho^lag the sum is about rho/(1-rho). The correlation at lag 0 is
 * extrapolated from lags 1 and 2, which excludes the noise of single entries. Subtracting the mean of P rows
 * lowers every correlation by (1 + 2 length)/P, so the function adds this number.
 */
static kspec_status correlation_length(const ks_trials_given *of, double *length, kspec_error *err) {
    enum { ROUNDS = 20, LAGS = 64 };
    ks_arena arena = {0};
    sample s;
    double at[LAGS], value[LAGS], error[LAGS], squares = 0;
    size_t count = 0, *order;
    *length = 0;
    if (!sample_make(of, &s, &arena) || !(order = ks_arena_alloc(&arena, s.rows, sizeof *order))) {
        ks_arena_free(&arena);
        return ks_nomem(err, "a sample of the rows", arena.failed);
    }
    const double n = (double)s.rows, own = lagged(&s, 0), others = -own / (n - 1);
    ks_random_permutation(0, ks_stream(KS_STREAM_BLOCKS, 0), s.rows, order);
    for (size_t i = 0; i < s.rows; i++) {
        const double p = dot(&s, order[i], order[(i + 1) % s.rows]) - others;
        squares += p * p / n;
    }
    for (size_t lag = 1; count < LAGS && lag <= s.rows / LEAST_BLOCKS; lag += lag < 4 ? 1 : lag * 3 / 10) {
        at[count] = (double)lag, value[count] = lagged(&s, lag) - others;
        error[count] = sqrt(squares / (n - (double)lag));
        if (value[count++] < -own / 2) break;
    }
    ks_arena_free(&arena);
    if (count < 2 || !(value[0] > 3 * error[0])) return KSPEC_OK;
    double zero = value[1] > 2 * error[1] ? fmin(own, value[0] * value[0] / value[1]) : own;
    zero = fmax(zero, value[0]);
    for (int round = 0; round < ROUNDS; round++) {
        const double shift = zero * (2 * *length + 1) / n;
        double sum = value[0] + shift, before = sum;
        for (size_t k = 1; k < count; k++) {
            const double now = value[k] + shift, between = at[k] - at[k - 1];
            if (now < 2 * error[k]) break;
            sum += between * (before + now) / 2 + (now - before) / 2;
            before = now;
        }
        *length = sum / (zero + shift);
    }
    return KSPEC_OK;
}

/* ---- blocks ---- */

/*
 * A block is LENGTHS correlation lengths long, and never shorter than FEWEST correlation lengths.
 * docs/measurements/dimension.md reports the coverage of such blocks.
 */
static const double LENGTHS = 2.5, FEWEST = 1.75;

/* Returns a block length of L rows or slightly more, so that all blocks have the same size if possible. */
static size_t even(size_t P, size_t L) {
    for (size_t k = L; 2 * k <= 3 * L && P / k >= LEAST_BLOCKS; k++)
        if (P % k == 0) return k;
    return L;
}

static kspec_status choose(size_t *block, const ks_trials_given *of, const ks_trials_given *other,
                           kspec_error *err) {
    const size_t P = of->phi->rows, most = P / LEAST_BLOCKS;
    double length = 0, second = 0;
    kspec_status st = correlation_length(of, &length, err);
    if (!st && other) st = correlation_length(other, &second, err);
    if (st) return st;
    length = fmax(length, second);
    if (length > 0 && (double)most < FEWEST * length)
        return ks_refuse(err, KSPEC_E_DATA, "block", NULL,
                         "rows are correlated over %.0f rows: %zu rows have fewer than %d blocks of "
                         "sufficient length; a longer series is needed",
                         ceil(length), P, LEAST_BLOCKS);
    const size_t L = (size_t)fmin(fmax(1, ceil(LENGTHS * length)), (double)(most ? most : 1));
    *block = L > 1 ? even(P, L) : 1;
    return KSPEC_OK;
}

kspec_status ks_block_labels(size_t *block, const uint64_t **labels, const ks_trials_given *of,
                             const ks_trials_given *other, ks_arena *arena, kspec_error *err) {
    if (!*block || !of->phi || !of->ntrials || !of->phi->data || !of->phi->rows || !of->phi->cols)
        return KSPEC_OK;
    if (*labels)
        return ks_refuse(err, KSPEC_E_ARG, "block", NULL, "blocks and groups of rows cannot be combined");
    const size_t P = of->phi->rows;
    const int chosen = *block == KSPEC_BLOCK_AUTO;
    kspec_status st = chosen ? choose(block, of, other, err) : KSPEC_OK;
    if (st || *block == 1) return st;
    size_t count = chosen ? P / *block : P / *block + (P % *block != 0);
    if (count < LEAST_BLOCKS)
        return ks_refuse(err, KSPEC_E_ARG, "block", NULL,
                         "blocks of %zu rows: %zu rows make %zu of them, %d are needed", *block, P, count,
                         LEAST_BLOCKS);
    uint64_t *to = ks_arena_alloc(arena, P, sizeof *to);
    if (!to) return ks_nomem(err, "the blocks", arena->failed);
    for (size_t i = 0; i < P; i++) to[i] = chosen ? (uint64_t)i * count / P : i / *block;
    *labels = to;
    return KSPEC_OK;
}
