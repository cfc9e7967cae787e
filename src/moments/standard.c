/*
 * Divides columns by their standard deviations, and corrects estimates for the errors of these standard
 * deviations.
 */
#include "moments/prepare.h"

#include "base/error.h"
#include "base/matrix.h"

#include <float.h>
#include <math.h>

static int is_seen(const size_t *row_trials, size_t t, size_t i) { return !row_trials || t < row_trials[i]; }

/* The sum of squares of a column about each trial's mean, and the degrees of freedom of this sum. */
typedef struct {
    double unit; /* keeps squares finite */
    double squares, degrees;
} spread;

static spread spread_of(const kspec_matrix *phi, size_t ntrials, const size_t *row_trials, size_t j) {
    spread all = {.unit = 1};
    double most = 0;
    for (size_t t = 0; t < ntrials; t++)
        for (size_t i = 0; i < phi->rows; i++)
            if (is_seen(row_trials, t, i)) most = fmax(most, fabs(ks_at(&phi[t], i, j)));
    if (most > 0 && isfinite(most)) all.unit = fmin(1 / most, DBL_MAX);
    for (size_t t = 0; t < ntrials; t++) {
        double mean = 0, squares = 0, count = 0;
        for (size_t i = 0; i < phi->rows; i++) {
            const double x = is_seen(row_trials, t, i) ? ks_at(&phi[t], i, j) * all.unit : NAN;
            if (isnan(x)) continue;
            const double d = x - mean;
            mean += d / ++count;
            squares += d * (x - mean);
        }
        if (count > 1) all.squares += squares, all.degrees += count - 1;
    }
    return all;
}

static int have_one_shape(const kspec_matrix *phi, size_t ntrials) {
    for (size_t t = 0; t < ntrials; t++)
        if (!phi[t].data || phi[t].rows != phi->rows || phi[t].cols != phi->cols) return 0;
    return ntrials > 0;
}

kspec_status ks_standardize(const kspec_matrix **phi, size_t ntrials, const size_t *row_trials,
                            ks_arena *arena, kspec_error *err) {
    const kspec_matrix *from = *phi;
    if (!from || !have_one_shape(from, ntrials)) return KSPEC_OK;
    const size_t P = from->rows, Q = from->cols, each = ks_size(P, Q);
    kspec_matrix *to = ks_arena_alloc(arena, ntrials, sizeof *to);
    double *x = ks_arena_alloc(arena, ks_size(ntrials, each), sizeof *x);
    if (arena->failed) return ks_nomem(err, "the standardized matrix", arena->failed);
    for (size_t t = 0; t < ntrials; t++) to[t] = ks_matrix_of(x + t * each, P, Q);
    for (size_t j = 0; j < Q; j++) {
        const spread s = spread_of(from, ntrials, row_trials, j);
        /* A column that varies only by rounding counts as constant. */
        const double sd = sqrt(s.squares / s.degrees);
        const int varies = sd > 4 * DBL_EPSILON && isfinite(sd);
        for (size_t t = 0; t < ntrials; t++)
            for (size_t i = 0; i < P; i++) {
                const double value = ks_at(&from[t], i, j);
                x[t * each + i * Q + j] = varies ? value * s.unit / sd : value;
            }
    }
    *phi = to;
    return KSPEC_OK;
}

/*
 * Returns the relative change of a column's variance if group g of the rows is left out. mean and count list
 * the mean and the number of entries of each trial in this column.
 */
static double change_without(const kspec_matrix *phi, size_t ntrials, const size_t *row_trials, size_t j,
                             const ks_groups *rows, size_t g, const double *mean, const double *count,
                             const spread *all) {
    const size_t from = rows->of ? rows->start[g] : g, to = rows->of ? rows->start[g + 1] : g + 1;
    spread rest = *all;
    for (size_t t = 0; t < ntrials; t++) {
        double sum = 0, squares = 0, n = 0;
        for (size_t k = from; k < to; k++) {
            const size_t i = rows->of ? rows->member[k] : k;
            if (!is_seen(row_trials, t, i)) continue;
            const double d = ks_at(&phi[t], i, j) * all->unit - mean[t];
            sum += d, squares += d * d, n++;
        }
        if (n > 0 && count[t] > n) rest.squares -= squares + sum * sum / (count[t] - n), rest.degrees -= n;
    }
    const double ratio = rest.squares / rest.degrees / (all->squares / all->degrees) - 1;
    return isfinite(ratio) ? ratio : 0;
}

kspec_status ks_standard_left_out(const kspec_matrix *phi, size_t ntrials, const size_t *row_trials,
                                  const ks_groups *rows, const ks_left_out *list, size_t count,
                                  kspec_error *err) {
    const size_t Q = phi->cols;
    ks_arena arena = {0};
    double *mean = ks_arena_alloc(&arena, ntrials, sizeof *mean),
           *seen = ks_arena_alloc(&arena, ntrials, sizeof *seen);
    if (arena.failed) {
        ks_arena_free(&arena);
        return ks_nomem(err, "standard deviations", arena.failed);
    }
    for (size_t j = 0; j < Q; j++) {
        const spread all = spread_of(phi, ntrials, row_trials, j);
        if (!(all.squares > 0)) continue;
        for (size_t t = 0; t < ntrials; t++) {
            mean[t] = seen[t] = 0;
            for (size_t i = 0; i < phi->rows; i++)
                if (is_seen(row_trials, t, i))
                    mean[t] += (ks_at(&phi[t], i, j) * all.unit - mean[t]) / ++seen[t];
        }
        for (size_t g = 0; g < rows->count; g++) {
            const double d = change_without(phi, ntrials, row_trials, j, rows, g, mean, seen, &all);
            for (size_t k = 0; k < count; k++)
                list[k].rows[g] -= d * (list[k].all - ((double)Q - list[k].n) / (double)Q * list[k].cols[j]);
        }
    }
    ks_arena_free(&arena);
    return KSPEC_OK;
}
