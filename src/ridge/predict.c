/* Predicts points along a path of lambda, from the largest lambda down. */
#include "ridge/predict.h"

#include "base/error.h"
#include "base/sort.h"
#include "ridge/classify.h"
#include "ridge/errors.h"
#include "ridge/mix.h"
#include "ridge/one.h"
#include "team/team.h"

#include <float.h>
#include <math.h>
#include <string.h>

kspec_status ks_ridge_check_N(size_t N, kspec_error *err) {
    if (N == 0) return ks_fail(err, KSPEC_E_ARG, "N = 0 is below 1");
    if (N > 1000000000) return ks_fail(err, KSPEC_E_ARG, "N = %zu exceeds 1000000000", N);
    return KSPEC_OK;
}

kspec_status ks_ridge_check_lambda(const kspec_ridge *r, double lambda, kspec_error *err) {
    if (lambda == 0 && r->o.intercept)
        return ks_refuse(err, KSPEC_E_ARG, "intercept", NULL, "lambda 0 and an intercept cannot be combined");
    /* The square of lambda must be finite. */
    if (lambda == 0 || (lambda >= 1e-100 && lambda <= 1e100)) return KSPEC_OK;
    return ks_fail(err, KSPEC_E_ARG, "lambda %g is neither 0 nor between 1e-100 and 1e100", lambda);
}

kspec_status ks_ridge_check_lambdas(const kspec_ridge *r, const double *lambda, size_t count,
                                    kspec_error *err) {
    if (count == 0) return ks_fail(err, KSPEC_E_ARG, "the list of lambda is empty");
    kspec_status st = ks_check_pointer(err, lambda, "the list of lambda");
    for (size_t k = 0; k < count && !st; k++) st = ks_ridge_check_lambda(r, lambda[k], err);
    return st;
}

ks_run ks_ridge_still(const ks_run *run, double fraction) { return ks_run_part(run, fraction, fraction); }

static double mean(const double *x, size_t m) {
    double sum = 0;
    for (size_t j = 0; j < m; j++) sum += x[j] / (double)m;
    return sum;
}

/* Returns the mean of 1 - mse/variance over the columns. */
static double r_squared(const double *mse, const double *variance, size_t m) {
    double sum = 0;
    for (size_t j = 0; j < m; j++) sum += variance[j] > 0 ? (1 - mse[j] / variance[j]) / (double)m : NAN;
    return sum;
}

/* Computes a point that has one fixed point. */
static kspec_status make_simple_point(kspec_ridge *r, double N, double lambda, kspec_ridge_point *p,
                                      kspec_error *err) {
    const ks_one *b = r->one;
    const size_t m = r->m, bytes = ks_size(ks_size(r->n + r->nt, m), sizeof(double));
    double *train = p->train_columns, *test = p->test_columns;
    double *scratch = ks_alloc(ks_size(r->n + r->nt, m), sizeof *scratch);
    double *scale = r->o.classify ? ks_alloc(r->nt + ks_size(m, m), sizeof *scale) : NULL;
    if (!scratch || (r->o.classify && !scale)) {
        ks_free(scratch);
        ks_free(scale);
        return ks_nomem(err, "residuals", bytes);
    }
    ks_one_solution s = {.N = N, .lambda = lambda, .shift = 1, .ridge = lambda, .k = N / (double)r->n};
    if (lambda > 0 || b->l[0] > (double)r->n * DBL_EPSILON * b->l[r->n - 1]) { /* N alone is large: x = 0 */
        ks_one_errors(b, &s, 1, scratch, train, r->nt ? test : NULL);
        p->kernel_train_mse = mean(train, m), p->kernel_test_mse = mean(test, m);
    }
    kspec_status st = ks_one_solve(b, N, lambda, r->o.tolerance, r->o.max_iterations, &s, err);
    if (!st && s.state != KSPEC_RIDGE_STATE_DIVERGENT) {
        ks_one_errors(b, &s, 1, scratch, train, r->nt ? test : NULL);
        p->train_mse = mean(train, m), p->test_mse = mean(test, m);
        p->iterations = s.iterations, p->residual = s.residual, p->delta_error = s.error, p->state = s.state;
        p->delta_cos = s.shift > 0 ? s.x : INFINITY;
        p->theta_cos = s.shift > 0 ? lambda * s.x : s.x;
        if (scale && r->nt) {
            double *form = scale + r->nt;
            ks_one_spread(b, &s, scale, form);
            st = ks_ridge_class_error(r, scratch + r->n * m, 1, (const double *const[2]){scale, NULL},
                                      (double *const[2]){form, NULL}, &p->test_error, err);
        }
    }
    ks_free(scratch);
    ks_free(scale);
    return st;
}

static kspec_status make_point(kspec_ridge *r, const ks_run *run, size_t N, double lambda,
                               ks_ridge_solved *solved, size_t *count, kspec_ridge_point *p,
                               kspec_error *err) {
    size_t m = r->m;
    double *train = p->train_columns, *test = p->test_columns, upper[2], start[2];
    *p = (kspec_ridge_point){.N = N, .lambda = lambda, .train_columns = train, .test_columns = test};
    p->state = KSPEC_RIDGE_STATE_DIVERGENT;
    p->delta_cos = p->delta_sin = p->theta_cos = p->theta_sin = p->train_mse = p->test_mse = NAN;
    p->kernel_train_mse = p->kernel_test_mse = p->residual = p->delta_error = p->test_error = NAN;
    for (size_t j = 0; j < m; j++) train[j] = test[j] = NAN;
    if (r->one) return make_simple_point(r, (double)N, lambda, p, err);
    if (r->mix) return ks_mix_point(r, run, (double)N, lambda, p, err);

    kspec_status st = ks_ridge_kernel_errors(r, run, (double)N, lambda, train, test, err);
    if (st) return st;
    p->kernel_train_mse = mean(train, m), p->kernel_test_mse = mean(test, m);
    for (size_t j = 0; j < m; j++) train[j] = test[j] = NAN;
    if (lambda == 0 && 2 * N == r->n) return KSPEC_OK;

    ks_ridge_system sys = {(double)N, 1, lambda};
    if (lambda > 0) {
        ks_ridge_start(r, lambda, solved, *count, start, upper);
    } else {
        if (2 * N < r->n) sys.shift = 0, sys.ridge = 1;
        for (int a = COS; a <= SIN; a++) start[a] = upper[a] = r->trace[a] / (double)r->n;
    }
    ks_ridge_solution s;
    if ((st = ks_ridge_solve(r, run, &sys, start, upper, &s, err))) return st;
    if ((st = ks_ridge_errors(r, run, &sys, &s, train, test, &p->test_error, err))) return st;
    if (lambda > 0) solved[(*count)++] = ks_ridge_remember(lambda, &s);
    p->train_mse = mean(train, m), p->test_mse = mean(test, m);
    p->iterations = s.iterations, p->residual = s.residual, p->delta_error = s.error, p->state = s.state;
    if (sys.shift == 0) {
        p->delta_cos = p->delta_sin = INFINITY;
        p->theta_cos = s.x[COS], p->theta_sin = s.x[SIN];
    } else {
        p->delta_cos = s.x[COS], p->delta_sin = s.x[SIN];
        p->theta_cos = lambda * s.x[COS], p->theta_sin = lambda * s.x[SIN];
    }
    return KSPEC_OK;
}

/* Holds the checkpoint data of one point: the point with its columns, and the start of the next point. */
typedef struct {
    kspec_ridge *r;
    size_t N;
    double lambda;
    ks_ridge_solved *solved;
    struct {
        kspec_ridge_point point;
        ks_ridge_solved last;
        size_t count;
    } stored;
} point_step;

static kspec_status take_step(void *ctx, const ks_run *run, kspec_error *err) {
    point_step *s = ctx;
    kspec_ridge_point *p = &s->stored.point;
    kspec_status st = make_point(s->r, run, s->N, s->lambda, s->solved, &s->stored.count, p, err);
    p->train_r2 = r_squared(p->train_columns, s->r->variance[0], s->r->m);
    p->test_r2 = r_squared(p->test_columns, s->r->variance[1], s->r->m);
    if (!st && s->stored.count) s->stored.last = s->solved[s->stored.count - 1];
    return st;
}

/*
 * Copies the point of rank 0 to all ranks. Ranks with GPUs compute each point separately, so their points
 * may differ in rounding. With the point of rank 0, all ranks take the same decisions.
 */
static kspec_status one_for_all(kspec_team *team, const ks_share *stored, int count, kspec_error *err) {
    kspec_status st = KSPEC_OK;
    for (int k = 0; k < count && !st; k++) st = ks_team_decide(team, stored[k].to, stored[k].each, err);
    return st;
}

kspec_status ks_ridge_point(kspec_ridge *r, const ks_run *run, size_t N, double lambda,
                            ks_ridge_solved *solved, size_t *count, kspec_ridge_point *p, kspec_error *err) {
    double *train = p->train_columns, *test = p->test_columns;
    point_step s;
    memset(&s, 0, sizeof s); /* Clears the padding of the struct, which the checkpoint includes. */
    s.r = r, s.N = N, s.lambda = lambda, s.solved = solved, s.stored.point = *p, s.stored.count = *count;
    const ks_share stored[] = {{&s.stored, sizeof s.stored, 1, 1},
                               {train, r->m * sizeof *train, 1, 1},
                               {test, r->m * sizeof *test, 1, 1}};
    kspec_status st = ks_team_step(run, "point", take_step, &s, stored, 3, err);
    if (!st && run->device) st = one_for_all(run->team, stored, 3, err);
    if (st) return st;
    *count = s.stored.count;
    if (*count) solved[*count - 1] = s.stored.last;
    *p = s.stored.point;
    p->train_columns = train, p->test_columns = test;
    return KSPEC_OK;
}

kspec_status ks_ridge_path(kspec_ridge *r, const ks_run *run, size_t N, const double *lambda, size_t count,
                           kspec_ridge_point *const *points, kspec_error *err) {
    ks_arena scratch = {0};
    size_t *order = ks_arena_alloc(&scratch, count, sizeof *order), known = 0;
    ks_ridge_solved *solved = ks_arena_alloc(&scratch, count, sizeof *solved);
    kspec_status st = scratch.failed ? ks_nomem(err, "a path of lambda", scratch.failed) : KSPEC_OK;
    if (!st) ks_order_descending(lambda, count, order);
    for (size_t k = 0; k < count && !st; k++) {
        ks_run still = ks_ridge_still(run, (double)k / (double)count);
        st = ks_ridge_point(r, &still, N, lambda[order[k]], solved, &known, points[order[k]], err);
    }
    ks_arena_free(&scratch);
    return st;
}
