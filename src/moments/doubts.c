/* Finds reasons to doubt estimated moments and the dimension computed from these moments. */
#include "moments/doubts.h"

#include "base/error.h"
#include "base/matrix.h"
#include "base/result.h"
#include "base/student.h"
#include "moments/plan.h"

#include <float.h>
#include <math.h>

int ks_estimate_doubtful(const kspec_estimate *e) {
    /* Standardized data have m(1) = 1, so m(1) has no error except rounding. */
    const double value = fabs(e->value);
    return e->rounding > 0.1 * (isfinite(e->std_error) ? fmax(e->std_error, 1e-12 * value) : value);
}

/* A dimension is rough if its uncertainty factor exceeds ROUGH, and practically unknown above UNKNOWN. */
static const double ROUGH = 1.75, UNKNOWN = 10;

void ks_doubt_dimension(ks_doubts to, const char *where, const ks_doubted *d) {
    /* The interval extends by a factor to each side. */
    const double factor = exp(KS_Z95 * d->std_error / d->value);
    if (d->value < 1 - 1e-9) /* rounding may lower 1 slightly */
        ks_doubt(to, KSPEC_DOUBT_DIMENSION_BELOW_ONE, where, NULL, d->value);
    else if (factor > UNKNOWN)
        ks_doubt(to, KSPEC_DOUBT_DIMENSION_UNKNOWN, where, NULL, factor);
    else if (factor > ROUGH)
        ks_doubt(to, KSPEC_DOUBT_DIMENSION_ROUGH, where, NULL, factor);
    if (isfinite(d->value) && !(d->moment > 0))
        ks_doubt(to, KSPEC_DOUBT_UNDERFLOW, where, NULL, 0);
    else if (!isfinite(d->value) && d->constant)
        ks_doubt(to, KSPEC_DOUBT_NO_VARIATION, where, d->constant, 0);
    else if (!isfinite(d->value)) {
        const int second = !(d->moment > 0);
        ks_doubt(to, KSPEC_DOUBT_DIMENSION_UNDEFINED, where, second ? "m(2)" : "m(1)^2",
                 second ? d->moment : d->square);
    }
}

/*
 * With fewer than FEW_DEGREES degrees of freedom, intervals cover the truth less often than their nominal
 * level (docs/calibration.md). A small matrix always has few degrees of freedom, and Student's quantile
 * allows for the small number. A row or column stands out if it contributes TIMES_ITS_SHARE times as much as
 * an average one. From WARNED degrees on, the message is a note instead of a warning. By chance, one normal
 * matrix in 25 has only 15 degrees, and hardly any normal matrix has fewer than 8.
 */
static const double FEW_DEGREES = 15, WARNED = 8, TIMES_ITS_SHARE = 8;

void ks_doubt_dominated(ks_doubts to, const char *what, const ks_error_bar *bar, const ks_labels *of) {
    const int col = bar->which >= of->rows, group = col ? of->col_groups : of->row_groups;
    if (!(bar->degrees < FEW_DEGREES)) return;
    if (bar->part * (double)(col ? of->cols : of->rows) < TIMES_ITS_SHARE) return;
    const size_t index = col ? bar->which - of->rows : bar->which;
    char text[120];
    ks_print(text, sizeof text, "%s%s %zu (from 0) makes %.0f%% of the variance of %s",
             col != of->turned ? "column" : "row", group ? " group" : "", index, 100 * bar->part, what);
    ks_doubt(to, KSPEC_DOUBT_DOMINATED, NULL, text, bar->degrees, bar->part, (double)index);
    if (bar->degrees >= WARNED) ks_doubt_lower(to);
}

void ks_doubt_orders_left_out(ks_doubts to, int first, int last) {
    char what[40], setting[12];
    if (!first || last < first) return;
    ks_print(what, sizeof what, first == last ? "m(%d)" : "m(%d) and m(%d)", first, last);
    ks_print(setting, sizeof setting, "%d", last);
    ks_doubt_left_out(to, what, "nmax", setting);
}

/* ---- moments ---- */

/*
 * Returns the lowest order n at which m(n) underflows but its root does not. Returns 0 if no such order
 * exists.
 */
static int underflow(const kspec_moments_result *r) {
    int lowest = 0;
    for (size_t k = 0; k < r->count; k++) {
        const kspec_estimate *e = r->estimates[k];
        if (e->root != 0 && fabs(e->value) < DBL_MIN && (!lowest || e->n < lowest)) lowest = e->n;
    }
    return lowest;
}

kspec_status ks_moments_check(const kspec_moments_result *r, const kspec_matrix *phi, size_t ntrials,
                              kspec_error *err) {
    double most = 0;
    for (size_t k = 0; k < r->count; k++)
        if (r->estimates[k]->value != 0 || r->estimates[k]->root != 0) return KSPEC_OK;
    for (size_t t = 0; t < ntrials; t++)
        for (size_t p = 0; p < phi[t].rows; p++)
            for (size_t q = 0; q < phi[t].cols; q++)
                if (fabs(ks_at(&phi[t], p, q)) < sqrt(DBL_MIN)) most = fmax(most, fabs(ks_at(&phi[t], p, q)));
    if (!(most > 0)) return KSPEC_OK;
    return ks_refuse(err, KSPEC_E_NUMERIC, "normalize", NULL,
                     "m(%d) is below the smallest double; scale the data", r->estimates[0]->n);
}

/* Returns the estimator's value of m(n), or NaN. */
static double value_of(const kspec_moments_result *r, kspec_estimator e, int n) {
    for (size_t k = 0; k < r->count; k++)
        if (r->estimates[k]->estimator == e && r->estimates[k]->n == n) return r->estimates[k]->value;
    return NAN;
}

/*
 * Every kernel has m(n) > 0, and Jensen's inequality for the weights lambda/m(1) gives m(n) >=
 * m(2)^(n-1)/m(1)^(n-2). A flat spectrum attains this bound, so an estimate can fall below the bound by
 * chance. A deviation of two standard errors is not chance. Without an error bar, an estimate below half of
 * the bound is not chance either.
 */
static void doubt_bounds(ks_doubts to, const kspec_moments_result *r) {
    for (size_t k = 0; k < r->count; k++) {
        const kspec_estimate *e = r->estimates[k];
        double m1 = value_of(r, e->estimator, 1), m2 = value_of(r, e->estimator, 2),
               bound = e->n > 2 && m1 > 0 && m2 > 0 ? m1 * pow(m2 / m1, e->n - 1) : 0,
               chance = isfinite(e->std_error) ? 2 * e->std_error : 0.5 * bound;
        if (e->value > 0 && !(e->value + chance + e->rounding < bound * (1 - 1e-9))) continue;
        ks_doubt(to, KSPEC_DOUBT_MOMENT_BELOW_BOUND, NULL, ks_estimator_name(e->estimator), e->n, e->value,
                 e->value > 0 ? bound : 0);
        return;
    }
}

/* Finds the first order at which an interval reaches 0. */
static void doubt_orders(ks_doubts to, const kspec_moments_result *r) {
    int first = 0;
    for (size_t k = 0; k < r->count; k++) {
        const kspec_estimate *e = r->estimates[k];
        if (e->estimator == KSPEC_ESTIMATOR_NAIVE || !(e->ci_low <= 0)) continue;
        if (!first || e->n < first) first = e->n;
    }
    if (first) ks_doubt(to, KSPEC_DOUBT_MOMENTS_UNKNOWN, NULL, NULL, first);
}

void ks_doubt_moments(kspec_moments_result *r, size_t rows) {
    const ks_doubts to = KS_DOUBTS(r);
    const int lost = underflow(r);
    if (r->device.unusable) ks_doubt(to, KSPEC_DOUBT_GPU_UNUSED, NULL, r->device.why, 0);
    if (lost) {
        ks_doubt(to, KSPEC_DOUBT_MOMENT_UNDERFLOW, NULL, NULL, lost);
    } else {
        const ks_doubted d = {r->participation_ratio, r->participation_ratio_std_error, 1, 1, NULL};
        if (isfinite(d.value)) ks_doubt_dimension(to, NULL, &d);
        doubt_bounds(to, r);
        doubt_orders(to, r);
    }
    for (size_t k = 0; k < r->count; k++) {
        const kspec_estimate *m = r->estimates[k];
        if (!ks_estimate_doubtful(m)) continue;
        ks_doubt(to, KSPEC_DOUBT_ROUNDING, NULL, isfinite(m->std_error) ? "standard error" : "value", m->n,
                 m->rounding);
        break;
    }
    if (!(r->mean_share > 0.5)) return;
    if (r->center > KSPEC_CENTER_NONE)
        ks_doubt(to, KSPEC_DOUBT_UNEVEN_GROUPS, NULL, NULL, r->mean_share);
    else if (!r->groups && !r->col_groups && !r->missing && rows > 2)
        ks_doubt(to, KSPEC_DOUBT_MEANS_DOMINATE, NULL, NULL, r->mean_share);
}
