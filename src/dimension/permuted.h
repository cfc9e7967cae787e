/*
 * Tests whether an alignment is zero. Under the hypothesis that the rows of both matrices are unrelated, all
 * orders of the second matrix's rows are equally likely; their first three moments are computed exactly.
 */
#pragma once

#include "base/memory.h"
#include "base/parallel.h"

/*
 * The sums that the test needs from K = A B^T over n rows, after zeroing the diagonal of K and removing the
 * sums of all rows and columns. The sums run over i, j, k of
 */
typedef struct {
    size_t n;
    double square, turned;    /* K_ij^2, K_ij K_ji */
    double cube, mixed;       /* K_ij^3, K_ij^2 K_ji */
    double cycle, transitive; /* K_ij K_jk K_ki, K_ij K_jk K_ik */
} ks_shape;

/*
 * Computes *s from A and B (P x Q each, row-major), using at most 1000 rows that the seed draws. Needs two n
 * x n matrices and n^2 (Q + n) multiply-adds. P must be at least 4. If the run has a device, A = B is on this
 * device.
 */
kspec_status ks_shape_make(const ks_run *run, const double *A, const double *B, size_t P, size_t Q,
                           uint64_t seed, ks_shape *s, kspec_error *err);

/*
 * Computes the variance and the skewness of sum_ij K_ij L_ij over all orders of the rows of L. The mean is 0.
 */
void ks_permuted_moments(const ks_shape *K, const ks_shape *L, double *variance, double *skewness);

/*
 * Returns the probability that the mean over tuples of four different rows, out of P, exceeds `cross` if K
 * and L are unrelated. `cross` is the trace of the product of both operators, times the numbers of columns of
 * both matrices. The test is one-sided, because an alignment is not negative. NaN if K or L is constant.
 */
double ks_permuted_p(const ks_shape *K, const ks_shape *L, size_t P, double cross);
