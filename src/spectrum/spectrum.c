/*
 * kspec_spectrum(): the moments of a matrix, or given ones; the plain fit; the draws; and what follows from
 * the eigenvalues.
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/sort.h"
#include "spectrum/draws.h"
#include "spectrum/sample.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { GRID = 1001, GRID_MAX = 100000, DRAWS = 200, DRAWS_MAX = 100000, RANK_MAX = 100000000 };
/* the least positive point of the geometric grid, in units of b */
static const double smallest = 1e-6;

typedef struct {
    kspec_spectrum_opts o;
    ks_run run;
    /* count moments; their errors or NULL; count x count or NULL */
    const double *m, *std_error, *correlation;
    size_t count;
    /* the largest eigenvalue of the sample matrix; NaN without one */
    double sample_top;
    /* scratch */
    ks_arena arena;
    /* when the call was made */
    double start;
    kspec_spectrum_result *r;
} job;

static kspec_status check_opts(const kspec_spectrum_opts *o, kspec_error *err) {
    if (o->grid && (o->grid < 3 || o->grid > GRID_MAX))
        return ks_fail(err, KSPEC_E_ARG, "a grid of %zu points is not between 3 and %d", o->grid, GRID_MAX);
    if (o->spacing < KSPEC_GRID_UNIFORM || o->spacing > KSPEC_GRID_GEOMETRIC)
        return ks_fail(err, KSPEC_E_ARG, "unknown grid spacing %d", (int)o->spacing);
    if (!(o->upper >= 0 && isfinite(o->upper)))
        return ks_fail(err, KSPEC_E_ARG, "upper end %g of the eigenvalues is not positive", o->upper);
    if (o->weights < KSPEC_WEIGHTS_DEFAULT || o->weights > KSPEC_WEIGHTS_COVARIANCE)
        return ks_fail(err, KSPEC_E_ARG, "unknown weights %d", (int)o->weights);
    if (o->quantile < KSPEC_QUANTILE_PAPER || o->quantile > KSPEC_QUANTILE_MIDPOINT)
        return ks_fail(err, KSPEC_E_ARG, "unknown quantile %d", (int)o->quantile);
    if (o->draws < 0) return ks_fail(err, KSPEC_E_ARG, "draws %d is below 1", o->draws);
    if (o->draws > DRAWS_MAX) return ks_fail(err, KSPEC_E_ARG, "draws %d exceeds %d", o->draws, DRAWS_MAX);
    if (o->draws && o->no_draws)
        return ks_fail(err, KSPEC_E_ARG, "draws %d and no_draws exclude each other", o->draws);
    if (o->rank > RANK_MAX) return ks_fail(err, KSPEC_E_ARG, "rank %zu exceeds %d", o->rank, RANK_MAX);
    if (o->t_count && !o->t) return ks_fail(err, KSPEC_E_ARG, "the list of t is missing (NULL)");
    for (size_t k = 0; k < o->t_count; k++)
        if (!(o->t[k] > 0 && isfinite(o->t[k])))
            return ks_fail(err, KSPEC_E_ARG, "t %g (number %zu) is not positive", o->t[k], k + 1);
    return KSPEC_OK;
}

static kspec_status check_moments(const job *j, kspec_error *err) {
    if (j->count == 0) return ks_fail(err, KSPEC_E_ARG, "number of moments 0 is below 1");
    if (j->count > 1000) return ks_fail(err, KSPEC_E_ARG, "number of moments %zu exceeds 1000", j->count);
    if (!j->m) return ks_fail(err, KSPEC_E_ARG, "the moments are missing (NULL)");
    for (size_t n = 0; n < j->count; n++)
        if (!isfinite(j->m[n]))
            return ks_fail(err, KSPEC_E_DATA, "m(%zu) is %s", n + 1, isnan(j->m[n]) ? "NaN" : "infinite");
    return KSPEC_OK;
}

/* ---- the result's arrays ---- */

static kspec_status alloc_result(const job *j, kspec_spectrum_result *r, kspec_error *err) {
    size_t d = j->o.rank, K = j->count, T = j->o.grid, t = j->o.t_count, wanted = 0;
    struct {
        double **at;
        size_t n;
    } arrays[] = {{&r->eigenvalues, d},
                  {&r->std_error, d},
                  {&r->ci_low, d},
                  {&r->ci_high, d},
                  {&r->plain, d},
                  {&r->support, T},
                  {&r->mass, T},
                  {&r->given, K},
                  {&r->given_std_error, K},
                  {&r->fitted, K},
                  {&r->t, t},
                  {&r->effective_dimension, t},
                  {&r->effective_dimension_std_error, t}};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        wanted = ks_size_add(wanted, ks_size(arrays[k].n, sizeof(double)));
        *arrays[k].at = ks_alloc(arrays[k].n, sizeof(double));
        if (!*arrays[k].at) return ks_nomem(err, "the spectrum", wanted);
    }
    r->rank = d;
    r->count = K;
    r->t_count = t;
    return KSPEC_OK;
}

void kspec_spectrum_free(kspec_spectrum_result *r) {
    if (!r) return;
    double *arrays[] = {r->eigenvalues,
                        r->std_error,
                        r->ci_low,
                        r->ci_high,
                        r->plain,
                        r->support,
                        r->mass,
                        r->given,
                        r->given_std_error,
                        r->fitted,
                        r->t,
                        r->effective_dimension,
                        r->effective_dimension_std_error,
                        r->sample_eigenvalues};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) ks_free(arrays[k]);
    kspec_moments_free(r->moments);
    ks_free(r);
}

/* ---- the upper end ---- */

static kspec_status choose_upper(const job *j, kspec_spectrum_result *r, kspec_error *err) {
    if (j->o.upper > 0) {
        r->upper = j->o.upper;
        r->upper_from = KSPEC_UPPER_GIVEN;
        return KSPEC_OK;
    }
    if (isfinite(j->sample_top)) {
        r->upper = j->sample_top > 0 ? j->sample_top : 1; /* a matrix of zeros: any will do */
        r->upper_from = KSPEC_UPPER_SAMPLE;
        return KSPEC_OK;
    }
    /* lambda_1^n <= m(n): every root is a bound, up to its error */
    r->upper = INFINITY;
    r->upper_from = KSPEC_UPPER_MOMENTS;
    int zero = 1;
    for (size_t n = 0; n < j->count; n++) {
        double error = j->std_error && j->std_error[n] > 0 ? j->std_error[n] : 0, most = j->m[n] + 2 * error;
        if (most > 0) r->upper = fmin(r->upper, pow(most, 1 / (double)(n + 1)));
        zero &= j->m[n] == 0;
    }
    if (zero) r->upper = 1;
    if (isfinite(r->upper) && r->upper > 0) return KSPEC_OK;
    return ks_fail(err, KSPEC_E_ARG, "no moment is positive (m(1) = %g): the upper end must be given",
                   j->m[0]);
}

/* ---- the plain fit ---- */

static void keep_measure(const ks_fit *fit, const double *p, kspec_spectrum_result *r) {
    r->atoms = 0;
    for (size_t i = 0; i < fit->T; i++)
        if (p[i] > 0) {
            r->support[r->atoms] = r->upper * fit->s[i];
            r->mass[r->atoms++] = p[i];
        }
}

static void compare_moments(const job *j, const ks_errors *e, const double *mu, const double *fitted,
                            kspec_spectrum_result *r) {
    double d = (double)r->rank;
    r->distance = 0;
    r->distance_order = 1;
    r->distance_in_errors = e->se != NULL;
    for (size_t n = 0; n < j->count; n++) {
        r->given[n] = j->m[n];
        r->given_std_error[n] = j->std_error ? j->std_error[n] : NAN;
        r->fitted[n] = ks_from_units(fitted[n], d, r->upper, n + 1);
        double off = fabs(mu[n] - fitted[n]) / (e->se ? e->se[n] : 1);
        if (off > r->distance) {
            r->distance = off;
            r->distance_order = (int)n + 1;
        }
    }
}

/* ---- what follows from the eigenvalues ---- */

static double effective_dimension(size_t d, const double *lambda, double scale, double t) {
    double sum = 0;
    for (size_t j = 0; j < d; j++) sum += scale * lambda[j] / (scale * lambda[j] + t);
    return sum;
}

static void set_t(const job *j, kspec_spectrum_result *r) {
    for (size_t k = 0; k < r->t_count; k++)
        r->t[k] = j->o.t ? j->o.t[k] : (r->eigenvalues[0] > 0 ? r->eigenvalues[0] : 1) * pow(10, -(double)k);
}

static double spread(size_t n, const double *x) {
    double mean = 0, sum = 0;
    for (size_t k = 0; k < n; k++) mean += x[k] / (double)n;
    for (size_t k = 0; k < n; k++) sum += (x[k] - mean) * (x[k] - mean);
    return n > 1 ? sqrt(sum / (double)(n - 1)) : NAN;
}

static void participation_ratio(const job *j, kspec_spectrum_result *r) {
    r->participation_ratio = r->participation_ratio_std_error = NAN;
    if (j->count < 2 || !(j->m[1] > 0)) return;
    double root = j->m[0] / sqrt(j->m[1]);
    r->participation_ratio = root * root;
    if (!j->std_error) return;
    /* by the relative errors of m1^2/m2 */
    double a = 2 * j->std_error[0] / j->m[0], b = j->std_error[1] / j->m[1],
           rho = j->correlation ? j->correlation[1] : 0;
    r->participation_ratio_std_error = r->participation_ratio * sqrt(a * a - 2 * rho * a * b + b * b);
}

/* Linear interpolation between the order statistics of x, which is sorted. */
static double quantile_of(size_t n, const double *x, double q) {
    double at = q * (double)(n - 1);
    size_t k = (size_t)at;
    return k + 1 < n ? x[k] + (at - (double)k) * (x[k + 1] - x[k]) : x[n - 1];
}

static kspec_status use_draws(job *j, const ks_drawing *g, kspec_spectrum_result *r, kspec_error *err) {
    size_t d = r->rank, made = 0;
    double *lambda = ks_arena_alloc(&j->arena, ks_size(g->draws, d), sizeof *lambda);
    double *x = ks_arena_alloc(&j->arena, g->draws, sizeof *x);
    if (j->arena.failed) return ks_nomem(err, "the draws", j->arena.failed);
    kspec_status st = ks_draw_eigenvalues(&j->run, g, lambda, &made, err);
    if (st) return st;
    r->draws = (int)made;
    for (size_t i = 0; i < d; i++) {
        double mean = 0;
        for (size_t k = 0; k < made; k++) mean += (x[k] = r->upper * lambda[k * d + i]) / (double)made;
        r->eigenvalues[i] = mean;
        r->std_error[i] = spread(made, x);
        ks_sort_ascending(x, made);
        r->ci_low[i] = quantile_of(made, x, 0.025);
        r->ci_high[i] = quantile_of(made, x, 0.975);
    }
    set_t(j, r);
    for (size_t k = 0; k < r->t_count; k++) {
        for (size_t l = 0; l < made; l++) x[l] = effective_dimension(d, lambda + l * d, r->upper, r->t[k]);
        r->effective_dimension_std_error[k] = spread(made, x);
    }
    return KSPEC_OK;
}

static void use_plain(const job *j, kspec_spectrum_result *r) {
    for (size_t i = 0; i < r->rank; i++) {
        r->eigenvalues[i] = r->plain[i];
        r->std_error[i] = r->ci_low[i] = r->ci_high[i] = NAN;
    }
    set_t(j, r);
    for (size_t k = 0; k < r->t_count; k++) r->effective_dimension_std_error[k] = NAN;
}

/* ---- all of it, given the moments ---- */

static kspec_status choose_weights(const job *j, const ks_errors *e, kspec_spectrum_result *r,
                                   kspec_error *err) {
    r->weights = j->o.weights ? j->o.weights : e->se ? KSPEC_WEIGHTS_COVARIANCE : KSPEC_WEIGHTS_UNIT;
    if (r->weights == KSPEC_WEIGHTS_UNIT || e->se) return KSPEC_OK;
    return ks_fail(err, KSPEC_E_ARG, "weights %s need a standard error of every moment",
                   r->weights == KSPEC_WEIGHTS_STDERR ? "stderr" : "covariance");
}

/* How many draws are wanted where the errors are known. */
static size_t draws_wanted(const job *j) {
    return j->o.no_draws ? 0 : j->o.draws ? (size_t)j->o.draws : DRAWS;
}

/* The eigenvalues of every draw; for each thread a linear program: ours, as given to Clp, and Clp's own. */
static kspec_status check_memory(const job *j, kspec_error *err) {
    size_t K = j->count, draws = j->std_error ? draws_wanted(j) : 0;
    size_t entries = ks_size(K + 1, ks_size_add(j->o.grid, 2 * K)),
           workers = (size_t)ks_workers(&j->run, draws + 1);
    size_t values =
        ks_size_add(ks_size(ks_size_add(draws, 5), j->o.rank), ks_size(ks_size(entries, 6), workers));
    return ks_check_memory(err, ks_size(values, sizeof(double)),
                           "a spectrum of rank %zu from %zu draws of %zu moments on a grid of %zu", j->o.rank,
                           draws, K, j->o.grid);
}

static kspec_status recover(job *j, kspec_error *err) {
    kspec_spectrum_result *r = j->r;
    kspec_status st = check_moments(j, err);
    if (st) return st;
    if (!j->o.grid) j->o.grid = GRID;
    if (!j->o.t) j->o.t_count = 4;
    if ((st = check_memory(j, err))) return st;
    size_t K = j->count, T = j->o.grid, d = j->o.rank;
    if ((st = alloc_result(j, r, err)) || (st = choose_upper(j, r, err))) return st;
    ks_errors e;
    st = ks_errors_init(&e, K, j->m, j->std_error, j->correlation, (double)d, r->upper, &j->arena, err);
    if (!st) st = choose_weights(j, &e, r, err);
    if (st) return st;

    double *s = ks_arena_alloc(&j->arena, T, sizeof *s), *p = ks_arena_alloc(&j->arena, T, sizeof *p);
    double *W = ks_arena_alloc(&j->arena, ks_size(K, K), sizeof *W);
    double *mu = ks_arena_alloc(&j->arena, K, sizeof *mu),
           *fitted = ks_arena_alloc(&j->arena, K, sizeof *fitted);
    if (j->arena.failed) return ks_nomem(err, "the grid", j->arena.failed);
    if (j->o.spacing == KSPEC_GRID_GEOMETRIC)
        ks_grid_geometric(T, smallest, s);
    else
        ks_grid_uniform(T, s);
    r->grid_step = r->upper * s[1];
    ks_errors_weights(&e, K, r->weights, W);
    for (size_t n = 0; n < K; n++) mu[n] = ks_to_units(j->m[n], (double)d, r->upper, n + 1);
    for (size_t n = 0; n < K; n++)
        if (!isfinite(mu[n]) || (e.se && !(e.se[n] > 0 && isfinite(e.se[n]))))
            return ks_fail(err, KSPEC_E_NUMERIC,
                           "m(%zu) = %g or its error is out of range beside an upper end of %g", n + 1,
                           j->m[n], r->upper);
    ks_fit fit = {K, T, s, W};
    int iterations;
    if ((st = ks_fit_measure(&fit, mu, p, &r->residual, &iterations, err))) return st;
    keep_measure(&fit, p, r);
    ks_measure_moments(&fit, p, fitted);
    compare_moments(j, &e, mu, fitted, r);
    ks_measure_quantiles(&fit, p, j->o.quantile, d, r->plain);
    for (size_t i = 0; i < d; i++) r->plain[i] *= r->upper;
    participation_ratio(j, r);

    if (e.se && draws_wanted(j)) {
        ks_drawing g = {fit, &e, mu, j->o.quantile, d, draws_wanted(j), j->o.seed};
        st = use_draws(j, &g, r, err);
    } else {
        use_plain(j, r);
    }
    for (size_t k = 0; k < r->t_count && !st; k++)
        r->effective_dimension[k] = effective_dimension(d, r->eigenvalues, 1, r->t[k]);
    return st;
}

static kspec_status begin(job *j, const kspec_spectrum_opts *opts, kspec_error *err) {
    kspec_status st = ks_take_opts(&j->o, sizeof j->o, opts, err);
    if (!st) st = ks_run_init(&j->run, j->o.threads, j->o.progress, err);
    if (!st) st = check_opts(&j->o, err);
    if (!st && !(j->r = ks_zalloc(1, sizeof *j->r))) st = ks_nomem(err, "the result", sizeof *j->r);
    return st;
}

static kspec_status finish(job *j, kspec_status st, kspec_spectrum_result **out) {
    ks_arena_free(&j->arena);
    if (st) {
        kspec_spectrum_free(j->r);
        return st;
    }
    j->r->seconds = ks_now() - j->start;
    *out = j->r;
    return KSPEC_OK;
}

kspec_status kspec_spectrum_from_moments(const double *m, const double *std_error, const double *correlation,
                                         size_t count, size_t rank, const kspec_spectrum_opts *opts,
                                         kspec_spectrum_result **out, kspec_error *err) {
    ks_clear(err);
    *out = NULL;
    job j = {.start = ks_now(),
             .m = m,
             .std_error = std_error,
             .correlation = correlation,
             .count = count,
             .sample_top = NAN};
    kspec_status st = begin(&j, opts, err);
    if (!st && j.o.rank && j.o.rank != rank)
        st = ks_fail(err, KSPEC_E_ARG, "rank %zu and the options' rank %zu differ", rank, j.o.rank);
    if (!st && rank == 0) st = ks_fail(err, KSPEC_E_ARG, "rank 0 is below 1");
    if (!st && rank > RANK_MAX) st = ks_fail(err, KSPEC_E_ARG, "rank %zu exceeds %d", rank, RANK_MAX);
    j.o.rank = rank;
    if (!st) st = recover(&j, err);
    return finish(&j, st, out);
}

/* ---- from a matrix ---- */

/* The moments take this part of the progress, the sample's eigenvalues the next. */
static const double moments_until = 0.7, sample_until = 0.8;

static int moments_progress(void *ctx, double fraction) {
    const kspec_progress *whole = ctx;
    return whole->report(whole->ctx, moments_until * fraction);
}

static kspec_status use_estimates(job *j, const kspec_moments_opts *used, kspec_error *err) {
    const kspec_moments_result *r = j->r->moments;
    double *m = ks_arena_alloc(&j->arena, r->count, sizeof *m);
    double *errors = ks_arena_alloc(&j->arena, r->count, sizeof *errors);
    if (j->arena.failed) return ks_nomem(err, "the moments", j->arena.failed);
    for (size_t k = 0; k < r->count; k++) {
        const kspec_estimate *e = r->estimates[k];
        if (e->n != (int)k + 1)
            return ks_fail(err, KSPEC_E_ARG,
                           "estimators 0x%x: eigenvalues come from one of them, not several",
                           used->estimators);
        if (e->root != 0 && fabs(e->value) < DBL_MIN)
            return ks_fail(err, KSPEC_E_NUMERIC,
                           "m(%zu) is below the smallest double; scale the data or use normalize", k + 1);
        m[k] = e->value;
        errors[k] = e->std_error;
    }
    j->m = m;
    j->count = r->count;
    if (r->correlation) j->std_error = errors;
    j->correlation = r->correlation;
    return KSPEC_OK;
}

static kspec_status estimate(job *j, const kspec_matrix *phi, size_t ntrials, const kspec_moments_opts *how,
                             kspec_moments_opts *used, kspec_error *err) {
    kspec_status st = ks_take_opts(used, sizeof *used, how, err);
    if (st) return st;
    used->size = sizeof *used; /* of ours, whatever the caller's */
    used->threads = j->run.threads;
    used->seed = j->o.seed;
    used->correlation = !used->no_stderr;
    used->progress = (kspec_progress){0};
    if (j->o.progress.report) used->progress = (kspec_progress){moments_progress, &j->o.progress};
    st = kspec_moments(phi, ntrials, used, &j->r->moments, err);
    return st ? st : use_estimates(j, used, err);
}

static kspec_status sample(job *j, const kspec_matrix *phi, size_t ntrials, const kspec_moments_opts *how,
                           kspec_error *err) {
    size_t n = phi[0].rows < phi[0].cols ? phi[0].rows : phi[0].cols;
    if (n > KS_SAMPLE_MAX) return KSPEC_OK;
    j->r->sample_eigenvalues = ks_alloc(n, sizeof(double));
    if (!j->r->sample_eigenvalues)
        return ks_nomem(err, "the sample's eigenvalues", ks_size(n, sizeof(double)));
    j->r->sample_count = n;
    ks_run part = ks_run_part(&j->run, moments_until, sample_until);
    kspec_status st = ks_sample_eigenvalues(&part, phi, ntrials, how, j->r->sample_eigenvalues, err);
    if (!st) j->sample_top = j->r->sample_eigenvalues[0];
    return st;
}

kspec_status kspec_spectrum(const kspec_matrix *phi, size_t ntrials, const kspec_moments_opts *how,
                            const kspec_spectrum_opts *opts, kspec_spectrum_result **out, kspec_error *err) {
    ks_clear(err);
    *out = NULL;
    job j = {.start = ks_now(), .sample_top = NAN};
    kspec_moments_opts used;
    kspec_status st = begin(&j, opts, err);
    if (!st) st = estimate(&j, phi, ntrials, how, &used, err);
    if (!st) st = sample(&j, phi, ntrials, &used, err);
    if (!st) {
        if (!j.o.rank) j.o.rank = phi[0].rows < phi[0].cols ? phi[0].rows : phi[0].cols;
        j.run = ks_run_part(&j.run, sample_until, 1);
        st = recover(&j, err);
    }
    return finish(&j, st, out);
}
