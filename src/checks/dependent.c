/*
 * Finds rows that are alike: neighbours that are more alike than other pairs, or pairs that are far more
 * alike than all others. Both checks use a sample of the rows and columns of the first two trials. A product
 * takes one factor from each trial, so that noise averages out. With one trial, both factors come from it.
 */
#include "checks/parts.h"

#include "base/error.h"
#include "base/matrix.h"
#include "base/streams.h"
#include "linalg/cholesky.h"
#include "linalg/linalg.h"

#include <math.h>

/*
 * The size of the sample: all rows up to ROWS, or windows of WINDOW neighbours; COLS columns; and PAIRED rows
 * whose pairs are all compared
 */
enum { ROWS = 1024, WINDOW = 64, COLS = 96, PAIRED = 256, LEAST = 20, LAGS = 6 };

typedef struct {
    const ks_checked *c;
    size_t rows, window, cols;
    size_t *row, *col; /* the numbers of the sampled rows and columns */
    /* a random order of the sampled rows, and the place of each row in this order */
    size_t *order, *place;
    /* in this order, the rows of each trial, rows x cols, centred by column and scaled to length 1 (or 0) */
    double *unit[2];
    double *square; /* in this order, the squared length of each row */
    /* the products of all pairs of the first `paired` rows (with one trial, below the diagonal) */
    size_t paired;
    double *product;
} sample;

/* ---- the sample ---- */

/* centers: the sampled columns' centres in this trial */
static void fill(sample *s, size_t trial, const double *centers, double *x, double *square) {
    const ks_checked *c = s->c;
    for (size_t n = 0; n < s->rows; n++) {
        const size_t row = s->row[s->order[n]];
        double *restrict to = x + n * s->cols, most = 0, sum = 0;
        const int seen = ks_is_seen(c, trial, row);
        for (size_t k = 0; k < s->cols; k++) {
            const double value = seen ? ks_at(&c->phi[trial], row, s->col[k]) : NAN;
            to[k] = isnan(value) ? 0 : value - centers[k];
        }
        for (size_t k = 0; k < s->cols; k++) most = fabs(to[k]) > most ? fabs(to[k]) : most;
        for (size_t k = 0; k < s->cols && most > 0; k++) to[k] /= most;
        for (size_t k = 0; k < s->cols && most > 0; k++) sum += to[k] * to[k];
        const double length = sqrt(sum);
        for (size_t k = 0; k < s->cols && most > 0; k++) to[k] /= length;
        if (square) square[n] = most * most * sum;
    }
}

static int sample_make(const ks_checked *c, const ks_scan *all, sample *s, ks_arena *arena) {
    const size_t P = c->phi->rows, Q = c->phi->cols;
    const int two = c->ntrials > 1;
    *s = (sample){.c = c, .rows = P < ROWS ? P : ROWS, .cols = Q < COLS ? Q : COLS};
    s->window = s->rows == P ? P : WINDOW;
    s->row = ks_arena_alloc(arena, s->rows, sizeof *s->row);
    s->col = ks_arena_alloc(arena, s->cols, sizeof *s->col);
    s->square = ks_arena_alloc(arena, s->rows, sizeof *s->square);
    for (int k = 0; k <= two; k++)
        s->unit[k] = ks_arena_alloc(arena, ks_size(s->rows, s->cols), sizeof(double));
    s->paired = s->rows < PAIRED ? s->rows : PAIRED;
    s->order = ks_arena_alloc(arena, s->rows, sizeof *s->order);
    s->place = ks_arena_alloc(arena, s->rows, sizeof *s->place);
    s->product = ks_arena_alloc(arena, ks_size(s->paired, s->paired), sizeof(double));
    double *centers = ks_arena_alloc(arena, s->cols, sizeof *centers);
    if (arena->failed) return 0;
    const size_t windows = s->rows / s->window;
    for (size_t i = 0; i < s->rows; i++)
        s->row[i] = i / s->window * (P - s->window) / (windows > 1 ? windows - 1 : 1) + i % s->window;
    ks_random_permutation(0, ks_stream(KS_STREAM_CHECK, 0), s->rows, s->order);
    for (size_t n = 0; n < s->rows; n++) s->place[s->order[n]] = n;
    for (size_t k = 0; k < s->cols; k++) s->col[k] = k * Q / s->cols, centers[k] = all->center[s->col[k]];
    fill(s, 0, centers, s->unit[0], s->square);
    if (s->unit[1]) {
        ks_scan_centers(c, 1, s->cols, s->col, centers);
        fill(s, 1, centers, s->unit[1], NULL);
    } else
        s->unit[1] = s->unit[0];
    const size_t n = s->paired;
    if (two)
        ks_gemm(0, 1, n, n, s->cols, 1, s->unit[0], s->cols, s->unit[1], s->cols, 0, s->product, n);
    else
        ks_syrk(0, n, s->cols, 1, s->unit[0], s->cols, s->product, n);
    return 1;
}

/* Returns 1 if the sample's rows i and k are in different groups. */
static int apart(const sample *s, size_t i, size_t k) {
    const uint64_t *groups = s->c->row_groups;
    return !groups || groups[s->row[i]] != groups[s->row[k]];
}

/* ---- neighbours ---- */

/*
 * Compare with z of lag l: the mean cosine of rows i and i + l, minus the mean cosine of all pairs, divided
 * by the standard error for exchangeable rows. In 20,000 matrices of independent rows no z above this bound
 * occurred at any of six lags (docs/explanation/dimension.md).
 */
static const double ALIKE = 4.5;

static void doubt_neighbours(ks_doubts to, const char *where, const sample *s) {
    const size_t n = s->paired;
    const int two = s->unit[0] != s->unit[1], plain = !two && !s->c->row_groups; /* every pair counts */
    double sum = 0, squares = 0, count = 0, most = 0;
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        const double *p = s->product + i * n;
        for (size_t k = 0; k < i && plain; k++) sum += p[k], squares += p[k] * p[k];
        for (size_t k = 0; k < (two ? n : i) && !plain; k++) {
            const double own = i == k || !apart(s, s->order[i], s->order[k]) ? 0 : 1;
            sum += own * p[k], squares += own * (p[k] * p[k]), count += own;
        }
    }
    if (plain) count = 0.5 * (double)n * (double)(n - 1);
    const double mean = sum / count, spread = sqrt(squares / count - mean * mean);
    if (!(count > 0 && spread > 1e-9)) return;
    for (size_t lag = 1, l = 0; l < LAGS && 4 * lag <= s->c->phi->rows; l++, lag *= 2) {
        double lagged = 0, pairs = 0;
        for (size_t i = 0; i + lag < s->rows; i++) {
            if (i / s->window != (i + lag) / s->window || !apart(s, i, i + lag)) continue;
            const double *a = s->unit[0] + s->place[i] * s->cols,
                         *b = s->unit[1] + s->place[i + lag] * s->cols;
            lagged += ks_dot(s->cols, a, b), pairs++;
        }
        const double z = (lagged / pairs - mean) / (spread / sqrt(pairs));
        if (pairs >= 10 && z > most) most = z, at = lag;
    }
    char what[40] = "neighbouring rows";
    if (most <= ALIKE) return;
    if (at > 1) ks_print(what, sizeof what, "rows %zu apart", at);
    ks_doubt(to, KSPEC_DOUBT_NEIGHBOURS_ALIKE, where, what, (double)at, most);
}

/* ---- near copies ---- */

static double distance_of(const sample *s, size_t i, size_t k) {
    const double product = s->product[i * s->paired + k];
    if (!(product > 0.5)) return INFINITY; /* the distance is at least 1/2, and all that count are smaller */
    const double a = s->square[i], b = s->square[k], d = 1 - 2 * sqrt(a) * sqrt(b) / (a + b) * product;
    return d > 1e-12 && apart(s, s->order[i], s->order[k]) ? d : INFINITY;
}

/*
 * The distance of two rows is |a - b|^2 / (|a|^2 + |b|^2), about 1 for independent rows. For a smooth
 * distribution the number of pairs below a distance grows at least twofold when the distance doubles. If
 * there are pairs below some distance, but hardly more below twice that distance, they are copies of each
 * other except for noise.
 */
static void doubt_copies(ks_doubts to, const char *where, const sample *s, ks_arena *arena) {
    enum { STEPS = 16, MOST = 5 };
    const size_t n = s->paired;
    double below[STEPS] = {0};
    unsigned char *near = ks_arena_zalloc(arena, n, 1);
    if (arena->failed) return;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++) {
            if (!(s->product[i * n + k] > 0.5)) continue;
            const double d = distance_of(s, i, k);
            for (int step = 1; step < STEPS && d < ldexp(1, -step); step++) below[step]++;
        }
    const double least = fmax(12, 0.05 * (double)n);
    /* Distances are squared, so two steps double the distance. */
    for (int step = 1; step + 2 < STEPS; step++) {
        const double copies = below[step + 2];
        if (copies < least || copies > MOST * (double)n || below[step] > 1.15 * copies) continue;
        size_t rows = 0, first[2] = {0, 0};
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < i; k++) {
                if (!(distance_of(s, i, k) < ldexp(1, -step - 2))) continue;
                if (!first[0] && !first[1]) first[0] = s->row[s->order[i]], first[1] = s->row[s->order[k]];
                near[i] = near[k] = 1;
            }
        for (size_t i = 0; i < n; i++) rows += near[i];
        ks_doubt(to, KSPEC_DOUBT_NEAR_COPIES, where, NULL, (double)rows / (double)n, (double)first[0],
                 (double)first[1]);
        return;
    }
}

void ks_check_dependent(ks_doubts to, const char *where, const ks_checked *c, const ks_scan *all,
                        int repeated, ks_arena *arena) {
    sample s;
    if (c->phi->rows < LEAST || c->phi->cols < 2 || !(all->all > 0) || !isfinite(all->all)) return;
    if (ks_blas_enter(1, NULL)) {
        arena->failed = 1;
        return;
    }
    const int made = sample_make(c, all, &s, arena);
    ks_blas_exit();
    if (!made) return;
    if (!c->series) doubt_neighbours(to, where, &s);
    if (!repeated && c->ntrials == 1) doubt_copies(to, where, &s, arena);
}
