/*
 * Computes the Cholesky factor and the inverse of a symmetric, positive definite matrix on run->device. The
 * code halves matrices down to blocks of KS_TRIANGLE rows, which the plugin factors and substitutes. All
 * other work is products. Substitution instead of a block's inverse keeps the rounding errors as small as
 * LAPACK's.
 */
#pragma once

#include "device/backend.h"

/* Adds c to the diagonal of the n x n matrix X. */
kspec_status ks_device_shift(const ks_run *run, size_t n, double c, ks_mat *X, kspec_error *err);

/*
 * Replaces the upper triangle of A (n x n) by U, where A = U^T U, and overwrites the lower triangle. diagonal
 * (n numbers in host memory) receives the diagonal of U. If a leading block is not positive definite, the
 * diagonal is NaN from its last row on.
 */
kspec_status ks_device_factor(const ks_run *run, size_t n, ks_mat *A, double *diagonal, kspec_error *err);

/* Computes the n x n matrix W = U^-T from the result U of ks_device_factor(). W is 0 above the diagonal. */
kspec_status ks_device_triangle(const ks_run *run, size_t n, const ks_mat *U, ks_mat *W, kspec_error *err);
