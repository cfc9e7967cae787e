/* kspec_ridge_predict(): points along lambda, from the largest down. */
#include "ridge/predict.h"

#include "base/error.h"
#include "ridge/errors.h"

#include <math.h>
#include <stdlib.h>

kspec_status ks_ridge_check_features(size_t features, kspec_error *err) {
    if (features == 0) return ks_fail(err, KSPEC_E_ARG, "features 0 is below 1");
    if (features > 1000000000) return ks_fail(err, KSPEC_E_ARG, "features %zu exceeds 1000000000", features);
    return KSPEC_OK;
}

kspec_status ks_ridge_check_lambda(double lambda, kspec_error *err) {
    if (!(lambda >= 0)) return ks_fail(err, KSPEC_E_ARG, "lambda %g is not a number of at least 0", lambda);
    if (lambda > 1e100 || (lambda > 0 && lambda < 1e-100)) /* its square must be a number */
        return ks_fail(err, KSPEC_E_ARG, "lambda %g is neither 0 nor between 1e-100 and 1e100", lambda);
    return KSPEC_OK;
}

ks_run ks_ridge_still(const ks_run *run, double fraction) { return ks_run_part(run, fraction, fraction); }

static double mean(const double *x, size_t m) {
    double sum = 0;
    for (size_t j = 0; j < m; j++) sum += x[j] / (double)m;
    return sum;
}

kspec_status ks_ridge_point(kspec_ridge *r, const ks_run *run, size_t N, double lambda,
                            ks_ridge_solved *solved, size_t *count, kspec_ridge_point *point, double *columns,
                            kspec_error *err) {
    size_t m = r->m;
    double *train = columns, *test = columns + m, upper[2], start[2];
    for (size_t j = 0; j < 2 * m; j++) columns[j] = NAN;
    *point = (kspec_ridge_point){.features = N, .lambda = lambda, .state = KSPEC_RIDGE_DIVERGENT};
    kspec_ridge_point *p = point;
    p->delta_cos = p->delta_sin = p->theta_cos = p->theta_sin = p->train_mse = p->test_mse = NAN;
    p->kernel_train_mse = p->kernel_test_mse = p->residual = p->delta_error = NAN;

    kspec_status st = ks_ridge_kernel_errors(r, run, (double)N, lambda, train, test, err);
    if (st) return st;
    p->kernel_train_mse = mean(train, m), p->kernel_test_mse = mean(test, m);
    for (size_t j = 0; j < 2 * m; j++) columns[j] = NAN;
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
    if ((st = ks_ridge_errors(r, run, &sys, &s, train, test, err))) return st;
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

typedef struct {
    double lambda;
    size_t place;
} entry;

static int decreasing(const void *a, const void *b) {
    const entry *x = a, *y = b;
    if (x->lambda != y->lambda) return x->lambda < y->lambda ? 1 : -1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static kspec_status path(kspec_ridge *r, const ks_run *run, size_t N, const double *lambda, size_t count,
                         kspec_ridge_point *points, double *columns, kspec_error *err) {
    ks_arena scratch = {0};
    entry *order = ks_arena_alloc(&scratch, count, sizeof *order);
    ks_ridge_solved *solved = ks_arena_alloc(&scratch, count, sizeof *solved);
    double *own = ks_arena_alloc(&scratch, ks_size(2, r->m), sizeof *own);
    kspec_status st = scratch.failed ? ks_nomem(err, "a path of lambda", scratch.failed) : KSPEC_OK;
    for (size_t k = 0; k < count && !st; k++) order[k] = (entry){lambda[k], k};
    if (!st) qsort(order, count, sizeof *order, decreasing);
    size_t known = 0;
    for (size_t k = 0; k < count && !st; k++) {
        size_t at = order[k].place;
        ks_run still = ks_ridge_still(run, (double)k / (double)count);
        st = ks_ridge_point(r, &still, N, lambda[at], solved, &known, &points[at],
                            columns ? columns + at * 2 * r->m : own, err);
    }
    ks_arena_free(&scratch);
    return st;
}

kspec_status kspec_ridge_predict(kspec_ridge *r, size_t features, const double *lambda, size_t count,
                                 kspec_ridge_point *points, double *columns, kspec_error *err) {
    ks_clear(err);
    ks_run run;
    kspec_status st = ks_ridge_check_features(features, err);
    for (size_t k = 0; k < count && !st; k++) st = ks_ridge_check_lambda(lambda[k], err);
    if (!st) st = ks_ridge_enter(r, &run, err);
    if (st) return st;
    st = path(r, &run, features, lambda, count, points, columns, err);
    ks_ridge_leave();
    return st;
}
