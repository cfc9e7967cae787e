/* Lists the doubts about a spectrum, separately for each method. */
#include "base/doubt.h"
#include "base/error.h"
#include "fit/tuning.h"
#include "spectrum/methods.h"

#include <math.h>

/* The given noise and the noise seen in trials may differ by this fraction. */
static const double NEAR = 0.1;
/* Columns whose gains vary by half of their mean have an excess of 1. */
static const double UNEVEN = 1, VERY_UNEVEN = 2.5;
/* An error of 1% in every moment moves a root by a tenth of the largest. */
static const double ILL_CONDITIONED = 10;

double ks_above_sample(const kspec_spectrum_result *r) {
    const double factor =
        r->sample_count && r->sample_eigenvalues[0] > 0 ? r->eigenvalues[0] / r->sample_eigenvalues[0] : 1;
    return factor > KS_ABOVE_SAMPLE ? factor : 1;
}

int ks_trace_is_known(const kspec_spectrum_result *r) {
    return r->given_std_error[0] <= 1e-9 * fabs(r->given[0]);
}

double ks_disagreement(const kspec_spectrum_result *r, size_t n) {
    return fabs(r->fit->z[n]) / (n || ks_trace_is_known(r) ? KS_DISAGREE : KS_DISAGREE_TRACE);
}

static int is_doubted(const kspec_spectrum_result *r, kspec_doubt_code code) {
    for (size_t k = 0; k < r->doubt_count; k++)
        if (r->doubts[k]->code == code) return 1;
    return 0;
}

/* The moments' check includes noise. Without noise a tail is longer. */
static void doubt_tail(ks_doubts to, const kspec_spectrum_result *r, double exponent) {
    if (!(exponent < 1) || is_doubted(r, KSPEC_DOUBT_LONG_TAIL)) return;
    ks_doubt(to, KSPEC_DOUBT_LONG_TAIL, NULL,
             r->center == KSPEC_CENTER_NONE ? "noise-free mean squares" : "noise-free variances", exponent);
}

static void doubt_fit(ks_doubts to, const ks_spectrum_job *j) {
    const kspec_spectrum_opts *o = &j->o;
    const kspec_spectrum_result *r = j->r;
    const kspec_spectrum_fit *f = r->fit;
    const double z_shared = j->noise_shared;
    double most = 0;
    size_t n = 0; /* the order at which fit and unbiased moments disagree most, relative to the tolerance */
    for (size_t k = 0; k < r->count; k++) {
        const double z = ks_disagreement(r, k);
        if (z > most) most = z, n = k;
    }
    if (f->signal == KSPEC_EVIDENCE_NONE && f->noise_from != KSPEC_NOISE_FROM_NOWHERE)
        ks_doubt(to, KSPEC_DOUBT_ALL_NOISE, NULL, NULL, f->signal_z);
    if (most > 1)
        ks_doubt(to, KSPEC_DOUBT_FIT_DISAGREES, NULL,
                 f->crossed ? "trust the moments, and the cross-validated eigenvalues" : "compare moments",
                 (double)(n + 1), r->fitted[n], r->given[n], fabs(f->z[n]));
    if (z_shared > 0)
        ks_doubt(to, KSPEC_DOUBT_SHARED_NOISE, NULL, f->crossed ? "; trust the cross-validated ones" : "",
                 z_shared);
    doubt_tail(to, r, j->tail);
    if (ks_above_sample(r) > 1)
        ks_doubt(to, KSPEC_DOUBT_ABOVE_SAMPLE, NULL, f->crossed ? "; trust the cross-validated ones" : "",
                 r->eigenvalues[0], r->sample_eigenvalues[0]);
    if (f->columns_excess > UNEVEN && f->noise_from == KSPEC_NOISE_FROM_FIT && !(z_shared > 0))
        ks_doubt(
            to, KSPEC_DOUBT_UNEVEN_COLUMNS, NULL,
            "noise that differs between columns looks like a long tail, and one trial cannot tell; repeats "
            "of the same rows and columns can",
            f->columns_excess);
    else if (f->columns_excess > VERY_UNEVEN)
        ks_doubt(to, KSPEC_DOUBT_UNEVEN_COLUMNS, NULL,
                 "some columns carry far more than others, and the intervals may be too short",
                 f->columns_excess);
    if ((o->noise > 0 || o->no_noise) && fabs(o->noise / f->noise_of_trials - 1) > NEAR)
        ks_doubt(to, KSPEC_DOUBT_NOISE_DISAGREES, NULL, NULL, o->noise, f->noise_of_trials);
}

/* Estimates are often wrong by a standard error; three, or any distance without errors, deserve a doubt. */
static void doubt_distance(ks_doubts to, const kspec_spectrum_result *r) {
    const kspec_spectrum_lp *m = r->lp;
    const int n = m->distance_order;
    char range[40];
    if (m->distance <= (m->distance_in_errors ? 3 : 1e-6)) return;
    ks_print(range, sizeof range, "%s0, %.4g]", m->free_mass ? "(" : "[", m->upper);
    ks_doubt(to, KSPEC_DOUBT_NO_MEASURE, NULL, range, n, r->given[n - 1], r->fitted[n - 1], m->distance);
}

/*
 * Rounding to whole eigenvalues moves the list's m(n) by up to half the n-th power of the largest point of
 * the measure. With draws, the list's m(n) may also differ by some standard errors from the single solution's
 * m(n).
 */
static void doubt_list(ks_doubts to, const kspec_spectrum_result *r) {
    const kspec_spectrum_lp *m = r->lp;
    const double largest = fmax(m->atoms ? m->support[m->atoms - 1] : 0, r->eigenvalues[0]),
                 last = r->eigenvalues[r->rank - 1];
    const int cut = r->rank == KS_LISTED;
    if (cut)
        ks_doubt(to, KSPEC_DOUBT_LIST_CUT, NULL, NULL, (double)r->rank, m->listed[0] / r->fitted[0],
                 r->fitted[0]);
    for (size_t n = 0; n < r->count; n++) {
        /* each eigenvalue beyond the listed ones is at most `last` */
        const double beyond = cut ? (r->fitted[0] - m->listed[0]) * pow(last, (double)n) : 0,
                     off = m->listed[n] - r->fitted[n],
                     allowed = (1 + 1e-9) * 0.5 * pow(largest, (double)(n + 1)) +
                               (m->draws ? 3 * r->given_std_error[n] : 0);
        if (fabs(off) <= allowed || (cut && fabs(off + beyond) <= allowed + beyond)) continue;
        ks_doubt(to, KSPEC_DOUBT_LIST_DISAGREES, NULL, NULL, (double)(n + 1), m->listed[n], (double)r->rank,
                 r->fitted[n]);
        return;
    }
}

static void doubt_moments(ks_doubts to, const kspec_spectrum_result *r, int bars) {
    const kspec_spectrum_lp *m = r->lp;
    const double sum = r->given[0];
    char none[160] = "";
    doubt_distance(to, r);
    if (m->free_mass) doubt_list(to, r);
    if (r->given_std_error[0] > 0.5 * fabs(sum)) /* NaN: none */
        ks_doubt(to, KSPEC_DOUBT_SUM_UNKNOWN, NULL, NULL, sum, r->given_std_error[0]);
    if (m->free_mass && sum > 0 && m->number < 0.5)
        ks_print(none, sizeof none,
                 "the moments are those of %.2g eigenvalues, fewer than one half; the upper "
                 "end %g may be too large",
                 m->number, m->upper);
    else if (sum > 0 && r->eigenvalues[0] == 0)
        ks_print(none, sizeof none,
                 "all are below the first step of the grid, %.4g; the upper end %g is too "
                 "large",
                 m->grid_step, m->upper);
    else if (sum <= 0 && m->free_mass)
        ks_print(none, sizeof none, "m(1) = %.4g is not positive", sum);
    if (*none) ks_doubt(to, KSPEC_DOUBT_NO_EIGENVALUE, NULL, none, sum, m->number, m->grid_step, m->upper);
    for (size_t n = 0; n < r->count; n++) bars |= isfinite(r->given_std_error[n]);
    for (size_t n = 0; n < r->count && bars; n++) {
        if (isfinite(r->given_std_error[n])) continue;
        ks_doubt(to, KSPEC_DOUBT_NO_ERROR_BAR, NULL, NULL, (double)(n + 1));
        break;
    }
}

kspec_status ks_spectrum_doubts(ks_spectrum_job *j, kspec_error *err) {
    static const char *const centers[] = {"", "not centred", "rows centred", "columns centred",
                                          "rows and columns centred"};
    kspec_spectrum_result *r = j->r;
    const ks_doubts to = KS_DOUBTS(r);
    const kspec_center truth = j->o.truth_center;
    for (size_t k = 0; r->moments && k < r->moments->doubt_count; k++)
        ks_doubt_copy(to, r->moments->doubts[k]);
    if (r->device.unusable && !r->moments->device.unusable)
        ks_doubt(to, KSPEC_DOUBT_GPU_UNUSED, NULL, r->device.why, 0);
    if (truth && r->center && truth != r->center)
        ks_doubt(to, KSPEC_DOUBT_TRUTH_CENTER, NULL, centers[r->center], 0);
    if (r->fit) doubt_fit(to, j);
    if (r->lp) doubt_moments(to, r, j->bars);
    if (r->newton && (r->newton->complex_count || !(r->newton->condition < ILL_CONDITIONED)))
        ks_doubt(to, KSPEC_DOUBT_ILL_CONDITIONED, NULL, NULL, (double)r->newton->complex_count,
                 (double)r->rank, r->newton->condition);
    if (r->cvpca && r->ci_low[0] <= 0) /* true only if the eigenvalue has an interval */
        ks_doubt(to, KSPEC_DOUBT_NOTHING_SHARED, NULL, NULL, r->eigenvalues[0]);
    if (r->cvpca && !r->cvpca->groups && j->bars) ks_doubt(to, KSPEC_DOUBT_NO_INTERVALS, NULL, NULL, 0);
    return to.arena->failed ? ks_nomem(err, "the list of doubts", to.arena->failed) : KSPEC_OK;
}
