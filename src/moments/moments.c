/*
 * kspec_moments(): checks the arguments, plans the tasks, averages each task, and computes error bars from
 * the leave-one-out estimates.
 */
#include "base/result.h"
#include "base/center.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/matrix.h"
#include "checks/check.h"
#include "device/borrowed.h"
#include "linalg/linalg.h"
#include "moments/doubts.h"
#include "moments/average.h"
#include "moments/jackknife.h"
#include "moments/scale_free.h"
#include "moments/second.h"
#include "moments/trials_device.h"
#include "moments/where.h"
#include "team/team.h"

#include <float.h>
#include <math.h>

/*
 * The path estimator promises to allocate no matrix. The participation ratio allocates a few matrices of the
 * size of the data, which are negligible up to LARGE_FOR_PATH entries.
 */
#define LARGE_FOR_PATH ((size_t)1 << 18)

typedef struct {
    kspec_moments_opts o;
    ks_trials trials;
    ks_tasks tasks;
    ks_run run;
    ks_arena arena;
    ks_source source;
    /* The caller's groups of dependent rows and columns. Without groups, each row or column is one group. */
    ks_groups rows, cols;
    size_t missing;
    /*
     * For rows and for columns, share = 1 - P/N is the fraction of the variance that sampling P of N units
     * leaves. A complete side has share 0.
     */
    double share[2];
    /*
     * loo[k] lists the P + Q leave-one-out values of estimate k in scaled units, for the correlation of the
     * estimates. P and Q count rows and columns, or groups.
     */
    double **loo;
    /*
     * second contains m(2) by the path or the exact estimator: from all data, without each row, and without
     * each column. NULL if neither estimator computes m(2). The participation ratio uses these values on a
     * device, or if path runs on a large matrix. In all other cases the participation ratio equals
     * kspec_dimension()'s to the last bit.
     */
    double *second;
    kspec_estimator second_by;
    /* bars lists the error bar of each estimate in scaled units. room is scratch for one error bar. */
    ks_error_bar *bars;
    double *room;
} job;

static kspec_status check_assignment(const job *j, kspec_error *err) {
    if (j->trials.count < 2 || j->trials.row_trials)
        return ks_fail(err, KSPEC_E_ARG, "the assignment scheme needs at least 2 trials of every row");
    if (j->o.permutations > 1)
        return ks_fail(err, KSPEC_E_ARG, "permutations %d: the assignment scheme uses the given order only",
                       j->o.permutations);
    for (int k = 0; k < j->tasks.count; k++)
        if (j->tasks.task[k].method != KSPEC_ESTIMATOR_PATH)
            return ks_fail(err, KSPEC_E_ARG, "the assignment scheme is for path (both sides sampled), not %s",
                           ks_estimator_name(j->tasks.task[k].label));
    return KSPEC_OK;
}

/* Counts missing entries, and rejects options that cannot be combined with missing entries. */
static kspec_status check_holes(job *j, kspec_error *err) {
    kspec_moments_opts *o = &j->o;
    if (!o->pairwise) return KSPEC_OK;
    const ks_dependence how = {NULL, o->row_groups, o->col_groups, o->pairwise};
    kspec_status st = ks_dependence_check(&how, o->row_trials, err);
    if (!st) st = ks_tasks_check_mixture(o, "missing entries", err);
    return st ? st : ks_trials_missing(&j->trials, &j->missing, err);
}

/*
 * Can the estimators use trials on a device in place? They can if one of the estimators gives m(2) for the
 * participation ratio.
 */
static int suit_tasks(const job *j) {
    int second = j->o.nmax < 2;
    for (int k = 0; k < j->tasks.count; k++) {
        const ks_task *t = &j->tasks.task[k];
        if (t->permutations || t->instead_orders) return 0;
        second |= (t->method == KSPEC_ESTIMATOR_PATH || t->method == KSPEC_ESTIMATOR_EXACT) && t->last >= 2;
    }
    return second && j->share[0] == 1 && j->share[1] == 1;
}

static kspec_status check(job *j, const kspec_matrix *phi, size_t ntrials, const ks_device *device,
                          kspec_error *err) {
    kspec_moments_opts *o = &j->o;
    if (ntrials == 0) return ks_fail(err, KSPEC_E_ARG, "number of trials 0 is below 1");
    kspec_status st = ks_matrix_check(phi, "the matrix", err);
    if (st) return st;
    size_t P = phi[0].rows, Q = phi[0].cols;
    const int on_device = j->trials.on_device;
    if (ntrials == 1 && o->row_trials)
        return ks_fail(err, KSPEC_E_ARG, "ragged trials need at least 2 trials, not 1");
    j->trials = ks_trials_of(phi, ntrials, o);
    j->trials.on_device = on_device;
    j->trials.pairwise = o->pairwise;
    if ((st = ks_trials_init(&j->trials, err))) return st;
    if ((st = ks_groups_make(&j->rows, o->row_groups, P, "row", &j->arena, err))) return st;
    if ((st = ks_groups_make(&j->cols, o->col_groups, Q, "column", &j->arena, err))) return st;
    j->trials.keep_means = !ks_groups_even(&j->rows);
    if ((st = check_holes(j, err))) return st;
    if (o->correlation && o->no_stderr)
        return ks_fail(err, KSPEC_E_ARG, "correlation and no_stderr cannot be combined");
    if (o->scale_free && o->nmax == 1)
        return ks_refuse(err, KSPEC_E_ARG, "scale_free", NULL, "scale_free needs an order above 1");
    if (o->scale_free && (o->no_stderr || o->scheme == KSPEC_TRIALS_ASSIGNMENT))
        return ks_refuse(err, KSPEC_E_ARG, o->no_stderr ? "no_stderr" : "scheme", NULL,
                         "scale_free needs error bars, which %s",
                         o->no_stderr ? "no_stderr leaves out" : "the assignment scheme lacks");
    if (o->splits < 0) return ks_fail(err, KSPEC_E_ARG, "splits %d is below 1", o->splits);
    if (o->splits == 0) o->splits = 8;
    size_t repeats = ks_trials_splits(&j->trials, o->splits);
    if (j->rows.of || j->cols.of)
        st = ks_tasks_make_grouped(o, P, Q, j->rows.count, j->cols.count, repeats, &j->tasks, err);
    else if (j->missing && ks_centred(o->center))
        st = ks_tasks_make_holes(o, P, Q, &j->tasks, err);
    else
        st = ks_tasks_make(o, P, Q, repeats, ntrials > 1, device, &j->tasks, err);
    if (st) return st;
    for (int side = 0; side < 2; side++) j->share[side] = ks_exact_sampled_share(&j->tasks.exact, side);
    if (o->scheme == KSPEC_TRIALS_ASSIGNMENT && (st = check_assignment(j, err))) return st;
    if (on_device && !suit_tasks(j)) return KS_RETRY_ON_HOST;
    return ks_trials_scale_by(&j->run, &j->trials, o->nmax, err);
}

/*
 * The exact estimator's rounding error is at most ROUNDING DBL_EPSILON times the sum of |terms|. Each term is
 * a sum of products, and loses a few bits (docs/measurements/moments.md).
 */
static const double ROUNDING = 16;

/* Turns the sums of one estimator at order n into an estimate with error bars, in the units of the data. */
static kspec_estimate finish(const job *j, const ks_task *task, int n, const ks_moments_out *sum,
                             const double *square, ks_error_bar *bar) {
    size_t P = j->rows.count, Q = j->cols.count; /* numbers of groups */
    double m = sum->m[n - 1];
    kspec_estimate e = {task->label, n, m,   NAN, NAN, NAN, ks_signed_root(m, n), NAN, NAN, NAN,
                        1,           0, NAN, NAN, NAN, NAN};
    if (j->source.cycles) e.cycles = j->source.cycles[n - 1];
    if (sum->rows) {
        ks_jackknife(m, n, sum->rows + (size_t)(n - 1) * P, P, sum->cols + (size_t)(n - 1) * Q, Q, j->share,
                     j->room, bar);
        e.std_error = bar->std_error, e.ci_low = bar->low, e.ci_high = bar->high;
    }
    const int known = isfinite(e.std_error) && isfinite(e.ci_low) && isfinite(e.ci_high);
    if (!known) e.std_error = e.ci_low = e.ci_high = NAN;
    if (j->source.terms) {
        e.rounding = ROUNDING * DBL_EPSILON * j->source.terms[n - 1];
        e.ci_low -= e.rounding, e.ci_high += e.rounding;
    }
    if (j->o.scale_free) ks_scale_free(&e, sum, P, Q, j->share, j->room);
    if (square) {
        /*
         * V = E[value^2] - m^2 is the variance of one cycle, and the variance of m(n) is at most (1/P + 1/Q)
         * n^2 V. Chebyshev's inequality turns this bound into a 95% interval.
         */
        double V = square[n - 1] - m * m, factor = (1 / (double)P + 1 / (double)Q) * n * n;
        e.variance_bound = V > 0 ? factor * V : NAN;
        double half = sqrt(e.variance_bound / 0.05);
        e.chebyshev_low = m - half;
        e.chebyshev_high = m + half;
    }
    int e2 = 2 * j->trials.exponent;
    double *scaled[] = {&e.value, &e.std_error, &e.ci_low, &e.ci_high, &e.chebyshev_low, &e.chebyshev_high};
    int lost = 0; /* 1: underflow */
    for (size_t k = 0; k < sizeof scaled / sizeof *scaled; k++) {
        double before = *scaled[k];
        *scaled[k] = ldexp(before, n * e2);
        lost |= before != 0 && fabs(*scaled[k]) < DBL_MIN;
    }
    if (lost) e.std_error = e.ci_low = e.ci_high = e.chebyshev_low = e.chebyshev_high = NAN;
    e.variance_bound = ldexp(e.variance_bound, 2 * n * e2);
    if (e.variance_bound < DBL_MIN) e.variance_bound = NAN;
    e.rounding = ldexp(e.rounding, n * e2);
    e.root = ldexp(e.root, e2);
    return e;
}

/* Reports that every cycle of order n contains a missing entry. */
static kspec_status none_left(const job *j, const ks_task *task, int n, kspec_error *err) {
    int left = n - 1;
    while (left > 0 && !(j->source.cycles[left - 1] > 0)) left--;
    return ks_fail(err, KSPEC_E_DATA, "%s: the %zu missing entries leave no cycle of order %d%s",
                   ks_estimator_name(task->label), j->missing, n, left ? "; ask for a lower order" : "");
}

/*
 * Leaving rows out changes the standard deviations of the columns. The function corrects the leave-one-out
 * values for this change.
 */
static kspec_status restandardize(const job *j, const ks_task *task, const ks_moments_out *sum,
                                  kspec_error *err) {
    const int distinct = task->method == KSPEC_ESTIMATOR_PATH || task->method == KSPEC_ESTIMATOR_EXACT;
    const ks_measured how = {.trials = j->trials,
                             .standardized = j->o.standardize,
                             .rows = j->rows,
                             .cols = j->cols,
                             .population = {INFINITY, j->share[1] == 1 ? INFINITY : 1}};
    return sum->rows && distinct ? ks_standard_orders(&how, task->last, sum->m, sum->rows, sum->cols, err)
                                 : KSPEC_OK;
}

/*
 * Keeps m(2) for the participation ratio. The exact estimator takes precedence over path, because exact has
 * the smallest variance.
 */
static void keep_second(job *j, kspec_estimator method, const ks_moments_out *sum) {
    size_t P = j->rows.count, Q = j->cols.count;
    if (!j->second || method < KSPEC_ESTIMATOR_PATH || method < j->second_by) return;
    j->second_by = method;
    j->second[0] = sum->m[1];
    for (size_t i = 0; i < P; i++) j->second[1 + i] = sum->rows ? sum->rows[P + i] : NAN;
    for (size_t a = 0; a < Q; a++) j->second[1 + P + a] = sum->cols ? sum->cols[Q + a] : NAN;
}

static kspec_status run_task(job *j, const ks_task *task, const ks_run *run, kspec_moments_result *out,
                             kspec_error *err) {
    size_t n = (size_t)task->last, P = j->rows.count, Q = j->cols.count;
    int assigned = j->o.scheme == KSPEC_TRIALS_ASSIGNMENT;
    int bound = j->o.bound && !assigned &&
                (task->method == KSPEC_ESTIMATOR_PATH || task->method == KSPEC_ESTIMATOR_EXACT);
    ks_arena arena = {0};
    ks_moments_out sum = {ks_arena_alloc(&arena, n, sizeof(double)), NULL, NULL};
    double *square = bound ? ks_arena_alloc(&arena, n, sizeof(double)) : NULL;
    if (!j->o.no_stderr && !assigned) {
        sum.rows = ks_arena_alloc(&arena, ks_size(n, P), sizeof(double));
        sum.cols = ks_arena_alloc(&arena, ks_size(n, Q), sizeof(double));
    }
    j->source.cycles = j->missing ? ks_arena_alloc(&arena, n, sizeof(double)) : NULL;
    int terms = task->method == KSPEC_ESTIMATOR_EXACT;
    j->source.terms = terms ? ks_arena_zalloc(&arena, 2 * n, sizeof(double)) : NULL;
    kspec_status st = arena.failed ? ks_nomem(err, "leave-one-out estimates", arena.failed) : KSPEC_OK;
    ks_run first = ks_run_part(run, 0, bound ? 0.8 : 1), second = ks_run_part(run, 0.8, 1);
    if (!st)
        st = assigned ? ks_average_assigned(&first, &j->source, task, &sum, err)
                      : ks_average(&first, &j->source, task, 0, &sum, err);
    if (!st) st = restandardize(j, task, &sum, err);
    if (!st && bound) {
        ks_source squares = j->source;
        squares.terms = NULL;
        st = ks_average(&second, &squares, task, 1, &(ks_moments_out){square, NULL, NULL}, err);
    }
    for (int k = task->first; k <= task->last && !st; k++) {
        kspec_estimate *e = out->estimates[out->count];
        *e = finish(j, task, k, &sum, square, &j->bars[out->count]);
        if (j->loo) {
            double *loo = j->loo[out->count];
            for (size_t i = 0; i < P; i++) loo[i] = sum.rows ? sum.rows[(size_t)(k - 1) * P + i] : NAN;
            for (size_t a = 0; a < Q; a++) loo[P + a] = sum.cols ? sum.cols[(size_t)(k - 1) * Q + a] : NAN;
        }
        if (k == 2) keep_second(j, task->method, &sum);
        out->count++;
        if (j->missing && isnan(e->value))
            st = none_left(j, task, k, err);
        else if (!isfinite(e->value))
            st = ks_refuse(err, KSPEC_E_NUMERIC, "normalize", NULL,
                           "%s: m(%d) exceeds the largest double; scale the data",
                           ks_estimator_name(task->label), k);
    }
    ks_arena_free(&arena);
    return st;
}

/*
 * Returns the first order of the last task whose rounding error is doubtful, counted from 0. If no order is
 * doubtful, returns the number of orders.
 */
static int first_doubtful(const ks_task *task, const kspec_moments_result *out) {
    int orders = task->last - task->first + 1, k = 0;
    size_t at = out->count - (size_t)orders;
    while (k < orders && !ks_estimate_doubtful(out->estimates[at + (size_t)k])) k++;
    return k;
}

/* If the rounding error of an exact task is doubtful, splits off one outlying entry and repeats the task. */
static kspec_status lower_rounding(job *j, const ks_task *task, const ks_run *run, kspec_moments_result *out,
                                   kspec_error *err) {
    int orders = task->last - task->first + 1;
    if (first_doubtful(task, out) == orders) return KSPEC_OK;
    out->count -= (size_t)orders;
    j->source.apart = 1;
    kspec_status st = run_task(j, task, run, out, err);
    j->source.apart = 0;
    return st;
}

/*
 * Recomputes doubtful orders of the exact estimator with the task's substitute method, from the first
 * doubtful order on.
 */
static kspec_status replace_doubtful(job *j, const ks_task *task, const ks_run *run,
                                     kspec_moments_result *out, kspec_error *err) {
    int orders = task->last - task->first + 1, k = first_doubtful(task, out);
    size_t at = out->count - (size_t)orders;
    if (k == orders) return KSPEC_OK;
    if (task->first + k <= 2) j->second_by = 0; /* rounding may have spoiled m(2) */
    out->count = at + (size_t)k;
    out->permutations = task->instead_orders ? task->instead_orders : 1;
    if (j->tasks.transposed) out->side = KSPEC_SIDE_TRANSPOSED;
    ks_task instead = {task->instead, task->instead, task->first + k, task->last, task->instead_orders, 0, 0};
    return run_task(j, &instead, run, out, err);
}

static kspec_status alloc_result(job *j, size_t count, kspec_moments_result *out, kspec_error *err) {
    ks_arena *own = ks_result_arena(out);
    out->estimates = ks_arena_list(own, count, sizeof **out->estimates);
    if (!out->estimates) return ks_nomem(err, "the estimates", own->failed);
    const size_t each = ks_size_add(j->rows.count, j->cols.count);
    j->bars = ks_arena_zalloc(&j->arena, count, sizeof *j->bars);
    j->room = ks_arena_alloc(&j->arena, ks_size(each, j->o.scale_free ? 2 : 1), sizeof *j->room);
    if (j->arena.failed) return ks_nomem(err, "the jackknife", j->arena.failed);
    if (!j->o.correlation) return KSPEC_OK;
    out->correlation = ks_arena_alloc(own, ks_size(count, count), sizeof *out->correlation);
    j->loo = ks_arena_alloc(&j->arena, count, sizeof *j->loo);
    for (size_t k = 0; k < count && j->loo; k++) j->loo[k] = ks_arena_alloc(&j->arena, each, sizeof(double));
    if (out->correlation && !j->arena.failed) return KSPEC_OK;
    return ks_nomem(err, "the correlation of the estimates", ks_size(ks_size(count, each), sizeof(double)));
}

/*
 * If the GPU's memory is too small for the second-order sums, the CPU computes these sums. The estimators
 * still use the GPU.
 */
static kspec_status make_second(job *j, const ks_run *run, ks_measured *m, ks_second *s, kspec_error *err) {
    ks_run host = *run;
    host.device = NULL;
    kspec_status st = ks_second_make(run, m, j->o.splits, j->o.seed, s, &j->arena, err);
    if (st != KSPEC_E_NOMEM || !run->device || run->team) return st;
    ks_clear(err);
    return ks_second_make(&host, m, j->o.splits, j->o.seed, s, &j->arena, err);
}

/*
 * The participation ratio of data centred over columns equals the ratio of the transposes centred over rows.
 */
static kspec_status ratio_of_transposes(job *j, const ks_measured *of, const ks_run *run, ks_second *s,
                                        kspec_error *err) {
    const ks_trials *t = &j->trials;
    kspec_matrix *phi = ks_arena_alloc(&j->arena, t->count, sizeof *phi);
    if (!phi) return ks_nomem(err, "the trials", j->arena.failed);
    for (size_t k = 0; k < t->count; k++)
        phi[k] = (kspec_matrix){t->phi[k].data, t->Q, t->P, t->phi[k].col_stride, t->phi[k].row_stride};
    ks_measured m = {
        .trials = *t, .population = {of->population[1], of->population[0]}, .rows = j->cols, .cols = j->rows};
    m.trials.phi = phi, m.trials.P = t->Q, m.trials.Q = t->P, m.trials.center = KSPEC_CENTER_ROWS;
    kspec_status st = ks_trials_alloc(&m.trials, &j->arena, &m.halves, err);
    return st ? st : make_second(j, run, &m, s, err);
}

/*
 * Computes the second-order sums for the participation ratio, which does not depend on the requested
 * estimators. The result omits the ratio if the caller requests only m(1), or if the data have too few rows
 * or columns. The result also omits the ratio if m(1)^2 has no unbiased estimate. No unbiased estimate exists
 * for kernels centred on both sides, and for ragged trials centred over columns.
 */
static kspec_status second_order(job *j, const ks_run *run, ks_second *s, kspec_error *err) {
    const int whole[2] = {j->share[0] == 0, j->share[1] == 0}, turned = j->o.center == KSPEC_CENTER_COLS;
    const size_t sampled = ks_centred(j->o.center) ? 4 : 2,
                 rows = whole[0] ? 1
                        : turned ? 2
                                 : sampled,
                 cols = whole[1] ? 1
                        : turned ? sampled
                                 : 2;
    if (j->o.nmax < 2 || j->rows.count < rows || j->cols.count < cols || (whole[0] && whole[1]))
        return KSPEC_OK;
    ks_measured m = {.trials = j->trials,
                     .standardized = j->o.standardize,
                     .halves = j->source.halves,
                     .rows = j->rows,
                     .cols = j->cols};
    for (int side = 0; side < 2; side++) {
        const double of = j->tasks.exact.population[side];
        m.population[side] = whole[side] ? (double)(side ? j->trials.Q : j->trials.P)
                             : of > 0    ? of
                                         : INFINITY;
    }
    const int by_path = j->second_by == KSPEC_ESTIMATOR_PATH && j->trials.P * j->trials.Q > LARGE_FOR_PATH;
    if (j->second_by && (j->run.device || by_path))
        return ks_second_of_moment(run, &m, j->o.splits, j->o.seed, !j->o.no_stderr, j->second, s, &j->arena,
                                   err);
    if (j->o.center == KSPEC_CENTER_BOTH) return KSPEC_OK;
    if (!turned) return make_second(j, run, &m, s, err);
    if (j->trials.row_trials) return KSPEC_OK;
    return ratio_of_transposes(j, &m, run, s, err);
}

static kspec_status participation_ratio(job *j, const ks_run *run, kspec_moments_result *out,
                                        kspec_error *err) {
    ks_dimensionality d = {NAN, NAN, {.std_error = NAN, .low = NAN, .high = NAN}};
    ks_second s = {.naive = NAN};
    kspec_status st = second_order(j, run, &s, err);
    if (!st && s.square && !ks_second_check(&s, "", NULL)) st = ks_ratio_errors(&s, &d, &j->arena, err);
    if (j->o.no_stderr) d.bar.std_error = d.bar.low = d.bar.high = NAN;
    out->participation_ratio = d.value;
    out->participation_ratio_rounding = d.rounding;
    out->participation_ratio_std_error = d.bar.std_error;
    out->participation_ratio_ci_low = d.bar.low;
    out->participation_ratio_ci_high = d.bar.high;
    out->participation_ratio_naive = s.naive;
    return st;
}

/*
 * Finds the error bar with the fewest degrees of freedom, and warns about it. The search skips the naive
 * estimator, and estimates that do not differ from 0.
 */
static void doubt_dominated(const job *j, kspec_moments_result *out) {
    const ks_labels of = {j->rows.count, j->cols.count, j->rows.of != NULL, j->cols.of != NULL, 0};
    size_t least = out->count;
    for (size_t k = 0; k < out->count; k++)
        if (out->estimates[k]->estimator != KSPEC_ESTIMATOR_NAIVE && out->estimates[k]->ci_low > 0 &&
            (least == out->count || j->bars[k].degrees < j->bars[least].degrees))
            least = k;
    if (least == out->count) return;
    char what[40];
    ks_print(what, sizeof what, "m(%d)", out->estimates[least]->n);
    ks_doubt_dominated(KS_DOUBTS(out), what, &j->bars[least], &of);
}

static kspec_status compute(job *j, kspec_moments_result *out, kspec_error *err) {
    size_t count_second = ks_size_add(1, ks_size_add(j->trials.P, j->trials.Q));
    double *mean = ks_arena_alloc(&j->arena, ks_size(3, j->trials.Q), sizeof *mean);
    if (j->share[0] > 0 && j->share[1] > 0 && !ks_centred(j->o.center) && !j->rows.of && !j->cols.of &&
        !j->missing)
        j->second = ks_arena_alloc(&j->arena, count_second, sizeof *j->second);
    out->groups = j->rows.of ? j->rows.count : 0;
    out->col_groups = j->cols.of ? j->cols.count : 0;
    out->missing = j->missing;
    out->center = j->o.center;
    kspec_status st = ks_trials_alloc(&j->trials, &j->arena, &j->source.halves, err);
    if (st) return st;
    out->side = KSPEC_SIDE_GIVEN;
    ks_pair p;
    ks_trials_split(&j->trials, j->o.seed, 0, &j->source.halves, &p);
    out->mean_share = NAN;
    if (!ks_centred(j->o.center) || j->trials.keep_means)
        st = ks_mean_share(&j->run, &p, &j->source.halves, mean, &out->mean_share, err);
    if (st) return st;

    double total = 0, done = 0; /* totals for progress */
    size_t count = 0;
    for (int k = 0; k < j->tasks.count; k++) {
        const ks_task *t = &j->tasks.task[k];
        count += (size_t)(t->last - t->first + 1);
        total += t->last * fmax(1, t->permutations);
    }
    total *= 1.05; /* for the ratio */
    if ((st = alloc_result(j, count, out, err))) return st;
    for (int k = 0; k < j->tasks.count && !st; k++) {
        const ks_task *t = &j->tasks.task[k];
        double share = t->last * fmax(1, t->permutations) / total;
        ks_run part = ks_run_part(&j->run, done, fmin(1, done + share));
        done += share;
        int stands_out = 0;
        j->source.stands_out = &stands_out;
        st = run_task(j, t, &part, out, err);
        j->source.stands_out = NULL;
        if (!st && stands_out) st = lower_rounding(j, t, &part, out, err);
        if (!st && t->instead) st = replace_doubtful(j, t, &part, out, err);
        /* Each split of the trials draws new orders. */
        int orders = t->permutations ? t->permutations * (int)ks_trials_splits(&j->trials, j->o.splits) : 1;
        if (t->method != KSPEC_ESTIMATOR_NAIVE && t->method != KSPEC_ESTIMATOR_EXACT)
            out->permutations = orders;
        if (t->method == KSPEC_ESTIMATOR_PATH && j->tasks.transposed) out->side = KSPEC_SIDE_TRANSPOSED;
    }
    if (!st && j->loo)
        ks_jackknife_correlation(out->count, (const double *const *)j->loo, j->rows.count, j->cols.count,
                                 j->share, out->correlation);
    ks_run rest = ks_run_part(&j->run, fmin(1, done), 1);
    if (!st) doubt_dominated(j, out), ks_doubt_orders_left_out(KS_DOUBTS(out), j->tasks.left_out, j->o.nmax);
    return st ? st : participation_ratio(j, &rest, out, err);
}

/*
 * Runs the call with this placement. If on_device is 1, the trials are in the memory of the placement's
 * device. If the call needs the trials on the host, the function returns KS_RETRY_ON_HOST and computes
 * nothing.
 */
static kspec_status attempt(const kspec_matrix *phi, size_t ntrials, const kspec_moments_opts *opts,
                            ks_placement *placement, int on_device, kspec_moments_result **out,
                            kspec_error *err) {
    job j = {.o = *opts, .trials.on_device = on_device};
    kspec_moments_result *r = NULL;
    kspec_status st = ks_run_init(&j.run, j.o.threads, j.o.progress, err);
    j.run.team = j.o.team;
    if (on_device) j.run.device = placement->device;
    if (!st) st = check(&j, phi, ntrials, placement->device, err);
    j.source =
        (ks_source){.o = &j.o, .trials = &j.trials, .tasks = &j.tasks, .rows = &j.rows, .cols = &j.cols};
    if (!st) st = ks_where(placement, &j.source, ks_trials_splits(&j.trials, j.o.splits), err);
    if (!st && on_device && !placement->device) st = KS_RETRY_ON_HOST; /* the CPU was chosen */
    j.run.device = placement->device;
    const int scaled = !st && on_device;
    if (scaled) st = ks_trials_device_scale(&j.run, &j.trials, err);
    if (!st && !(r = ks_result_new(sizeof *r))) st = ks_nomem(err, "the result", sizeof *r);
    if (!st && !(st = ks_blas_enter(j.run.threads, err))) {
        st = compute(&j, r, err);
        ks_blas_exit();
    }
    if (scaled) ks_trials_device_end(&j.run, &j.trials);
    ks_arena_free(&j.arena);
    ks_tasks_free(&j.tasks);
    if (st) kspec_free(r);
    *out = st ? NULL : r;
    return st;
}

/* Runs on the trials in GPU memory if possible, and otherwise on copies in host memory. */
static kspec_status attempt_borrowed(const kspec_matrix *phi, size_t ntrials, const kspec_moments_opts *o,
                                     ks_placement *placement, kspec_moments_result **out, kspec_error *err) {
    if (placement->device && ks_trials_device_suit(ntrials, o)) {
        kspec_status st = attempt(phi, ntrials, o, placement, 1, out, err);
        if (st != KS_RETRY_ON_HOST) return st;
    }
    ks_arena arena = {0};
    kspec_matrix *host = ks_arena_alloc(&arena, ntrials, sizeof *host);
    kspec_status st = host ? KSPEC_OK : ks_nomem(err, "the trials", arena.failed);
    if (!st) st = ks_borrowed_fetch(placement, phi, ntrials, host, &arena, err);
    if (!st) st = attempt(host, ntrials, o, placement, 0, out, err);
    ks_arena_free(&arena);
    return st;
}

typedef struct {
    const kspec_matrix *phi, *raw;
    size_t ntrials;
    const kspec_moments_opts *o;
    kspec_moments_result *result;
} call;

static kspec_status attempt_any(void *ctx, ks_placement *placement, kspec_error *err) {
    call *c = ctx;
    kspec_status st = c->o->data_memory == KSPEC_MEMORY_DEVICE
                          ? attempt_borrowed(c->phi, c->ntrials, c->o, placement, &c->result, err)
                          : attempt(c->phi, c->ntrials, c->o, placement, 0, &c->result, err);
    /* The data checks cannot read GPU memory. */
    const int looks = c->o->data_memory != KSPEC_MEMORY_DEVICE;
    const ks_checked data = KS_CHECKED(c);
    if (st) return looks ? ks_check_blame(st, &data, err) : st;
    ks_placement_describe(placement, &c->result->device);
    if (looks) ks_check(KS_DOUBTS(c->result), NULL, &data);
    ks_doubt_moments(c->result, c->phi->rows);
    const size_t failed = ks_result_arena(c->result)->failed;
    if (failed) return ks_nomem(err, "the list of doubts", failed);
    return looks ? ks_moments_check(c->result, c->phi, c->ntrials, err) : KSPEC_OK;
}

/* Divides columns by their standard deviations, and groups rows into blocks. */
static kspec_status prepare(call *c, kspec_moments_opts *o, ks_arena *arena, kspec_error *err) {
    const char *what = o->standardize ? "standardize" : o->block ? "block" : NULL;
    if (!what) return KSPEC_OK;
    if (o->data_memory == KSPEC_MEMORY_DEVICE)
        return ks_refuse(err, KSPEC_E_ARG, what, NULL, "%s takes a matrix in the host's memory", what);
    const ks_trials_given given = {c->phi, c->ntrials, o->row_trials};
    kspec_status st = ks_block_labels(&o->block, &o->row_groups, &given, NULL, arena, err);
    return st || !o->standardize ? st : ks_standardize(&c->phi, c->ntrials, o->row_trials, arena, err);
}

kspec_status kspec_moments(const kspec_matrix *phi, size_t ntrials, const kspec_moments_opts *opts,
                           kspec_moments_result **out, kspec_error *err) {
    kspec_moments_opts o;
    ks_placement placement = {0};
    call c = {phi, phi, ntrials, &o, NULL};
    ks_arena arena = {0};
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    double start = ks_now();
    kspec_status st = ks_take_opts(&o, sizeof o, opts, err);
    if (!st) st = ks_center_resolve(&o.center, KSPEC_CENTER_NONE, err);
    if (!st) st = ks_borrowed_check(o.data_memory, err);
    if (!st) st = prepare(&c, &o, &arena, err);
    if (!st && o.data_memory == KSPEC_MEMORY_DEVICE && ntrials == 0)
        st = ks_fail(err, KSPEC_E_ARG, "number of trials 0 is below 1");
    if (!st) o.device = ks_device_of_rank(o.device, o.team);
    if (!st)
        st = o.data_memory == KSPEC_MEMORY_DEVICE
                 ? ks_placement_of_data(&placement, o.device, phi, ntrials, err)
                 : ks_placement_open(&placement, o.device, err);
    st = ks_placement_run(&placement, st, o.team, attempt_any, &c, err);
    ks_arena_free(&arena);
    if (!st) c.result->block = o.block;
    return ks_end(st, c.result, start, out);
}
