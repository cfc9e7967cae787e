/*
 * --method moments: turns moments into eigenvalues by a linear program (measure.c). Random moments, drawn
 * with the errors of the given moments, show the eigenvalues' errors. With a rank d, the measure is the
 * distribution of d eigenvalues. Without a rank, the mass of the measure is free and equals the number of
 * eigenvalues.
 */
#include "base/error.h"
#include "base/sort.h"
#include "lp/draws.h"
#include "spectrum/methods.h"

#include <math.h>
#include <string.h>

enum { GRID = 1001, DRAWS = 200 };
/* the smallest positive point of the geometric grid, in units of the upper end b */
static const double smallest = 1e-6;

typedef ks_spectrum_job job;

kspec_status ks_spectrum_check_moments(const job *j, kspec_error *err) {
    if (j->count == 0) return ks_fail(err, KSPEC_E_ARG, "number of moments 0 is below 1");
    if (j->count > 1000) return ks_fail(err, KSPEC_E_ARG, "number of moments %zu exceeds 1000", j->count);
    if (!j->m) return ks_fail(err, KSPEC_E_ARG, "the moments are missing (NULL)");
    for (size_t n = 0; n < j->count; n++)
        if (!isfinite(j->m[n]))
            return ks_fail(err, KSPEC_E_DATA, "m(%zu) is %s", n + 1, isnan(j->m[n]) ? "NaN" : "infinite");
    return KSPEC_OK;
}

/* ---- the result's arrays ---- */

static kspec_status alloc_measure(job *j, kspec_spectrum_result *r, kspec_error *err) {
    size_t K = j->count, T = j->o.grid, t = j->o.t_count;
    struct {
        double **at;
        size_t n;
    } arrays[] = {{&r->lp->support, T},
                  {&r->lp->mass, T},
                  {&r->fitted, K},
                  {&r->lp->listed, K},
                  {&r->t, t},
                  {&r->effective_dimension, t},
                  {&r->effective_dimension_std_error, t}};
    ks_arena *arena = ks_result_arena(r);
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        *arrays[k].at = ks_arena_alloc(arena, arrays[k].n, sizeof(double));
    if (arena->failed) return ks_nomem(err, "the spectrum", arena->failed);
    r->t_count = t;
    return ks_spectrum_given(j, err);
}

static kspec_status alloc_list(size_t rank, kspec_spectrum_result *r, kspec_error *err) {
    double **arrays[] = {&r->eigenvalues, &r->std_error, &r->ci_low, &r->ci_high, &r->lp->plain};
    ks_arena *arena = ks_result_arena(r);
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        *arrays[k] = ks_arena_alloc(arena, rank, sizeof(double));
    if (arena->failed) return ks_nomem(err, "the spectrum", arena->failed);
    r->rank = rank;
    return KSPEC_OK;
}

/* ---- the upper end ---- */

static kspec_status choose_upper(const job *j, kspec_spectrum_result *r, kspec_error *err) {
    if (j->o.upper > 0) {
        r->lp->upper = j->o.upper;
        r->lp->upper_from = KSPEC_UPPER_GIVEN;
        return KSPEC_OK;
    }
    if (isfinite(j->sample_top)) {
        r->lp->upper = j->sample_top > 0 ? j->sample_top : 1; /* 1 serves for a matrix of zeros */
        r->lp->upper_from = KSPEC_UPPER_SAMPLE;
        return KSPEC_OK;
    }
    /* lambda_1^n <= m(n), so every n-th root of m(n) bounds lambda_1, apart from the error of m(n) */
    r->lp->upper = INFINITY;
    r->lp->upper_from = KSPEC_UPPER_MOMENTS;
    int zero = 1;
    for (size_t n = 0; n < j->count; n++) {
        double error = j->std_error && j->std_error[n] > 0 ? j->std_error[n] : 0, most = j->m[n] + 2 * error;
        if (most > 0) r->lp->upper = fmin(r->lp->upper, pow(most, 1 / (double)(n + 1)));
        zero &= j->m[n] == 0;
    }
    if (zero) r->lp->upper = 1;
    if (isfinite(r->lp->upper) && r->lp->upper > 0) return KSPEC_OK;
    return ks_fail(err, KSPEC_E_ARG, "no moment is positive (m(1) = %g): the upper end must be given",
                   j->m[0]);
}

/* ---- the plain fit ---- */

/* The divisor of m(n) in addition to b^n: the rank, or with free mass the sum of the eigenvalues over b */
static double unit_of(const job *j, double upper) {
    if (j->o.rank) return (double)j->o.rank;
    return j->m[0] > 0 ? j->m[0] / upper : 1;
}

static void keep_measure(const ks_fit *fit, double unit, const double *p, kspec_spectrum_result *r) {
    r->lp->atoms = 0;
    for (size_t i = 0; i < fit->T; i++)
        if (p[i] > 0) {
            r->lp->support[r->lp->atoms] = r->lp->upper * fit->s[i];
            r->lp->mass[r->lp->atoms++] = fit->free_mass ? unit * p[i] / fit->s[i] : p[i];
        }
}

static void compare_moments(const job *j, const ks_errors *e, double unit, const double *mu,
                            const double *fitted, kspec_spectrum_result *r) {
    r->lp->distance = 0;
    r->lp->distance_order = 1;
    r->lp->distance_in_errors = e->se != NULL;
    for (size_t n = 0; n < j->count; n++) {
        r->fitted[n] = ks_from_units(fitted[n], unit, r->lp->upper, n + 1);
        double off = fabs(mu[n] - fitted[n]) / (e->se ? e->se[n] : 1);
        if (off > r->lp->distance) {
            r->lp->distance = off;
            r->lp->distance_order = (int)n + 1;
        }
    }
}

/* ---- results that follow from the eigenvalues ---- */

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

/* Interpolates linearly between the order statistics of x, which is sorted. */
static double quantile_of(size_t n, const double *x, double q) {
    double at = q * (double)(n - 1);
    size_t k = (size_t)at;
    return k + 1 < n ? x[k] + (at - (double)k) * (x[k + 1] - x[k]) : x[n - 1];
}

/* The length of the longer of two lists, without zeros at the end, but at least one */
static size_t length(size_t rank, const double *plain, const double *listed) {
    while (rank > 1 && plain[rank - 1] == 0 && listed[rank - 1] == 0) rank--;
    return rank;
}

/*
 * Eigenvalues are means over the draws. With free mass, the list instead counts the mean of the draws'
 * measures, `listed`, whose moments are the mean of the draws' moments. Means of the k-th largest eigenvalue
 * would not have these moments, because draws differ in where their mass lies.
 */
static void use_draws(const job *j, const ks_drawing *g, const double *lambda, const double *listed,
                      size_t made, double *x, kspec_spectrum_result *r) {
    r->lp->draws = (int)made;
    for (size_t i = 0; i < r->rank; i++) {
        double mean = 0;
        for (size_t k = 0; k < made; k++)
            mean += (x[k] = r->lp->upper * lambda[k * g->rank + i]) / (double)made;
        r->eigenvalues[i] = r->lp->free_mass ? r->lp->upper * listed[i] : mean;
        r->std_error[i] = spread(made, x);
        ks_sort_ascending(x, made);
        r->ci_low[i] = quantile_of(made, x, 0.025);
        r->ci_high[i] = quantile_of(made, x, 0.975);
        if (!r->lp->free_mass) continue;
        r->ci_low[i] = fmin(r->ci_low[i], r->eigenvalues[i]);
        r->ci_high[i] = fmax(r->ci_high[i], r->eigenvalues[i]);
    }
    set_t(j, r);
    for (size_t k = 0; k < r->t_count; k++) {
        for (size_t l = 0; l < made; l++)
            x[l] = effective_dimension(r->rank, lambda + l * g->rank, r->lp->upper, r->t[k]);
        r->effective_dimension_std_error[k] = spread(made, x);
    }
}

static void use_plain(const job *j, kspec_spectrum_result *r) {
    for (size_t i = 0; i < r->rank; i++) {
        r->eigenvalues[i] = r->lp->plain[i];
        r->std_error[i] = r->ci_low[i] = r->ci_high[i] = NAN;
    }
    set_t(j, r);
    for (size_t k = 0; k < r->t_count; k++) r->effective_dimension_std_error[k] = NAN;
}

/* Computes the list of eigenvalues from the measure p and g's draws of it. */
static kspec_status list(job *j, const ks_drawing *g, const double *p, kspec_error *err) {
    kspec_spectrum_result *r = j->r;
    size_t made = 0;
    double *plain = ks_arena_alloc(&j->arena, g->rank, sizeof *plain);
    double *listed = ks_arena_alloc(&j->arena, g->rank, sizeof *listed);
    double *mean = ks_arena_alloc(&j->arena, g->fit.T, sizeof *mean);
    double *lambda = ks_arena_alloc(&j->arena, ks_size(g->draws, g->rank), sizeof *lambda);
    double *x = ks_arena_alloc(&j->arena, g->draws, sizeof *x);
    double *number = ks_arena_alloc(&j->arena, g->draws, sizeof *number);
    if (j->arena.failed) return ks_nomem(err, "the draws", j->arena.failed);
    r->lp->number = ks_draw_list(g, p, plain);
    r->lp->number_ci_low = r->lp->number_ci_high = NAN;
    memcpy(mean, p, g->fit.T * sizeof *mean);
    kspec_status st = g->draws ? ks_draw_eigenvalues(&j->run, g, lambda, number, mean, &made, err) : KSPEC_OK;
    if (st) return st;
    ks_draw_list(g, mean, listed);
    if ((st = alloc_list(r->lp->free_mass ? length(g->rank, plain, listed) : g->rank, r, err))) return st;
    for (size_t i = 0; i < r->rank; i++) r->lp->plain[i] = r->lp->upper * plain[i];
    if (!g->draws) {
        use_plain(j, r);
        return KSPEC_OK;
    }
    use_draws(j, g, lambda, listed, made, x, r);
    if (g->fit.free_mass) {
        ks_sort_ascending(number, made);
        r->lp->number_ci_low = quantile_of(made, number, 0.025);
        r->lp->number_ci_high = quantile_of(made, number, 0.975);
    }
    return KSPEC_OK;
}

/* ---- the method, given the moments ---- */

static kspec_status choose_weights(const job *j, const ks_errors *e, kspec_spectrum_result *r,
                                   kspec_error *err) {
    r->lp->weights = j->o.weights ? j->o.weights : e->se ? KSPEC_WEIGHTS_COVARIANCE : KSPEC_WEIGHTS_UNIT;
    if (r->lp->weights == KSPEC_WEIGHTS_UNIT || e->se) return KSPEC_OK;
    return ks_fail(err, KSPEC_E_ARG, "weights %s need a standard error of every moment",
                   r->lp->weights == KSPEC_WEIGHTS_STDERR ? "stderr" : "covariance");
}

/* The number of draws if the errors are known */
static size_t draws_wanted(const job *j) {
    return j->o.no_draws ? 0 : j->o.draws ? (size_t)j->o.draws : DRAWS;
}

/*
 * Checks the memory for the eigenvalues and the measure of every draw, and for two linear programs per
 * thread. The second program is Clp's own copy.
 */
static kspec_status check_memory(const job *j, size_t rank, kspec_error *err) {
    size_t K = j->count, draws = j->std_error ? draws_wanted(j) : 0;
    size_t entries = ks_size(K + 1, ks_size_add(j->o.grid, 2 * K)),
           workers = (size_t)ks_workers(&j->run, draws + 1);
    size_t values = ks_size_add(ks_size(ks_size_add(draws, 7), rank), ks_size(ks_size(entries, 6), workers));
    values = ks_size_add(values, ks_size(ks_size_add(draws, 1), j->o.grid));
    return ks_check_memory(err, ks_size(values, sizeof(double)),
                           "a spectrum of rank %zu from %zu draws of %zu moments on a grid of %zu", rank,
                           draws, K, j->o.grid);
}

/* The grid, the weights and the moments, in the program's units */
typedef struct {
    ks_fit fit;
    ks_errors errors;
    double unit, *mu;
} program;

static kspec_status prepare(job *j, program *g, kspec_error *err) {
    kspec_spectrum_result *r = j->r;
    size_t K = j->count, T = j->o.grid;
    ks_errors *e = &g->errors;
    g->unit = unit_of(j, r->lp->upper);
    kspec_status st =
        ks_errors_init(e, K, j->m, j->std_error, j->correlation, g->unit, r->lp->upper, &j->arena, err);
    if (!st) st = choose_weights(j, e, r, err);
    if (st) return st;
    double *s = ks_arena_alloc(&j->arena, T, sizeof *s);
    double *W = ks_arena_alloc(&j->arena, ks_size(K, K), sizeof *W);
    g->mu = ks_arena_alloc(&j->arena, K, sizeof *g->mu);
    if (j->arena.failed) return ks_nomem(err, "the grid", j->arena.failed);
    if (j->o.spacing == KSPEC_GRID_GEOMETRIC)
        ks_grid_geometric(T, smallest, s);
    else
        ks_grid_uniform(T, s);
    r->lp->grid_step = r->lp->upper * s[1];
    ks_errors_weights(e, K, r->lp->weights, W);
    for (size_t n = 0; n < K; n++) g->mu[n] = ks_to_units(j->m[n], g->unit, r->lp->upper, n + 1);
    for (size_t n = 0; n < K; n++)
        if (!isfinite(g->mu[n]) || (e->se && !(e->se[n] > 0 && isfinite(e->se[n]))))
            return ks_fail(err, KSPEC_E_NUMERIC,
                           "m(%zu) = %g or its error is out of range beside an upper end of %g", n + 1,
                           j->m[n], r->lp->upper);
    /* if the mass is free, a point at 0 could represent infinitely many eigenvalues */
    g->fit = r->lp->free_mass ? (ks_fit){K, T - 1, s + 1, W, 1} : (ks_fit){K, T, s, W, 0};
    return KSPEC_OK;
}

kspec_status ks_spectrum_by_moments(ks_spectrum_job *j, kspec_error *err) {
    kspec_spectrum_result *r = j->r;
    size_t rank = j->o.rank ? j->o.rank : KS_LISTED;
    program g = {0};
    kspec_status st = ks_spectrum_check_moments(j, err);
    if (st) return st;
    if (!j->o.rank && j->o.quantile)
        return ks_refuse(err, KSPEC_E_ARG, "rank", NULL,
                         "quantiles need a rank: without one, eigenvalues are counted");
    r->lp->free_mass = !j->o.rank;
    if (!j->o.grid) j->o.grid = GRID;
    if (!j->o.t) j->o.t_count = 4;
    if ((st = check_memory(j, rank, err)) || (st = alloc_measure(j, r, err)) ||
        (st = choose_upper(j, r, err)) || (st = prepare(j, &g, err)))
        return st;

    double *p = ks_arena_alloc(&j->arena, g.fit.T, sizeof *p);
    double *fitted = ks_arena_alloc(&j->arena, j->count, sizeof *fitted);
    if (j->arena.failed) return ks_nomem(err, "the measure", j->arena.failed);
    int iterations;
    if ((st = ks_fit_measure(&g.fit, g.mu, p, &r->lp->residual, &iterations, err))) return st;
    keep_measure(&g.fit, g.unit, p, r);
    ks_measure_moments(&g.fit, p, fitted);
    compare_moments(j, &g.errors, g.unit, g.mu, fitted, r);

    size_t draws = g.errors.se ? draws_wanted(j) : 0;
    if ((st = list(j, &(ks_drawing){g.fit, &g.errors, g.mu, j->o.quantile, rank, draws, j->o.seed, g.unit}, p,
                   err)))
        return st;
    for (size_t k = 0; k < r->t_count; k++)
        r->effective_dimension[k] = effective_dimension(r->rank, r->eigenvalues, 1, r->t[k]);
    for (size_t n = 0; n < r->count; n++) {
        r->lp->listed[n] = 0;
        for (size_t i = 0; i < r->rank; i++) r->lp->listed[n] += pow(r->eigenvalues[i], (double)(n + 1));
    }
    return KSPEC_OK;
}
