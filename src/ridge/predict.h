/* One point of a prediction, for the calls that make lists of them and those that search. */
#pragma once

#include "ridge/solve.h"

/*
 * Predicts at (N, lambda >= 0), started from the `*count` points solved before for the same N; one with
 * lambda > 0 is added to them. The point has room for its columns.
 */
kspec_status ks_ridge_point(kspec_ridge *r, const ks_run *run, size_t N, double lambda,
                            ks_ridge_solved *solved, size_t *count, kspec_ridge_point *point,
                            kspec_error *err);

/* Predicts for N at each lambda, from the largest down; the points come in the order of `lambda`. */
kspec_status ks_ridge_path(kspec_ridge *r, const ks_run *run, size_t N, const double *lambda, size_t count,
                           kspec_ridge_point *const *points, kspec_error *err);

/* KSPEC_E_ARG unless N is from 1 to 10^9, and unless each lambda is 0 or from 1e-100 to 1e100. */
kspec_status ks_ridge_check_N(size_t N, kspec_error *err);
kspec_status ks_ridge_check_lambda(const kspec_ridge *r, double lambda, kspec_error *err);
kspec_status ks_ridge_check_lambdas(const kspec_ridge *r, const double *lambda, size_t count,
                                    kspec_error *err);

/* The run at a fixed fraction: a point does not know how many steps it will take. */
ks_run ks_ridge_still(const ks_run *run, double fraction);
