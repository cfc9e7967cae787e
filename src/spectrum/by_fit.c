/*
 * --method fit: finds the families of spectra that explain the sample's eigenvalues, and derives the results
 * from the families. Unbiased moments check the results.
 */
#include "base/center.h"
#include "base/error.h"
#include "base/result.h"
#include "linalg/linalg.h"
#include "fit/describe.h"
#include "moments/evidence.h"
#include "spectrum/methods.h"
#include "spectrum/sample.h"
#include "fit/tuning.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    ks_spectrum_job *j;
    ks_decomposed x;
    ks_observed o;
    ks_fitted f;
    size_t trials;
    /*
     * the mean over rows of 1/(number of trials): the fraction of one trial's noise variance that remains in
     * the mean
     */
    double noise_left;
    /* Is the noise shared between columns so much that its level is not known from the trials? */
    int noise_unknown;
    /* the number of cross-validated eigenvalues to compute */
    size_t crossed;
} fit;

/* Converts to the units of the data: an eigenvalue with power 1, the trace of T^n with power n. */
static double scaled(const fit *t, double x, int power) {
    for (int k = 0; k < power; k++) x = ldexp(x * t->x.unit, t->x.exponent);
    return x;
}

static double to_sd(const fit *t, double variance) { return sqrt(scaled(t, variance, 1) / t->noise_left); }

/*
 * Returns the noise's variance in the units of the fit (NaN: unknown). *from receives the source of the
 * variance
 */
static double known_noise(fit *t, kspec_noise_from *from) {
    const kspec_spectrum_opts *o = &t->j->o;
    *from = KSPEC_NOISE_FROM_FIT;
    if (o->no_noise) *from = KSPEC_NOISE_FROM_NOWHERE;
    if (o->noise > 0) *from = KSPEC_NOISE_FROM_GIVEN;
    if (*from == KSPEC_NOISE_FROM_GIVEN)
        return ldexp(o->noise * o->noise * t->noise_left, -t->x.exponent) / t->x.unit;
    if (*from == KSPEC_NOISE_FROM_FIT && t->trials > 1 && !t->noise_unknown) *from = KSPEC_NOISE_FROM_TRIALS;
    if (*from == KSPEC_NOISE_FROM_TRIALS) return fmin(t->x.noise.variance, KS_NOISE_MOST);
    return *from == KSPEC_NOISE_FROM_NOWHERE ? 0 : NAN;
}

static kspec_status check_noise(const fit *t, double noise, kspec_noise_from from, kspec_error *err) {
    if (from != KSPEC_NOISE_FROM_GIVEN || noise < 1) return KSPEC_OK;
    return ks_fail(err, KSPEC_E_ARG, "noise %g exceeds the root mean square of the entries, %g",
                   t->j->o.noise, to_sd(t, 1));
}

/*
 * Tests for signal, and for noise that is shared between columns. The answer is unknown if both sides are
 * centred, or if too few rows remain. For data centred over columns, rows and columns are exchanged.
 */
static kspec_status find_signal(fit *t, const ks_run *run, const kspec_matrix *phi,
                                const kspec_moments_opts *how, kspec_error *err) {
    const int turn = how->center == KSPEC_CENTER_COLS, centred = ks_centred(how->center);
    const size_t P = turn ? phi->cols : phi->rows, Q = turn ? phi->rows : phi->cols;
    ks_evidence e = {KSPEC_EVIDENCE_UNKNOWN, NAN};
    double of_noise = NAN;
    ks_arena arena = {0};
    ks_measured m;
    kspec_status st = KSPEC_OK;
    if (how->center != KSPEC_CENTER_BOTH && P >= (centred ? 5 : 3) && Q >= 3 && !(turn && how->row_trials)) {
        const double infinite[2] = {INFINITY, INFINITY};
        const kspec_matrix *turned = turn ? ks_trials_turned(phi, t->trials, &arena) : phi;
        st = turned ? ks_measured_open(&m, turned, t->trials, how->row_trials, infinite, centred,
                                       "the matrix", &arena, err)
                    : ks_nomem(err, "the trials", arena.failed);
        if (!st) st = ks_evidence_make(run, &m, NULL, t->j->o.seed, &e, err);
        if (!st) st = ks_evidence_of_noise(run, &m, t->j->o.seed, &of_noise, err);
    }
    ks_arena_free(&arena);
    t->noise_unknown = of_noise > KS_NOISE_UNKNOWN;
    if (t->noise_unknown) t->x.d.columns = NULL; /* the law is of independent noise */
    t->j->noise_shared = of_noise > KS_NOISE_SHARED ? of_noise : 0;
    t->j->r->fit->signal = e.signal, t->j->r->fit->signal_z = e.z;
    return st;
}

static int all_noise(const kspec_spectrum_fit *f) {
    return f->signal == KSPEC_EVIDENCE_NONE && f->noise_from != KSPEC_NOISE_FROM_NOWHERE;
}

/* ---- eigenvalues ---- */

static kspec_status alloc_result(const fit *t, size_t rank, kspec_error *err) {
    const ks_spectrum_job *j = t->j;
    kspec_spectrum_result *r = j->r;
    ks_arena *arena = ks_result_arena(r);
    size_t K = j->count, T = j->o.t ? j->o.t_count : 4;
    struct {
        double **at;
        size_t n;
    } arrays[] = {{&r->eigenvalues, rank},
                  {&r->std_error, rank},
                  {&r->ci_low, rank},
                  {&r->ci_high, rank},
                  {&r->fitted, K},
                  {&r->fit->z, K},
                  {&r->t, T},
                  {&r->effective_dimension, T},
                  {&r->effective_dimension_std_error, T},
                  {&r->effective_dimension_ci_low, T},
                  {&r->effective_dimension_ci_high, T},
                  {&r->fit->crossed, t->crossed},
                  {&r->sample_eigenvalues, t->x.all_count}};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        *arrays[k].at = ks_arena_alloc(arena, arrays[k].n, sizeof(double));
    r->fit->families = ks_arena_list(arena, t->f.count, sizeof **r->fit->families);
    if (arena->failed) return ks_nomem(err, "the spectrum", arena->failed);
    if (!t->crossed) r->fit->crossed = NULL;
    r->rank = rank;
    r->t_count = T;
    r->sample_count = t->x.all_count;
    return ks_spectrum_given(t->j, err);
}

static kspec_status keep_eigenvalues(const fit *t, kspec_error *err) {
    kspec_spectrum_result *r = t->j->r;
    const ks_fitted *f = &t->f;
    const ks_decomposition *d = &t->x.d;
    /* share: the result divides the sample's own eigenvalues by PQ, also after centring */
    double share =
        (isinf(d->rows) ? 1 : d->rows / (double)d->P) * (isinf(d->cols) ? 1 : d->cols / (double)d->Q);
    for (size_t i = 0; i < r->rank; i++) {
        r->eigenvalues[i] = scaled(t, exp(f->log_lambda[i]), 1);
        r->ci_low[i] = scaled(t, exp(f->log_low[i]), 1);
        r->ci_high[i] = scaled(t, exp(f->log_high[i]), 1);
        /*
         * A quarter of the interval is nearly the standard deviation. A quarter is also finite if a family
         * has ended.
         */
        r->std_error[i] = (r->ci_high[i] - r->ci_low[i]) / (2 * 1.959964);
    }
    for (size_t k = 0; k < r->sample_count; k++) r->sample_eigenvalues[k] = scaled(t, share * t->x.all[k], 1);
    if (!isfinite(r->ci_high[0]) || !(r->eigenvalues[0] > 0))
        return ks_refuse(err, KSPEC_E_NUMERIC, "normalize", NULL,
                         "the largest eigenvalue is out of range; scale the data");
    r->fit->levels = t->o.used;
    return KSPEC_OK;
}

/* Counts up to the last eigenvalue whose widened interval spans at most a factor of KS_RESOLVED. */
static void count_resolved(kspec_spectrum_result *r) {
    r->fit->resolved = 0;
    for (size_t i = 0; i < r->fit->levels && i < r->rank && !all_noise(r->fit); i++)
        if (r->ci_low[i] > 0 && r->ci_high[i] <= KS_RESOLVED * r->ci_low[i]) r->fit->resolved = i + 1;
}

/* Families that differ only in their scales have the same name, so the result lists such families as one. */
static kspec_status keep_families(const fit *t, kspec_error *err) {
    kspec_spectrum_result *r = t->j->r;
    ks_arena *arena = ks_result_arena(r);
    enum { NAME = 96 };
    char *names = ks_arena_alloc(arena, t->f.count, NAME);
    if (!names) return ks_nomem(err, "the families", arena->failed);
    for (size_t k = 0; k < t->f.count; k++) {
        char *name = names + k * NAME;
        size_t line = 0;
        ks_family_name(&t->f.p, &t->f.modes[k]->family, NAME, name);
        while (line < r->fit->family_count && strcmp(r->fit->families[line]->name, name) != 0) line++;
        if (line == r->fit->family_count)
            *r->fit->families[r->fit->family_count++] = (kspec_spectrum_family){name, 0, t->f.modes[k]->chi2};
        r->fit->families[line]->weight += t->f.weight[k];
    }
    return KSPEC_OK;
}

/* ---- results that follow from the families ---- */

/* The last decade of the resolved eigenvalues, if that is enough, unless the caller gave a range */
static void choose_range(const kspec_spectrum_opts *o, kspec_spectrum_result *r) {
    r->fit->exponent_from = r->fit->exponent_to = 0;
    if (!o->exponent_to && r->fit->resolved < KS_EXPONENT_LEAST) return;
    r->fit->exponent_to = o->exponent_to ? o->exponent_to : r->fit->resolved;
    r->fit->exponent_from = o->exponent_from ? o->exponent_from : (r->fit->exponent_to + 9) / 10;
    if (r->fit->exponent_from < 1) r->fit->exponent_from = 1;
    if (r->fit->exponent_to > r->rank) r->fit->exponent_to = r->rank;
}

/* The fit's excess over the unbiased estimate, in units of their joint error, for n-th roots */
static double compare(double fitted, double sd, double given, double error, int n) {
    double power = 1 / (double)n;
    if (!(given > 0)) return (fitted - given) / hypot(sd, error);
    double a = pow(fitted, power), b = pow(given, power);
    return (a - b) / hypot(a * power * sd / fitted, b * power * error / given);
}

/* With one trial the unbiased m(1) includes the noise. */
static double counted_trace(const fit *t, const ks_quantity *noise) {
    const kspec_spectrum_result *r = t->j->r;
    return r->fitted[0] + (t->trials > 1 ? 0 : scaled(t, noise->value, 1));
}

static void check_moments(fit *t, const ks_quantity *m, const ks_quantity *ratio, const ks_quantity *noise) {
    ks_spectrum_job *j = t->j;
    kspec_spectrum_result *r = j->r;
    for (size_t n = 0; n < r->count; n++) {
        const double sd = scaled(t, m[n].sd, (int)n + 1);
        r->fitted[n] = scaled(t, m[n].value, (int)n + 1);
        const double fitted = n ? r->fitted[n] : counted_trace(t, noise);
        /*
         * the fitted and the unbiased trace describe one sample, so they differ far less than traces of
         * different samples
         */
        r->fit->z[n] = n || ks_trace_is_known(r)
                           ? compare(fitted, sd, r->given[n], r->given_std_error[n], (int)n + 1)
                           : (fitted - r->given[n]) / r->given_std_error[n];
    }
    r->fit->participation_ratio = ratio->value;
    r->fit->participation_ratio_ci_low = ratio->low;
    r->fit->participation_ratio_ci_high = ratio->high;
    /* With one trial, the unbiased m(1) and the unbiased ratio include the noise. */
    double trace = r->count ? m[0].value : 1, counted = trace + (t->trials > 1 ? 0 : noise->value);
    double times = counted / trace * (counted / trace);
    r->fit->participation_ratio_z = compare(times * ratio->value, times * ratio->sd, r->participation_ratio,
                                            r->participation_ratio_std_error, 1);
}

/*
 * Unbiased moments depend on neither the noise nor a family. If a moment contradicts the fit, the result
 * contains a warning and wider intervals. The gap between the n-th roots widens the intervals of eigenvalues.
 * If the unbiased moment is not positive, the factor is 2. The first eigenvalue cannot exceed the mean of the
 * sample's first eigenvalue, with or without noise.
 */
static double gap(const fit *t, const ks_quantity *noise) {
    const kspec_spectrum_result *r = t->j->r;
    double most = fmax(1, ks_above_sample(r));
    for (size_t n = 0; n < r->count; n++) {
        if (!(ks_disagreement(r, n) > 1)) continue;
        const double fitted = n ? r->fitted[n] : counted_trace(t, noise),
                     far = r->given[n] > 0 ? fabs(log(fitted / r->given[n])) / (double)(n + 1) : log(2);
        most = fmax(most, exp(fmin(far, log(2))));
    }
    return most;
}

static void widen(double factor, double *low, double *high) {
    *low /= factor;
    *high *= factor;
}

static void widen_eigenvalues(kspec_spectrum_result *r) {
    for (size_t i = 0; i < r->rank; i++) {
        widen(r->fit->widened, &r->ci_low[i], &r->ci_high[i]);
        r->std_error[i] = (r->ci_high[i] - r->ci_low[i]) / (2 * 1.959964);
    }
}

static void set_t(const fit *t) {
    kspec_spectrum_result *r = t->j->r;
    for (size_t k = 0; k < r->t_count; k++)
        r->t[k] = t->j->o.t ? t->j->o.t[k] : r->eigenvalues[0] * pow(10, -(double)k);
}

/* Is t near the last resolved eigenvalue, or above? Otherwise the tail decides, unless there is no tail. */
static int is_resolved(const kspec_spectrum_result *r, double t) {
    const size_t n = r->fit->resolved;
    return n > 0 && (n == r->rank || t >= KS_T_RESOLVED * r->eigenvalues[n - 1]);
}

/*
 * The effective dimension and the ends of its interval fall with t, so each end bounds the ends at larger t.
 */
static void keep_dimensions(const fit *t, const ks_quantity *q) {
    kspec_spectrum_result *r = t->j->r;
    double *low = r->effective_dimension_ci_low, *high = r->effective_dimension_ci_high;
    for (size_t k = 0; k < r->t_count; k++) {
        /*
         * The number of eigenvalues and the trace bound the dimension: sum of lambda/(lambda + t) < sum of
         * lambda/t
         */
        double most = fmin((double)t->f.p.end, 1.5 * t->o.trace / q[k].at);
        r->effective_dimension[k] = q[k].value;
        r->effective_dimension_std_error[k] = q[k].sd;
        low[k] = q[k].low, high[k] = q[k].high;
        /*
         * Multiplying all eigenvalues by w is equivalent to dividing t by w, which changes the dimension by
         * at most a factor of w.
         */
        widen(r->fit->widened, &low[k], &high[k]);
        high[k] = fmax(q[k].value, fmin(high[k], most));
    }
    for (size_t k = 0; k < r->t_count; k++)
        for (size_t l = 0; l < r->t_count; l++) {
            if (r->t[l] > r->t[k]) low[k] = fmax(low[k], low[l]);
            if (r->t[l] < r->t[k]) high[k] = fmin(high[k], high[l]);
        }
    for (size_t k = 0; k < r->t_count; k++)
        if (!is_resolved(r, r->t[k]))
            r->effective_dimension[k] = r->effective_dimension_std_error[k] = low[k] = high[k] = NAN;
}

/*
 * The noise's level and its interval. Trials show the mean noise over the matrix's own entries. Other rows
 * and columns would have a different mean.
 */
static void keep_noise(const fit *t, const ks_quantity *noise) {
    kspec_spectrum_fit *f = t->j->r->fit;
    /* the noise is at most the total variance */
    f->noise = to_sd(t, fmin(noise->value, 1));
    f->noise_ci_low = f->noise_ci_high = f->noise;
    f->noise_of_trials = t->trials > 1 ? to_sd(t, t->x.noise.variance) : NAN;
    if (!t->f.p.dust) {
        f->noise_from = KSPEC_NOISE_FROM_NOWHERE;
        return;
    }
    double low = noise->low, high = noise->high;
    if (f->noise_from == KSPEC_NOISE_FROM_TRIALS) {
        double factor = exp(1.959964 * t->x.noise.error);
        low = fmin(t->x.noise.variance / factor, noise->value);
        high = fmax(t->x.noise.variance * factor, noise->value);
    }
    f->noise_ci_low = to_sd(t, fmin(low, 1));
    f->noise_ci_high = to_sd(t, fmin(high, 1));
}

/* Describes the moments first, because the moments decide how much to widen all other intervals. */
static kspec_status describe_moments(fit *t, const ks_run *run, kspec_error *err) {
    kspec_spectrum_result *r = t->j->r;
    size_t K = r->count, count = K + 2;
    ks_quantity *m = ks_arena_zalloc(&t->j->arena, count, sizeof *m), *ratio = m + K, *noise = ratio + 1;
    if (t->j->arena.failed) return ks_nomem(err, "the description of the spectrum", t->j->arena.failed);
    for (size_t n = 0; n < K; n++) m[n] = (ks_quantity){.kind = KS_MOMENT, .at = (double)(n + 1)};
    ratio->kind = KS_PARTICIPATION_RATIO;
    noise->kind = KS_NOISE;
    kspec_status st = ks_describe(run, &t->f, count, m, err);
    if (st) return st;
    check_moments(t, m, ratio, noise);
    r->fit->widened = gap(t, noise);
    widen_eigenvalues(r);
    widen(r->fit->widened * r->fit->widened, &r->fit->participation_ratio_ci_low,
          &r->fit->participation_ratio_ci_high);
    r->fit->participation_ratio_ci_low =
        fmax(1, r->fit->participation_ratio_ci_low); /* no ratio is below 1 */
    keep_noise(t, noise);
    return KSPEC_OK;
}

static kspec_status describe(fit *t, const ks_run *run, kspec_error *err) {
    kspec_spectrum_result *r = t->j->r;
    ks_run moments = ks_run_part(run, 0, 0.5), rest = ks_run_part(run, 0.5, 1);
    kspec_status st = describe_moments(t, &moments, err);
    if (st) return st;
    size_t T = r->t_count;
    ks_quantity *q = ks_arena_zalloc(&t->j->arena, T + 3, sizeof *q), *beyond = q + T, *slope = beyond + 1;
    if (t->j->arena.failed) return ks_nomem(err, "the description of the spectrum", t->j->arena.failed);
    set_t(t);
    count_resolved(r);
    choose_range(&t->j->o, r);
    for (size_t k = 0; k < T; k++)
        q[k] =
            (ks_quantity){.kind = KS_EFFECTIVE_DIMENSION, .at = ldexp(r->t[k], -t->x.exponent) / t->x.unit};
    *beyond = (ks_quantity){.kind = KS_SHARE_BEYOND, .from = r->fit->resolved};
    for (size_t k = 0; k < 2; k++) /* first with weights 1/i, then with equal weights */
        slope[k] = (ks_quantity){
            .kind = KS_EXPONENT, .at = k ? 0 : 1, .from = r->fit->exponent_from, .to = r->fit->exponent_to};
    if ((st = ks_describe(&rest, &t->f, T + 3, q, err))) return st;
    keep_dimensions(t, q);
    r->fit->beyond = beyond->value, r->fit->beyond_ci_low = beyond->low,
    r->fit->beyond_ci_high = beyond->high;
    widen(r->fit->widened, &r->fit->beyond_ci_low, &r->fit->beyond_ci_high);
    r->fit->beyond_ci_high = fmax(r->fit->beyond, fmin(r->fit->beyond_ci_high, 1));
    /*
     * tilt: the change of slope if both ends of the range are wrong by the factor `widened`, in opposite
     * directions
     */
    double tilt = 2 * log(r->fit->widened) /
                  fmax(log((double)r->fit->exponent_to / (double)r->fit->exponent_from), 0.1);
    r->fit->exponent = slope[0].value, r->fit->exponent_unweighted = slope[1].value;
    r->fit->exponent_ci_low = slope[0].low - tilt, r->fit->exponent_ci_high = slope[0].high + tilt;
    r->fit->exponent_unweighted_ci_low = slope[1].low - tilt;
    r->fit->exponent_unweighted_ci_high = slope[1].high + tilt;
    return KSPEC_OK;
}

/* ---- the method ---- */

static kspec_status cross_validate(const fit *t, const kspec_matrix *phi, const kspec_moments_opts *how,
                                   kspec_error *err) {
    kspec_spectrum_fit *f = t->j->r->fit;
    f->crossed_count = t->crossed;
    return t->crossed ? ks_spectrum_crossed(t->j, phi, t->trials, how, f->crossed, err) : KSPEC_OK;
}

/*
 * For Gaussian features with eigenvalues lambda, the mean squares have the relative variance 2 m(2)/m(1)^2,
 * where m(1) includes the noise.
 */
static double columns_excess(const fit *t) {
    const ks_spectrum_job *j = t->j;
    if (j->count < 2 || !(j->m[0] > 0) || !(j->m[1] > 0)) return NAN;
    return t->x.uneven - 2 * j->m[1] / (j->m[0] * j->m[0]);
}

static kspec_status run_fit(fit *t, const kspec_matrix *phi, const kspec_moments_opts *how,
                            kspec_error *err) {
    ks_spectrum_job *j = t->j;
    kspec_spectrum_result *r = j->r;
    ks_run decomposing = ks_run_part(&j->run, 0, 0.1), signal = ks_run_part(&j->run, 0.1, 0.15),
           leverages = ks_run_part(&j->run, 0.15, 0.25), fitting = ks_run_part(&j->run, 0.25, 0.9),
           describing = ks_run_part(&j->run, 0.9, 1);
    kspec_status st = ks_decompose(&decomposing, phi, t->trials, how, KS_VECTORS_MAX, &j->arena, &t->x, err);
    if (st) return st;
    if ((st = find_signal(t, &signal, phi, how, err))) return st;
    double noise = known_noise(t, &r->fit->noise_from);
    double pin = r->fit->noise_from == KSPEC_NOISE_FROM_TRIALS ? t->x.noise.own_error : 0;
    if ((st = check_noise(t, noise, r->fit->noise_from, err))) return st;
    r->fit->columns_excess = columns_excess(t);
    j->tail = isinf(t->x.d.cols) ? INFINITY : t->x.tail;
    if ((st = ks_observe(&leverages, &t->x, &j->arena, &t->o, err))) return st;
    if ((st = ks_fit_families(&fitting, &t->o, noise, pin, &j->arena, &t->f, err))) return st;
    size_t rank = t->f.p.end;
    if (t->trials > 1 && t->x.all_count <= KS_SAMPLE_MAX) t->crossed = t->x.all_count;
    if ((st = alloc_result(t, rank, err)) || (st = cross_validate(t, phi, how, err)) ||
        (st = keep_eigenvalues(t, err)) || (st = keep_families(t, err)))
        return st;
    return describe(t, &describing, err);
}

kspec_status ks_spectrum_by_fit(ks_spectrum_job *j, const kspec_matrix *phi, size_t ntrials,
                                const kspec_moments_opts *how, kspec_error *err) {
    fit *t = ks_arena_zalloc(&j->arena, 1, sizeof *t);
    if (!t) return ks_nomem(err, "the fit", j->arena.failed);
    t->j = j;
    t->trials = ntrials;
    t->noise_left = 0;
    for (size_t i = 0; i < phi[0].rows; i++)
        t->noise_left += 1 / (double)(how->row_trials ? how->row_trials[i] : ntrials) / (double)phi[0].rows;
    kspec_status st = ks_blas_enter(j->run.threads, err);
    if (st) return st;
    st = run_fit(t, phi, how, err);
    ks_blas_exit();
    return st;
}
