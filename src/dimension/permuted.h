/*
 * Is an alignment zero? Its distribution where the rows of the second matrix have nothing to do with those of
 * the first: over all orders of the second's rows, by its exact first three moments.
 */
#pragma once

#include "base/memory.h"
#include "base/parallel.h"

/*
 * What that takes of K = A B^T over its n rows, once K has zeros on its diagonal and the sums of all rows and
 * columns are removed: sums over i, j, k of
 */
typedef struct {
    size_t n;
    double square, turned;    /* K_ij^2, K_ij K_ji */
    double cube, mixed;       /* K_ij^3, K_ij^2 K_ji */
    double cycle, transitive; /* K_ij K_jk K_ki, K_ij K_jk K_ik */
} ks_shape;

/*
 * Of A and B (P x Q each, row-major), from at most 1000 rows that the seed draws. Holds two n x n matrices,
 * and takes n^2 (Q + n) multiply-adds. P must be at least 4.
 */
kspec_status ks_shape_make(const ks_run *run, const double *A, const double *B, size_t P, size_t Q,
                           uint64_t seed, ks_shape *s, kspec_error *err);

/* The variance and the skewness of sum_ij K_ij L_ij over all orders of the rows of L; its mean is 0. */
void ks_permuted_moments(const ks_shape *K, const ks_shape *L, double *variance, double *skewness);

/*
 * How likely the mean over four different rows of all P is to exceed `cross`, which is the trace of the
 * product of both operators times their numbers of columns, where K and L have nothing in common. One-sided:
 * an alignment is not negative. NaN where either is constant.
 */
double ks_permuted_p(const ks_shape *K, const ks_shape *L, size_t P, double cross);
