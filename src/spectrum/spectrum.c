/*
 * kspec_spectrum(): checks the options, estimates the moments unless the caller gave them, and runs the
 * chosen method.
 */
#include "base/center.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/matrix.h"
#include "moments/prepare.h"
#include "moments/where.h"
#include "spectrum/methods.h"
#include "spectrum/sample.h"
#include "team/team.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { GRID_MAX = 100000, DRAWS_MAX = 100000, RANK_MAX = 100000000 };

typedef ks_spectrum_job job;

/* Is any option set that belongs to the linear program only? */
static int of_the_program(const kspec_spectrum_opts *o) {
    return o->rank || o->grid || o->spacing || o->upper > 0 || o->weights || o->quantile || o->draws ||
           o->no_draws;
}

/* The requested method, but options of the linear program replace FIT by MOMENTS. */
static kspec_spectrum_method chosen(const kspec_spectrum_opts *o) {
    return of_the_program(o) && o->method == KSPEC_SPECTRUM_METHOD_FIT ? KSPEC_SPECTRUM_METHOD_MOMENTS
                                                                       : o->method;
}

static kspec_status check_fit_opts(const kspec_spectrum_opts *o, kspec_error *err) {
    if (o->method < KSPEC_SPECTRUM_METHOD_FIT || o->method > KSPEC_SPECTRUM_METHOD_NEWTON)
        return ks_fail(err, KSPEC_E_ARG, "unknown method %d", (int)o->method);
    if (!(o->noise >= 0 && isfinite(o->noise)))
        return ks_refuse(err, KSPEC_E_ARG, "noise", NULL, "noise %g is not a standard deviation", o->noise);
    if (o->noise > 0 && o->no_noise)
        return ks_fail(err, KSPEC_E_ARG, "noise %g and no_noise cannot be combined", o->noise);
    if (o->exponent_to && o->exponent_to < o->exponent_from + 1)
        return ks_fail(err, KSPEC_E_ARG, "an exponent from eigenvalue %zu to %zu needs two of them",
                       o->exponent_from, o->exponent_to);
    if (chosen(o) != KSPEC_SPECTRUM_METHOD_FIT &&
        (o->noise > 0 || o->no_noise || o->exponent_from || o->exponent_to))
        return ks_refuse(err, KSPEC_E_ARG, "method", "fit",
                         "noise and the exponent's range need the method fit");
    if (o->method == KSPEC_SPECTRUM_METHOD_CVPCA && (of_the_program(o) || o->t_count))
        return ks_refuse(err, KSPEC_E_ARG, "method", "moments",
                         "the method cvpca has no rank, grid, upper end, weights, draws or t");
    if (o->method == KSPEC_SPECTRUM_METHOD_NEWTON &&
        (o->grid || o->spacing || o->upper > 0 || o->weights || o->quantile || o->draws || o->t_count))
        return ks_refuse(err, KSPEC_E_ARG, "method", "moments",
                         "the method newton has no grid, upper end, weights, draws or t");
    return KSPEC_OK;
}

static kspec_status check_opts(const kspec_spectrum_opts *o, kspec_error *err) {
    kspec_status st = check_fit_opts(o, err);
    if (st) return st;
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
        return ks_fail(err, KSPEC_E_ARG, "draws %d and no_draws cannot be combined", o->draws);
    if (o->rank > RANK_MAX) return ks_fail(err, KSPEC_E_ARG, "rank %zu exceeds %d", o->rank, RANK_MAX);
    if (o->truth_center < KSPEC_CENTER_DEFAULT || o->truth_center > KSPEC_CENTER_BOTH)
        return ks_fail(err, KSPEC_E_ARG, "unknown truth_center %d", (int)o->truth_center);
    if (o->t_count && !o->t) return ks_fail(err, KSPEC_E_ARG, "the list of t is missing (NULL)");
    for (size_t k = 0; k < o->t_count; k++)
        if (!(o->t[k] > 0 && isfinite(o->t[k])))
            return ks_fail(err, KSPEC_E_ARG, "t %g (number %zu) is not positive", o->t[k], k + 1);
    return KSPEC_OK;
}

static void release(void *result) { kspec_free(((kspec_spectrum_result *)result)->moments); }

/*
 * Sets the participation ratio. For a matrix, the estimated moments contain the ratio. For given moments, the
 * ratio is m(1)^2/m(2), and its error follows from the moments' errors.
 */
static void participation_ratio(const job *j) {
    kspec_spectrum_result *r = j->r;
    const kspec_moments_result *m = r->moments;
    r->participation_ratio = m ? m->participation_ratio : NAN;
    r->participation_ratio_std_error = m ? m->participation_ratio_std_error : NAN;
    r->participation_ratio_ci_low = m ? m->participation_ratio_ci_low : NAN;
    r->participation_ratio_ci_high = m ? m->participation_ratio_ci_high : NAN;
    if (m || j->count < 2 || !(j->m[1] > 0)) return;
    double root = j->m[0] / sqrt(j->m[1]);
    r->participation_ratio = root * root;
    if (!j->std_error) return;
    double a = 2 * j->std_error[0] / j->m[0], b = j->std_error[1] / j->m[1],
           rho = j->correlation ? j->correlation[1] : 0, error = sqrt(a * a - 2 * rho * a * b + b * b);
    r->participation_ratio_std_error = r->participation_ratio * error;
    r->participation_ratio_ci_low = fmax(1, r->participation_ratio * exp(-1.959964 * error));
    r->participation_ratio_ci_high = fmax(1, r->participation_ratio * exp(1.959964 * error));
}

/* Sets the fields common to all methods: the moments, given or estimated, and their participation ratio. */
kspec_status ks_spectrum_given(ks_spectrum_job *j, kspec_error *err) {
    kspec_spectrum_result *r = j->r;
    ks_arena *arena = ks_result_arena(r);
    r->given = ks_arena_alloc(arena, j->count, sizeof(double));
    r->given_std_error = ks_arena_alloc(arena, j->count, sizeof(double));
    if (arena->failed) return ks_nomem(err, "the spectrum", arena->failed);
    r->count = j->count;
    for (size_t n = 0; n < j->count; n++) {
        r->given[n] = j->m[n];
        r->given_std_error[n] = j->std_error ? j->std_error[n] : NAN;
    }
    participation_ratio(j);
    return KSPEC_OK;
}

/* Allocates the result, with the fields of the chosen method. */
static kspec_status new_result(job *j, kspec_error *err) {
    if (!(j->r = ks_result_new(sizeof *j->r))) return ks_nomem(err, "the result", sizeof *j->r);
    ks_result_owns(j->r, release);
    ks_arena *arena = ks_result_arena(j->r);
    j->r->method = j->o.method;
    if (j->o.method == KSPEC_SPECTRUM_METHOD_FIT) j->r->fit = ks_arena_zalloc(arena, 1, sizeof *j->r->fit);
    if (j->o.method == KSPEC_SPECTRUM_METHOD_MOMENTS) j->r->lp = ks_arena_zalloc(arena, 1, sizeof *j->r->lp);
    if (j->o.method == KSPEC_SPECTRUM_METHOD_NEWTON)
        j->r->newton = ks_arena_zalloc(arena, 1, sizeof *j->r->newton);
    if (j->o.method == KSPEC_SPECTRUM_METHOD_CVPCA)
        j->r->cvpca = ks_arena_zalloc(arena, 1, sizeof *j->r->cvpca);
    return arena->failed ? ks_nomem(err, "the result", arena->failed) : KSPEC_OK;
}

/* given: 1 if the caller gave moments instead of a matrix */
static kspec_status begin(job *j, const kspec_spectrum_opts *opts, int given, kspec_error *err) {
    kspec_status st = ks_take_opts(&j->o, sizeof j->o, opts, err);
    if (!st) st = ks_run_init(&j->run, j->o.threads, j->o.progress, err);
    j->run.team = j->o.team;
    if (!st && given && j->o.method == KSPEC_SPECTRUM_METHOD_CVPCA)
        st = ks_fail(err, KSPEC_E_ARG, "the method cvpca needs a matrix, not moments");
    if (given && j->o.method == KSPEC_SPECTRUM_METHOD_FIT) j->o.method = KSPEC_SPECTRUM_METHOD_MOMENTS;
    if (!st) st = check_opts(&j->o, err);
    if (!st && given && (j->o.moments || j->o.center || j->o.device))
        st = ks_fail(err, KSPEC_E_ARG, "%s: the moments are given, and none is estimated",
                     j->o.moments  ? "moments"
                     : j->o.center ? "center"
                                   : "device");
    j->o.method = chosen(&j->o);
    return st ? st : new_result(j, err);
}

static kspec_status finish(job *j, kspec_status st, kspec_spectrum_result **out) {
    ks_arena_free(&j->arena);
    return ks_end(st, j->r, j->start, out);
}

static kspec_status by_moments(job *j, kspec_error *err) {
    return j->o.method == KSPEC_SPECTRUM_METHOD_NEWTON ? ks_spectrum_by_newton(j, err)
                                                       : ks_spectrum_by_moments(j, err);
}

kspec_status kspec_spectrum_from_moments(const double *m, const double *std_error, const double *correlation,
                                         size_t count, const kspec_spectrum_opts *opts,
                                         kspec_spectrum_result **out, kspec_error *err) {
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    job j = {.start = ks_now(),
             .m = m,
             .std_error = std_error,
             .correlation = correlation,
             .count = count,
             .sample_top = NAN};
    kspec_status st = begin(&j, opts, 1, err);
    if (!st) st = by_moments(&j, err);
    if (!st) st = ks_spectrum_doubts(&j, err);
    return finish(&j, ks_team_end(j.o.team, st, err), out);
}

/* ---- from a matrix ---- */

/*
 * The moments take this share of the progress, and the sample's eigenvalues the next. A fit starts earlier,
 * and so does cross-validation, which ends where the sample's eigenvalues start.
 */
static const double moments_until = 0.7, sample_until = 0.8, fit_from = 0.2;

static int moments_progress(void *ctx, double fraction) {
    const job *j = ctx;
    const int fit = j->o.method == KSPEC_SPECTRUM_METHOD_FIT || j->o.method == KSPEC_SPECTRUM_METHOD_CVPCA;
    double until = fit ? fit_from : moments_until;
    return j->o.progress.report(j->o.progress.ctx, until * fraction);
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
            return ks_refuse(err, KSPEC_E_NUMERIC, "normalize", NULL,
                             "m(%zu) is below the smallest double; scale the data", k + 1);
        m[k] = e->value;
        errors[k] = e->std_error;
    }
    j->m = m;
    j->count = r->count;
    if (r->correlation) j->std_error = errors;
    j->correlation = r->correlation;
    return KSPEC_OK;
}

/* The orders that check a fit by default; the smallest and the largest side of a matrix */
enum { CHECKED = 4, LEAST = 4, MOST = 32000 };

static kspec_status check_size(size_t P, size_t Q, kspec_error *err) {
    size_t n = P < Q ? P : Q;
    if (n < LEAST && n > 0)
        return ks_fail(
            err, KSPEC_E_DATA,
            "a fit needs at least %d rows and %d columns, not %zu x %zu; the method moments takes less",
            LEAST, LEAST, P, Q);
    if (n > MOST)
        return ks_fail(err, KSPEC_E_DATA,
                       "a fit of %zu x %zu: the shorter side exceeds %d; select fewer rows or columns", P, Q,
                       MOST);
    return KSPEC_OK;
}

/* Rejects options that moments support and a fit does not. */
static kspec_status check_estimation(const kspec_matrix *phi, const kspec_moments_opts *how, const char *who,
                                     kspec_error *err) {
    const char *what = how->block                           ? "blocks"
                       : how->row_groups || how->col_groups ? "groups"
                       : how->pairwise                      ? "missing entries"
                                                            : NULL;
    if (what) return ks_fail(err, KSPEC_E_ARG, "%s does not know of %s; the method moments does", who, what);
    if ((how->population_rows && how->population_rows != phi->rows) ||
        (how->population_cols && how->population_cols != phi->cols))
        return ks_fail(
            err, KSPEC_E_ARG,
            "%s does not know of finite populations but complete ones (%zu rows, %zu columns); the "
            "method moments does",
            who, phi->rows, phi->cols);
    return KSPEC_OK;
}

/* The default orders of the check: as many as the centred estimates can have */
static int checked_orders(const kspec_matrix *phi, kspec_center center) {
    size_t n = center == KSPEC_CENTER_BOTH ? CHECKED - 1 : CHECKED;
    if (ks_rows_centred(center)) n = n < phi->rows / 2 ? n : phi->rows / 2;
    if (ks_cols_centred(center)) n = n < phi->cols / 2 ? n : phi->cols / 2;
    return (int)n;
}

/* Copies the options of the moments. Fails if these set an option that the spectrum's options also have. */
static kspec_status take_moments(const kspec_spectrum_opts *o, kspec_moments_opts *used, kspec_error *err) {
    kspec_status st = ks_take_opts(used, sizeof *used, o->moments, err);
    if (st) return st;
    const char *twice = used->seed              ? "seed"
                        : used->threads         ? "threads"
                        : used->progress.report ? "progress"
                        : used->center          ? "center"
                        : used->correlation     ? "correlation"
                        : used->device          ? "device"
                        : used->team            ? "team"
                                                : NULL;
    if (twice)
        return ks_fail(err, KSPEC_E_ARG, "%s is set in the moments' options: it belongs to the spectrum's",
                       twice);
    if (used->data_memory)
        return ks_fail(err, KSPEC_E_ARG, "data_memory %d: a spectrum needs its matrix in the host's memory",
                       (int)used->data_memory);
    used->size = sizeof *used; /* our size, not the caller's */
    used->seed = o->seed;
    used->center = o->center;
    const int of_moments =
        o->method == KSPEC_SPECTRUM_METHOD_MOMENTS || o->method == KSPEC_SPECTRUM_METHOD_NEWTON;
    const kspec_center usual = of_moments ? KSPEC_CENTER_NONE : KSPEC_CENTER_ROWS;
    if ((st = ks_center_resolve(&used->center, usual, err))) return st;
    used->correlation = !used->no_stderr;
    used->device = o->device;
    used->team = o->team;
    return KSPEC_OK;
}

/* Returns as many orders as the rank, if the matrix allows that many */
static int newton_orders(const job *j, const kspec_matrix *phi) {
    const size_t rank = j->o.rank < KS_NEWTON_RANK ? j->o.rank : KS_NEWTON_RANK;
    const size_t n = !phi ? 0 : phi[0].rows < phi[0].cols ? phi[0].rows : phi[0].cols;
    return (int)(rank < n ? rank : n);
}

static kspec_status estimate(job *j, const kspec_matrix *phi, size_t ntrials, kspec_moments_opts *used,
                             kspec_error *err) {
    kspec_status st = KSPEC_OK;
    j->r->center = used->center;
    j->bars = !used->no_stderr;
    int fit = j->o.method == KSPEC_SPECTRUM_METHOD_FIT && phi;
    if (fit && (st = check_size(phi[0].rows, phi[0].cols, err))) return st;
    int crossed = j->o.method == KSPEC_SPECTRUM_METHOD_CVPCA;
    if (crossed && (st = ks_check_cvpca(phi, ntrials, used, err))) return st;
    if ((fit || crossed) && phi &&
        (st = check_estimation(&phi[0], used, fit ? "a fit" : "cross-validation", err)))
        return st;
    used->threads = j->run.threads;
    if (j->o.method == KSPEC_SPECTRUM_METHOD_NEWTON && !used->nmax) used->nmax = newton_orders(j, phi);
    /* centred data use AUTO's own orders, within AUTO's budget */
    if (fit && !used->nmax && !ks_centred(used->center)) used->nmax = checked_orders(&phi[0], used->center);
    if (crossed && !used->nmax && phi) {
        int most = checked_orders(&phi[0], used->center);
        used->nmax = most > 1 && phi[0].rows > 1 && phi[0].cols > 1 ? 2 : 1;
    }
    used->progress = (kspec_progress){0};
    if (j->o.progress.report) used->progress = (kspec_progress){moments_progress, j};
    ks_team_within(used->team, 1);
    st = kspec_moments(phi, ntrials, used, &j->r->moments, err);
    ks_team_within(used->team, -1);
    return st ? st : use_estimates(j, used, err);
}

static kspec_status sample(job *j, const kspec_matrix *phi, size_t ntrials, const kspec_moments_opts *how,
                           kspec_error *err) {
    size_t n = phi[0].rows < phi[0].cols ? phi[0].rows : phi[0].cols;
    if (n > KS_SAMPLE_MAX) return KSPEC_OK;
    ks_arena *arena = ks_result_arena(j->r);
    j->r->sample_eigenvalues = ks_arena_alloc(arena, n, sizeof(double));
    if (arena->failed) return ks_nomem(err, "the sample's eigenvalues", arena->failed);
    j->r->sample_count = n;
    ks_run part = ks_run_part(&j->run, moments_until, sample_until);
    kspec_status st = ks_sample_eigenvalues(&part, phi, ntrials, how, j->r->sample_eigenvalues, err);
    if (!st) j->sample_top = j->r->sample_eigenvalues[0];
    return st;
}

/* The matrix, its trials, and the options of its moments */
typedef struct {
    job *j;
    const kspec_matrix *phi;
    size_t ntrials;
    kspec_moments_opts how;
} call;

/*
 * Chooses the GPU or the CPU by the products of the sample's Gram matrix and its eigenproblem, and for a fit
 * also by the eigenvectors and the products of the singular vectors. An eigenproblem of order n takes about
 * 4 n^3 multiply-adds, and 9 n^3 with eigenvectors.
 */
static kspec_status decide(const call *c, ks_placement *placement, kspec_error *err) {
    const double P = (double)c->phi->rows, Q = (double)c->phi->cols, n = fmin(P, Q);
    const int fit = c->j->o.method == KSPEC_SPECTRUM_METHOD_FIT;
    const double longest = fmax(P, Q) * n * sizeof(double);
    const double work = (fit ? 2 : 1) * n * P * Q + (fit ? 9 : 4) * n * n * n;
    const ks_load l = {work, (size_t)(n * n * sizeof(double) + (fit ? 2 : 1) * longest)};
    return ks_where_second(placement, &l, NULL, err);
}

static kspec_status run_method(job *j, const call *c, kspec_error *err) {
    const ks_run whole = j->run;
    kspec_status st = KSPEC_OK;
    if (j->o.method == KSPEC_SPECTRUM_METHOD_FIT) {
        j->run = ks_run_part(&whole, fit_from, 1);
        *j->r->fit = (kspec_spectrum_fit){0};
        return ks_spectrum_by_fit(j, c->phi, c->ntrials, &c->how, err);
    }
    if (j->o.method == KSPEC_SPECTRUM_METHOD_CVPCA) {
        j->run = ks_run_part(&whole, fit_from, moments_until);
        st = ks_spectrum_by_cvpca(j, c->phi, c->ntrials, &c->how, err);
        j->run = whole;
    }
    if (!st) st = sample(j, c->phi, c->ntrials, &c->how, err);
    if (!st && j->o.method != KSPEC_SPECTRUM_METHOD_CVPCA) {
        j->run = ks_run_part(&whole, sample_until, 1);
        st = by_moments(j, err);
    }
    return st;
}

static kspec_status attempt(void *ctx, ks_placement *placement, kspec_error *err) {
    call *c = ctx;
    job *j = c->j;
    const ks_run whole = j->run;
    kspec_status st = decide(c, placement, err);
    j->run.device = placement->device;
    if (!st) st = run_method(j, c, err);
    j->run = whole;
    if (st) return st;
    ks_placement_describe(placement, &j->r->device);
    return ks_spectrum_doubts(j, err);
}

kspec_status kspec_spectrum(const kspec_matrix *phi, size_t ntrials, const kspec_spectrum_opts *opts,
                            kspec_spectrum_result **out, kspec_error *err) {
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    job j = {.start = ks_now(), .sample_top = NAN};
    call c = {.j = &j, .phi = phi, .ntrials = ntrials};
    ks_placement placement = {0};
    kspec_status st = begin(&j, opts, 0, err);
    if (!st) st = take_moments(&j.o, &c.how, err);
    if (!st && c.how.standardize) st = ks_standardize(&c.phi, ntrials, c.how.row_trials, &j.arena, err);
    if (!st) st = estimate(&j, c.phi, ntrials, &c.how, err);
    if (!st) st = ks_placement_open(&placement, ks_device_of_rank(j.o.device, j.o.team), err);
    st = ks_placement_run(&placement, st, j.o.team, attempt, &c, err);
    return finish(&j, st, out);
}
