/*
 * Estimates how the noise variance differs between columns, and maps this difference to its effect on the
 * spectrum.
 */
#include "fit/columns.h"

#include "base/error.h"
#include "base/matrix.h"
#include "fit/tuning.h"

#include <math.h>
#include <string.h>

static ks_cplx inverse(ks_cplx a) {
    double n = ks_cabs2(a);
    return (ks_cplx){a.re / n, -a.im / n};
}

/* ---- map ---- */

static ks_columns_at equal_columns(double v, ks_cplx c) {
    ks_cplx kappa = {c.re + v, c.im}, d = inverse(kappa), share = ks_cmul(c, d);
    ks_cplx part = {v * d.re, v * d.im}, slope = ks_cmul(part, share);
    return (ks_columns_at){.kappa = kappa,
                           .slope = {1, 0},
                           .part = part,
                           .part_slope = {-slope.re, -slope.im},
                           .pull = 1,
                           .weight = v * ks_cabs2(d)};
}

ks_columns_at ks_columns_sums(const ks_columns *law, double v, ks_cplx c) {
    if (!law->count) return equal_columns(v, c);
    ks_cplx g = {0, 0}, g2 = {0, 0};
    double lorentz = 0;
    ks_columns_at at = {{0, 0}, {0, 0}, {0, 0}, {0, 0}, 0, 0, 0};
    for (size_t k = 0; k < law->count; k++) {
        double x = v * law->ratio[k], w = law->share[k];
        ks_cplx d = inverse((ks_cplx){c.re + x, c.im}), dd = ks_cmul(d, d), cdd = ks_cmul(c, dd);
        g.re += w * d.re, g.im += w * d.im;
        g2.re += w * dd.re, g2.im += w * dd.im;
        at.part.re += w * x * d.re, at.part.im += w * x * d.im;
        at.part_slope.re -= w * x * cdd.re, at.part_slope.im -= w * x * cdd.im;
        at.angle += w * atan2(c.im, c.re + x);
        lorentz += w * ks_cabs2(d);
        at.weight += w * x * ks_cabs2(d);
    }
    at.kappa = inverse(g);
    at.slope = ks_cmul(g2, ks_cmul(at.kappa, at.kappa));
    at.angle -= atan2(at.kappa.im, at.kappa.re);
    at.pull = ks_cabs2(g) / lorentz;
    return at;
}

ks_cplx ks_columns_solve(const ks_columns *law, double v, ks_cplx kappa, ks_cplx guess) {
    ks_cplx c = isnan(guess.re) ? (ks_cplx){kappa.re - v, kappa.im} : guess;
    for (int k = 0; k < 40; k++) {
        ks_columns_at at = ks_columns_sums(law, v, c);
        ks_cplx off = {kappa.re - at.kappa.re, kappa.im - at.kappa.im},
                step = ks_cmul(off, inverse(at.slope));
        double length = sqrt(ks_cabs2(step)), most = 0.3 * (sqrt(ks_cabs2(c)) + v);
        double part = length > most ? most / length : 1;
        c.re += part * step.re, c.im += part * step.im;
        if (length < 1e-11 * (v + sqrt(ks_cabs2(c)))) break;
    }
    return c;
}

/* ---- law ---- */

/*
 * Groups the ratios into KS_COLUMN_LEVELS steps of equal width in log ratio. Computes the mean ratio and the
 * share of the columns for each step.
 */
static void gather(size_t n, const double *ratio, size_t *count, double *mean, double *share) {
    double low = INFINITY, high = 0;
    for (size_t i = 0; i < n; i++) {
        low = fmin(low, fmax(ratio[i], 1e-3));
        high = fmax(high, ratio[i]);
    }
    double step = fmax(log(high / low), 1e-9) / KS_COLUMN_LEVELS;
    for (size_t k = 0; k < KS_COLUMN_LEVELS; k++) mean[k] = share[k] = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = (size_t)fmin(log(fmax(ratio[i], low) / low) / step, KS_COLUMN_LEVELS - 1);
        mean[k] += ratio[i];
        share[k] += 1;
    }
    *count = 0;
    for (size_t k = 0; k < KS_COLUMN_LEVELS; k++) {
        if (!(share[k] > 0)) continue;
        mean[*count] = mean[k] / share[k];
        share[(*count)++] = share[k] / (double)n;
    }
}

kspec_status ks_columns_law(size_t n, const double *variance, double error, ks_arena *arena, ks_columns *law,
                            kspec_error *err) {
    *law = (ks_columns){0};
    double *ratio = ks_arena_alloc(arena, n, sizeof *ratio);
    double *mean = ks_arena_alloc(arena, KS_COLUMN_LEVELS, sizeof *mean);
    double *share = ks_arena_alloc(arena, KS_COLUMN_LEVELS, sizeof *share);
    if (arena->failed) return ks_nomem(err, "the noise of the columns", arena->failed);
    double all = 0, squares = 0;
    for (size_t i = 0; i < n; i++) all += variance[i] / (double)n;
    for (size_t i = 0; i < n; i++) squares += (variance[i] / all - 1) * (variance[i] / all - 1);
    double spread = n > 1 ? squares / (double)(n - 1) : 0, own = spread - error;
    /* Equal columns look unequal by chance. So the excess spread must exceed twice its standard error. */
    if (!(all > 0) || !(own > 2 * error * sqrt(2 / (double)n)) || !(own > KS_COLUMNS_EQUAL)) return KSPEC_OK;
    double shrink = sqrt(own / spread);
    for (size_t i = 0; i < n; i++) ratio[i] = 1 + shrink * (variance[i] / all - 1);
    law->ratio = mean, law->share = share;
    gather(n, ratio, &law->count, mean, share);
    return KSPEC_OK;
}

/* ---- trials ---- */

/*
 * Sets row[j] to the variance of the mean over trials of entry (i,j), estimated from differences of the
 * trials. mean is scratch of Q numbers.
 */
static void row_variances(const ks_trials *t, size_t i, double *mean, double *row) {
    size_t T = t->row_trials ? t->row_trials[i] : t->count;
    double f = ldexp(t->factor, -(t->normalize ? t->normal_exponent : t->exponent));
    for (size_t j = 0; j < t->Q; j++) mean[j] = row[j] = 0;
    for (size_t k = 0; k < T; k++)
        for (size_t j = 0; j < t->Q; j++) mean[j] += f * ks_at(&t->phi[k], i, j) / (double)T;
    for (size_t k = 0; k < T; k++)
        for (size_t j = 0; j < t->Q; j++) {
            double x = f * ks_at(&t->phi[k], i, j) - mean[j];
            row[j] += x * x / ((double)T * (double)(T - 1));
        }
}

kspec_status ks_noise_of_trials(const ks_trials *t, ks_arena *arena, ks_noise *out, kspec_error *err) {
    *out = (ks_noise){.variance = NAN, .own_error = NAN, .error = NAN};
    if (t->count < 2) return KSPEC_OK;
    size_t P = t->P, Q = t->Q;
    double *column = ks_arena_zalloc(arena, Q, sizeof *column),
           *square = ks_arena_zalloc(arena, Q, sizeof *square);
    double *mean = ks_arena_alloc(arena, Q, sizeof *mean), *row = ks_arena_alloc(arena, Q, sizeof *row);
    double *of_row = ks_arena_alloc(arena, P, sizeof *of_row);
    if (arena->failed) return ks_nomem(err, "the noise of the columns", arena->failed);
    double n = (double)P, m = (double)Q, all = 0, own = 0, rows = 0, cols = 0;
    for (size_t i = 0; i < P; i++) {
        row_variances(t, i, mean, row);
        of_row[i] = 0;
        for (size_t j = 0; j < Q; j++) {
            of_row[i] += row[j] / m;
            column[j] += row[j] / n;
            square[j] += row[j] * row[j];
        }
        all += of_row[i] / n;
    }
    out->variance = all;
    out->column = column;
    if (!(all > 0) || P < 2 || Q < 2) return KSPEC_OK;
    /* `own` is the squared error of a column's variance, averaged over columns. */
    for (size_t j = 0; j < Q; j++) {
        own += fmax(square[j] / n - column[j] * column[j], 0) / (n - 1) / m;
        cols += (column[j] - all) * (column[j] - all) / (m * (m - 1));
    }
    for (size_t i = 0; i < P; i++) rows += (of_row[i] - all) * (of_row[i] - all) / (n * (n - 1));
    own /= all * all;
    out->own_error = sqrt(own / m);
    /*
     * The spread over rows and the spread over columns both contain the entries' own error. So the code
     * subtracts the entries' error once.
     */
    out->error = sqrt(fmax((rows + cols) / (all * all) - own / m, own / m));
    return ks_columns_law(Q, column, own, arena, &out->law, err);
}
