/* Finds the largest eigenvalue of a positive semidefinite operator, by power or Lanczos iteration. */
#pragma once

#include "base/parallel.h"

typedef struct {
    size_t n;
    /* y = A x */
    kspec_status (*apply)(void *ctx, const ks_run *run, const double *x, double *y, kspec_error *err);
    void *ctx;
} ks_operator;

typedef struct {
    int updates;   /* at most */
    double stop;   /* The iteration stops at this estimated relative error. */
    uint64_t seed; /* seed and draw determine the normal start vector. */
    uint64_t draw;
} ks_iteration;

typedef struct {
    double value;    /* v.A v */
    double residual; /* the relative residual |A v - value v| / value */
    /* for power iteration, the number of updates of v after the start; for Lanczos, the number of products */
    int iterations;
    int converged;
    double lowest; /* for Lanczos: the lowest Ritz value seen, which lies above the lowest eigenvalue */
} ks_top;

/*
 * Runs power iteration, v <- A v / |A v|. The value after t updates is v.A v, which takes t + 1 products.
 * Its error shrinks by a factor c per update, which tends to (lambda_2/lambda_1)^2. The last two changes
 * d' and d = c d' give c, and the remaining error is d c/(1 - c).
 */
kspec_status ks_power(const ks_run *run, const ks_operator *A, const ks_iteration *o, ks_top *top,
                      kspec_error *err);

/*
 * Runs Lanczos with full reorthogonalisation. It restarts from the top Ritz vector when the basis has 96
 * vectors. With Ritz values t1 > t2 and residuals r1 and r2, the error of t1 is at most r1. The error is
 * at most r1^2/(t1 - t2 - r2) if only the first eigenvalue is above t2 + r2.
 */
kspec_status ks_lanczos(const ks_run *run, const ks_operator *A, const ks_iteration *o, ks_top *top,
                        kspec_error *err);
