/* Part of kspec.h: spectra that are known in closed form. */
#ifndef KSPEC_THEORY_H
#define KSPEC_THEORY_H

#include "kspec/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Spectrum of the RBF kernel exp(-(x-x')^T S^-1 (x-x') / 2) under x ~ N(0, Sx) (MATH: closed forms). It
 * depends only on eta_1 ... eta_d > 0, the eigenvalues of Sx S^-1: m(n) = prod_i 1 / ((eta_i phi_i)^n -
 * phi_i^-n),   phi_i = (1 + sqrt(1 + 4 eta_i)) / (2 eta_i), lambda_u = prod_i (eta_i^(1+u_i)
 * phi_i^(1+2u_i))^-1,   u in N^d.
 */

/*
 * Writes m(1) ... m(nmax) to moments and their natural logarithms to logs; either may be NULL. What is below the
 * smallest double is 0, and its logarithm is still right.
 */
KSPEC_API kspec_status kspec_theory_rbf_moments(const double *eta, size_t dim, int nmax, double *moments,
                                                double *logs, kspec_error *err);

/*
 * Writes the `count` largest eigenvalues, in decreasing order and repeated by multiplicity, to eigenvalues and their
 * logarithms to logs; either may be NULL. Cost O(count log count) time and memory, whatever the dimension.
 */
KSPEC_API kspec_status kspec_theory_rbf_eigenvalues(const double *eta, size_t dim, size_t count,
                                                    double *eigenvalues, double *logs, kspec_error *err);

#ifdef __cplusplus
}
#endif
#endif
