/* Part of kspec.h: spectra that are known in closed form. */
#ifndef KSPEC_THEORY_H
#define KSPEC_THEORY_H

#include "kspec/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Every spectrum comes in logarithms, too: arrays named `logs` hold natural logarithms, which are right also
 * where the number itself is below the smallest double (it is 0 then) or above the largest (infinite). The
 * logarithm of an exact 0 is -infinity. An array that is not wanted may be NULL.
 *
 * ---- The RBF kernel exp(-(x-x')^T S^-1 (x-x') / 2) under x ~ N(0, Sx) ----
 *
 * Its spectrum depends on the eigenvalues eta_1 ... eta_d > 0 of Sx S^-1 alone. With
 *
 *     phi_i = (1 + sqrt(1 + 4 eta_i)) / (2 eta_i):
 *     m(n) = prod_i 1 / ((eta_i phi_i)^n - phi_i^-n),
 *     lambda_u = prod_i 1 / (eta_i^(1+u_i) phi_i^(1+2u_i)),  u in N^d.
 */

/* m(1) ... m(nmax). */
KSPEC_API kspec_status kspec_theory_rbf_moments(const double *eta, size_t dim, int nmax, double *moments,
                                                double *logs, kspec_error *err);

/*
 * The `count` largest eigenvalues, in decreasing order and repeated by multiplicity. Cost O(count log count)
 * time and O(count) memory, whatever the dimension.
 */
KSPEC_API kspec_status kspec_theory_rbf_eigenvalues(const double *eta, size_t dim, size_t count,
                                                    double *eigenvalues, double *logs, kspec_error *err);

/*
 * The eigenvalues of Sx S^-1 (the generalised symmetric problem Sx v = eta S v) in decreasing order. S must
 * be symmetric positive definite, Sx symmetric positive semidefinite; either may be NULL, the identity, but
 * not both. `eta` has room for as many as a matrix has rows; *count becomes how many are above zero, to
 * rounding: a direction in which the inputs do not vary leaves the spectrum as it is without it.
 */
KSPEC_API kspec_status kspec_theory_rbf_eta(const kspec_matrix *S, const kspec_matrix *Sx, double *eta,
                                            size_t *count, kspec_error *err);

/*
 * ---- The linear kernel sum_l c_l x_l x'_l under standard normal x in R^d ----
 *
 * Its eigenvalues are c_1 ... c_d >= 0: m(n) = sum_l c_l^n. One eigenvalue given (count = 1) stands for all
 * d; more must be d of them.
 */
KSPEC_API kspec_status kspec_theory_linear_moments(const double *eigenvalues, size_t count, size_t dim,
                                                   int nmax, double *moments, double *logs, kspec_error *err);

/*
 * ---- Kernels f(<x,x'>) on the unit sphere of R^D, x uniform ----
 *
 * The eigenfunctions are the spherical harmonics: one eigenvalue lambda_k per degree k, N(D,k) times.
 */
typedef enum {
    KSPEC_SPHERE_GAUSSIAN = 1, /* exp(-|x-x'|^2 / s^2); the parameter is s > 0 */
    KSPEC_SPHERE_POLYNOMIAL, /* (1 + <x,x'>)^q; the parameter is q, whole and >= 0; lambda_k = 0 for k > q */
    KSPEC_SPHERE_NTK /* t k0(t) + k1(t), t = <x,x'>, of a two-layer ReLU network: k0 = (pi - arccos t) / pi,
                        k1 = (t (pi - arccos t) + sqrt(1 - t^2)) / pi; no parameter.
                        lambda_k = 0 for odd k >= 3 */
} kspec_sphere_kernel;

/*
 * Eigenvalue and multiplicity of each degree 0 ... degree: arrays of degree + 1. dim from 2 to 1000, degree
 * at most 1000, s from 1e-100 to 1e100, q at most 100,000. Multiplicities below 2^53 are exact.
 */
KSPEC_API kspec_status kspec_theory_sphere_eigenvalues(kspec_sphere_kernel kernel, double parameter,
                                                       size_t dim, size_t degree, double *eigenvalues,
                                                       double *logs, double *multiplicities,
                                                       double *log_multiplicities, kspec_error *err);

/*
 * m(n) = sum_k N(D,k) lambda_k^n over all degrees. m(1) = f(1) and m(2) = E f(<x,x'>)^2 are closed forms;
 * higher orders are summed until what is left is below rounding, and are NaN where 100,000 degrees do not
 * suffice (a Gaussian kernel narrower than s = 1e-4, or 4e-4 in 1000 dimensions).
 */
KSPEC_API kspec_status kspec_theory_sphere_moments(kspec_sphere_kernel kernel, double parameter, size_t dim,
                                                   int nmax, double *moments, double *logs, kspec_error *err);

#ifdef __cplusplus
}
#endif
#endif
