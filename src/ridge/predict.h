/* Predicts one point (N, lambda), for calls that make lists of points and for calls that search. */
#pragma once

#include "ridge/solve.h"

/*
 * Predicts at (N, lambda >= 0), starting from the `*count` points already solved for the same N. It adds
 * the new point to that list if lambda > 0. The caller allocates the columns of the new point.
 */
kspec_status ks_ridge_point(kspec_ridge *r, const ks_run *run, size_t N, double lambda,
                            ks_ridge_solved *solved, size_t *count, kspec_ridge_point *point,
                            kspec_error *err);

/* Predicts for N at each lambda, from the largest down; the points have the order of `lambda`. */
kspec_status ks_ridge_path(kspec_ridge *r, const ks_run *run, size_t N, const double *lambda, size_t count,
                           kspec_ridge_point *const *points, kspec_error *err);

/* Returns KSPEC_E_ARG unless N is from 1 to 10^9, and each lambda is 0 or from 1e-100 to 1e100. */
kspec_status ks_ridge_check_N(size_t N, kspec_error *err);
kspec_status ks_ridge_check_lambda(const kspec_ridge *r, double lambda, kspec_error *err);
kspec_status ks_ridge_check_lambdas(const kspec_ridge *r, const double *lambda, size_t count,
                                    kspec_error *err);

/*
 * Returns a copy of the run whose progress stays at a fraction, because the number of steps of a point is
 * unknown.
 */
ks_run ks_ridge_still(const ks_run *run, double fraction);
