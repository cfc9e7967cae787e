/* Recomputes second-order estimates with twice the digits if rounding may have spoiled them. */
#include "moments/careful.h"

#include "base/center.h"
#include "base/error.h"
#include "base/matrix.h"
#include "base/streams.h"
#include "moments/trials_device.h"
#include "pairs/twice.h"

#include <math.h>
#include <string.h>

/* With twice the digits, MOST_WORK products of a row and two columns take a few seconds. */
static const double MOST_WORK = 2e8;

/* A value, and its change when one row or column is left out, may have this relative rounding error. */
static const double ENOUGH = 1e-4;

static double lost_at(const ks_lost *lost, size_t P, size_t k) {
    return k == 0 ? lost->all : k <= P ? lost->row : lost->col;
}

/*
 * Every value must be accurate, and so must half of the changes that leave-one-out causes. A few inaccurate
 * changes hardly affect an error bar. A change is seldom smaller than the value divided by the number of rows
 * or columns, so most data pass the test without counting. Under pure noise the value itself is near 0, and
 * the changes are much larger.
 */
int ks_lost_matters(const double *values, size_t P, size_t count, const ks_lost *lost) {
    int close = 0;
    for (size_t k = 0; k < count; k++) {
        const double x = lost_at(lost, P, k);
        if (x > ENOUGH * fabs(values[k])) return 1;
        close |= x * (double)count > ENOUGH * fabs(values[k]);
    }
    size_t small = 0;
    for (size_t k = 1; k < count && close; k++)
        small += lost_at(lost, P, k) + lost->all > ENOUGH * fabs(values[k] - values[0]);
    return 2 * small > count;
}

/* ---- trials ---- */

static size_t trials_of(const ks_trials *t, size_t row) {
    return t->row_trials ? t->row_trials[row] : t->count;
}

/* Sets row i of X to row i of the scaled mean over the listed trials. */
static void mean_row(const ks_trials *t, const size_t *which, size_t count, size_t i, ks_twice_matrix *X) {
    const int e = -(t->normalize ? t->normal_exponent : t->exponent);
    for (size_t j = 0; j < t->Q; j++) {
        ks_twice sum = {0, 0};
        for (size_t k = 0; k < count; k++)
            sum = ks_twice_add(sum, ks_twice_of(ldexp(ks_at(&t->phi[which[k]], i, j), e)));
        if (count > 1) sum = ks_twice_over(sum, (double)count);
        if (t->factor != 1) sum = ks_twice_times(sum, t->factor);
        X->hi[j * X->stride + i] = sum.hi, X->lo[j * X->stride + i] = sum.lo;
    }
}

/* Subtracts the mean of each column, computed from differences to the column's first entry. */
static void centre(ks_twice_matrix *X) {
    for (size_t j = 0; j < X->Q; j++) {
        double *hi = X->hi + j * X->stride, *lo = X->lo + j * X->stride;
        const ks_twice first = ks_twice_minus((ks_twice){hi[0], lo[0]});
        ks_twice mean = {0, 0};
        for (size_t i = 0; i < X->P; i++) {
            const ks_twice x = ks_twice_add((ks_twice){hi[i], lo[i]}, first);
            mean = ks_twice_add(mean, x), hi[i] = x.hi, lo[i] = x.lo;
        }
        mean = ks_twice_minus(ks_twice_over(mean, (double)X->P));
        for (size_t i = 0; i < X->P; i++) {
            const ks_twice x = ks_twice_add((ks_twice){hi[i], lo[i]}, mean);
            hi[i] = x.hi, lo[i] = x.lo;
        }
    }
}

/* Computes both halves of split r of the trials. With one trial, both halves are that trial. */
static kspec_status halves(const ks_measured *m, uint64_t seed, size_t r, ks_twice_matrix *A,
                           ks_twice_matrix *B, ks_arena *arena, kspec_error *err) {
    const ks_trials *t = &m->trials;
    size_t *order = ks_arena_alloc(arena, t->count, sizeof *order);
    kspec_status st = ks_twice_matrix_make(t->P, t->Q, A, arena, err);
    if (!st && t->count > 1) st = ks_twice_matrix_make(t->P, t->Q, B, arena, err);
    if (!st && arena->failed) st = ks_nomem(err, "the trials", arena->failed);
    if (st) return st;
    for (size_t k = 0; k < t->count; k++) order[k] = k;
    if (t->split) ks_random_permutation(seed, ks_stream(KS_STREAM_SPLIT, r), t->count, order);
    for (size_t i = 0; i < t->P; i++) {
        const size_t T = trials_of(t, i), half = T > 1 ? T / 2 : 1;
        if (t->split && t->row_trials)
            ks_random_permutation(seed, ks_stream(KS_STREAM_RAGGED, r * t->P + i), T, order);
        mean_row(t, order, half, i, A);
        if (t->count > 1) mean_row(t, order + half, T - half, i, B);
    }
    if (ks_centred(t->center)) centre(A);
    if (t->count == 1)
        *B = *A;
    else if (ks_centred(t->center))
        centre(B);
    return KSPEC_OK;
}

/* ---- estimates ---- */

/* Does this matrix have independent rows and columns and no missing entries? */
static int suits(const ks_measured *m) { return !m->rows.of && !m->cols.of && !m->trials.pairwise; }

kspec_status ks_second_careful(const ks_run *run, const ks_measured *m, int splits, uint64_t seed,
                               ks_second *s, int *made, kspec_error *err) {
    const ks_trials *t = &m->trials;
    const size_t P = t->P, Q = t->Q, repeats = ks_trials_splits(t, splits);
    *made = suits(m) && ks_twice_work(P, Q, Q, 1) * (double)repeats <= MOST_WORK;
    if (!*made) return KSPEC_OK;
    if (t->on_device) return KS_RETRY_ON_HOST;
    memset(s->trace, 0, (1 + P + Q) * sizeof *s->trace);
    memset(s->square, 0, (1 + P + Q) * sizeof *s->square);
    memset(s->moment, 0, (1 + P + Q) * sizeof *s->moment);
    memset(s->lost, 0, sizeof s->lost);
    kspec_status st = KSPEC_OK;
    for (size_t r = 0; r < repeats && !st; r++) {
        ks_arena arena = {0};
        ks_twice_matrix A, B;
        const ks_run part = ks_run_part(run, (double)r / (double)repeats, (double)(r + 1) / (double)repeats);
        st = halves(m, seed, r, &A, &B, &arena, err);
        const ks_twice_two two = {.X = &A,
                                  .Z = &B,
                                  .Y = &B,
                                  .W = &A,
                                  .same = 1,
                                  .centered = ks_centred(t->center),
                                  .rows = m->population[0],
                                  .columns = isinf(m->population[1]) ? 0 : m->population[1]};
        const ks_twice_out out = {1 / (double)repeats, s->trace,    s->square,  s->moment,
                                  &s->lost[0],         &s->lost[1], &s->lost[2]};
        if (!st) st = ks_twice_make(&part, &two, &out, err);
        ks_arena_free(&arena);
    }
    /* the jackknife skips complete sides */
    for (size_t k = 1; k < 1 + P + Q && !st; k++)
        if (!(m->population[k > P] > (double)(k > P ? Q : P)))
            s->trace[k] = s->trace[0], s->square[k] = s->square[0], s->moment[k] = s->moment[0];
    return st;
}

kspec_status ks_cross_careful(const ks_run *run, const ks_measured *first, const ks_measured *second,
                              int splits, uint64_t seed, double *cross, ks_lost *lost, int *made,
                              kspec_error *err) {
    const ks_trials *t = &first->trials, *u = &second->trials;
    const size_t P = t->P, Q = t->Q, R = u->Q, a = ks_trials_splits(t, splits),
                 b = ks_trials_splits(u, splits), repeats = a > b ? a : b;
    *made = suits(first) && suits(second) && ks_twice_work(P, Q, R, 0) * (double)repeats <= MOST_WORK;
    if (!*made) return KSPEC_OK;
    if (t->on_device) return KS_RETRY_ON_HOST;
    memset(cross, 0, (1 + P + Q + R) * sizeof *cross);
    *lost = (ks_lost){0};
    kspec_status st = KSPEC_OK;
    for (size_t r = 0; r < repeats && !st; r++) {
        ks_arena arena = {0};
        ks_twice_matrix X, Z, Y, W;
        const ks_run part = ks_run_part(run, (double)r / (double)repeats, (double)(r + 1) / (double)repeats);
        st = halves(first, seed, r, &X, &Z, &arena, err);
        if (!st) st = halves(second, seed, r, &W, &Y, &arena, err);
        const ks_twice_two two = {.X = &X,
                                  .Z = &Z,
                                  .Y = &Y,
                                  .W = &W,
                                  .centered = ks_centred(t->center),
                                  .rows = first->population[0]};
        const ks_twice_out out = {.weight = 1 / (double)repeats, .cross = cross, .of_cross = lost};
        if (!st) st = ks_twice_make(&part, &two, &out, err);
        ks_arena_free(&arena);
    }
    for (size_t k = 1; k < 1 + P + Q + R && !st; k++) {
        const int rows = k <= P, of_first = !rows && k <= P + Q;
        const double all = rows ? first->population[0] : (of_first ? first : second)->population[1];
        if (!(all > (double)(rows ? P : of_first ? Q : R))) cross[k] = cross[0];
    }
    return st;
}
