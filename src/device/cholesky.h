/*
 * Cholesky's factor and the inverse of a symmetric, positive definite matrix on run->device. Matrices are
 * halved down to blocks of KS_TRIANGLE rows, which the plugin factors and substitutes. All other work is
 * products. Substitution instead of a block's inverse keeps the rounding errors as small as LAPACK's.
 */
#pragma once

#include "device/backend.h"

/* X[i,i] += c, X n x n */
kspec_status ks_device_shift(const ks_run *run, size_t n, double c, ks_mat *X, kspec_error *err);

/*
 * Replaces the upper triangle of A (n x n) by U, where A = U^T U, and overwrites the lower one. diagonal (n
 * numbers in host memory) receives the diagonal of U. It is NaN from the first row on whose leading block is
 * not positive definite.
 */
kspec_status ks_device_factor(const ks_run *run, size_t n, ks_mat *A, double *diagonal, kspec_error *err);

/* W = U^-T (n x n), 0 above the diagonal, from U by ks_device_factor() */
kspec_status ks_device_triangle(const ks_run *run, size_t n, const ks_mat *U, ks_mat *W, kspec_error *err);
