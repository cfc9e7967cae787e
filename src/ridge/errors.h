/*
 * Computes the training and test errors at a solution of the fixed point, and the errors of the limiting
 * kernel.
 */
#pragma once

#include "ridge/solve.h"
#include "kspec/ridge.h"

/*
 * Computes the errors of each column of y: train (m numbers) and, with a test set, test (m numbers). r->Q
 * must hold the resolvent of s.
 */
kspec_status ks_ridge_errors(kspec_ridge *r, const ks_run *run, const ks_ridge_system *sys,
                             const ks_ridge_solution *s, double *train, double *test, double *wrong,
                             kspec_error *err);

/*
 * Computes the errors of the kernel alone (N -> infinity), with Q = ((N/n) (K_cos + K_sin) + lambda I)^-1.
 * The errors are NaN if the matrix has no inverse.
 */
kspec_status ks_ridge_kernel_errors(kspec_ridge *r, const ks_run *run, double N, double lambda, double *train,
                                    double *test, kspec_error *err);
