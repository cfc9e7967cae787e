/*
 * Tests whether an alignment is zero. If the rows of both matrices are unrelated, all orders of the second
 * matrix's rows are equally likely. The test computes the first three moments of the alignment over these
 * orders exactly.
 */
#pragma once

#include "base/memory.h"
#include "base/parallel.h"

/*
 * The sums that the test needs from K = A B^T over n rows, after zeroing the diagonal of K and removing the
 * sums of all rows and columns. All sums run over the rows i, j and k. square sums K_ij^2, and turned K_ij
 * K_ji. cube sums K_ij^3, and mixed K_ij^2 K_ji. cycle sums K_ij K_jk K_ki, and transitive K_ij K_jk K_ik.
 */
typedef struct {
    size_t n;
    double square, turned;
    double cube, mixed;
    double cycle, transitive;
} ks_shape;

/*
 * Computes *s from the row-major P x Q matrices A and B, using at most 1000 rows that the seed draws. The
 * function needs two n x n matrices and n^2 (Q + n) multiply-adds. P must be at least 4. If the run has a
 * device, A = B is on this device.
 */
kspec_status ks_shape_make(const ks_run *run, const double *A, const double *B, size_t P, size_t Q,
                           uint64_t seed, ks_shape *s, kspec_error *err);

/*
 * Computes the variance and the skewness of sum_ij K_ij L_ij over all orders of the rows of L. The mean of
 * this sum over all orders is 0.
 */
void ks_permuted_moments(const ks_shape *K, const ks_shape *L, double *variance, double *skewness);

/*
 * Returns the probability that the mean over tuples of four different rows, out of P, exceeds `cross` if K
 * and L are unrelated. `cross` is the trace of the product of both operators, times the numbers of columns of
 * both matrices. The test is one-sided, because an alignment is not negative. The probability is NaN if K or
 * L is constant.
 */
double ks_permuted_p(const ks_shape *K, const ks_shape *L, size_t P, double cross);
