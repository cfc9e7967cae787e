/* Computes the participation ratio, with error bar and rounding, from the second-order estimates. */
#include "base/error.h"
#include "moments/jackknife.h"
#include "moments/second.h"

#include <float.h>
#include <math.h>

double ks_second_excess(const ks_second *s, const double *logs) {
    double mean = 0;
    for (size_t k = 1; k <= s->P; k++) {
        double excess = logs[k] - logs[0];
        if (s->rows > (double)s->P) excess -= s->square[k] / s->square[0] - s->moment[k] / s->moment[0];
        mean += excess / (double)s->P;
    }
    return mean;
}

double ks_ratio(double square, double moment) { return square > 0 && moment > 0 ? square / moment : NAN; }

static double lost_of(const ks_second *s, int what, size_t k) {
    const ks_lost *l = &s->lost[what];
    return k == 0 ? l->all : k <= s->P ? l->row : l->col;
}

/* Are all values positive and larger than their rounding errors? */
static int all_positive(const ks_second *s) {
    const double digit = 10;
    for (size_t k = 0; k < 1 + s->P + s->Q; k++)
        if (!(s->square[k] > digit * lost_of(s, 1, k) && s->moment[k] > digit * lost_of(s, 2, k))) return 0;
    return 1;
}

void ks_log_ratios(const ks_second *s, double *out) {
    const size_t count = 1 + s->P + s->Q;
    const int positive = all_positive(s);
    double log_all = log(ks_ratio(s->square[0], s->moment[0]));
    for (size_t k = 0; k < count; k++)
        out[k] = positive ? log(s->square[k]) - log(s->moment[k])
                          : log_all + s->square[k] / s->square[0] - s->moment[k] / s->moment[0];
}

double ks_ratio_lost(const ks_second *s, double *spread, double *bias) {
    const int positive = all_positive(s);
    double all = 0, variance = 0;
    *bias = 0;
    for (size_t k = 0; k < 1 + s->P + s->Q; k++) {
        const size_t at = positive ? k : 0;
        const double x = lost_of(s, 1, k) / fabs(s->square[at]) + lost_of(s, 2, k) / fabs(s->moment[at]) +
                         2 * KS_LOST_OF_ITSELF;
        const int col = k > s->P;
        const double N = col ? (double)s->Q : s->rows,
                     f = s->share[col] * (N - 1) / (double)(col ? s->Q : s->P);
        if (k == 0)
            all = x;
        else if (f > 0)
            variance += f * x * x, *bias += f * (x + all);
    }
    *spread = sqrt(variance);
    return all;
}

kspec_status ks_second_check(const ks_second *s, const char *what, kspec_error *err) {
    for (int k = 2; k > 0; k--) {
        const double value = k == 2 ? s->moment[0] : s->square[0], lost = s->lost[k].all;
        if (!(lost >= fabs(value) && lost > KS_RATIO_NOTHING * s->square[0])) continue;
        if (s->moment[0] == 0 && s->square[0] == 0) continue; /* nothing varies */
        return ks_refuse(err, KSPEC_E_NUMERIC, "standardize", NULL,
                         "%s: rounding may have moved %s by %.2g, more than its value %.2g: an entry, a "
                         "row or a column is too large next to the others",
                         what, k == 2 ? "m(2)" : "m(1)^2", ldexp(lost, 4 * s->exponent),
                         ldexp(value, 4 * s->exponent));
    }
    return KSPEC_OK;
}

/*
 * The function computes the interval for the logarithm, because the ratio is nearly symmetric on that scale.
 * A kernel, centred or not, has no negative eigenvalue, so the sum of lambda^2 is at most (sum of lambda)^2.
 * Noise that is independent in every entry increases only the trace. So the true ratio is at least 1, and the
 * interval ends at 1. The estimate itself may be smaller than 1.
 */
kspec_status ks_ratio_errors(const ks_second *s, ks_dimensionality *d, ks_arena *arena, kspec_error *err) {
    const double skew_of_both = 0.5;
    double *logs = ks_arena_alloc(arena, 1 + s->P + s->Q, sizeof *logs), ends[2];
    if (!logs) return ks_nomem(err, "the jackknife", arena->failed);
    *d = (ks_dimensionality){.value = ks_ratio(s->square[0], s->moment[0]),
                             .rounding = NAN,
                             .bar = {.std_error = NAN, .low = NAN, .high = NAN, .degrees = INFINITY},
                             .side = {NAN, NAN}};
    if (isnan(d->value)) return KSPEC_OK;
    double error, bias;
    const double lost = ks_ratio_lost(s, &error, &bias);
    d->rounding = lost * d->value;
    ks_log_ratios(s, logs);
    ks_spread spread = {0};
    ks_spread_add_sample(&spread, logs + 1, s->P, s->rows, s->share[0], ks_second_excess(s, logs));
    const double rows = spread.variance;
    ks_spread_add(&spread, logs + 1 + s->P, s->Q, s->share[1], logs[0]);
    if (!isfinite(spread.variance)) return KSPEC_OK;
    d->side[0] = rows, d->side[1] = spread.variance - rows;
    ks_spread_ends(&spread, skew_of_both, ends);
    const double wider = spread.variance > 0 ? 1 + error / sqrt(spread.variance) : 1;
    ends[0] = wider * ends[0] - lost - bias, ends[1] = wider * ends[1] + lost + bias;
    d->bar = (ks_error_bar){d->value * sqrt(spread.variance),
                            fmax(1, d->value * exp(ends[0])),
                            fmin(DBL_MAX, fmax(1, d->value * exp(ends[1]))),
                            ks_spread_degrees(&spread),
                            spread.variance > 0 ? spread.most / spread.variance : 0,
                            spread.which};
    return KSPEC_OK;
}
