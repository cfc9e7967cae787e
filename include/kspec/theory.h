/* Part of kspec.h: spectra that are known in closed form. */
#ifndef KSPEC_THEORY_H
#define KSPEC_THEORY_H
#include "kspec/base.h"

/* Every spectrum also comes in logarithms: arrays named `logs` hold natural logarithms, which are exact even
 * if the number itself is below the smallest double (and 0 then) or above the largest (and infinite). The
 * logarithm of an exact 0 is -infinity. Pass NULL for output arrays that you do not want.
 *
 * The RBF kernel exp(-(x-x')^T S^-1 (x-x') / 2) under x ~ N(0, Sx): its spectrum depends only on the
 * eigenvalues eta_1 ... eta_d > 0 of Sx S^-1 (docs/explanation/theory.md). Its moments m(1) ... m(nmax): */
KSPEC_API kspec_status kspec_theory_rbf_moments(const double *eta, size_t dim, int nmax, double *moments,
                                                double *logs, kspec_error *err);

/* The `count` largest eigenvalues, in decreasing order and repeated by multiplicity. Takes O(count log count)
 * time and O(count) memory, for every dimension. */
KSPEC_API kspec_status kspec_theory_rbf_eigenvalues(const double *eta, size_t dim, size_t count,
                                                    double *eigenvalues, double *logs, kspec_error *err);

/* Writes the eigenfunctions of the `count` largest eigenvalues, in the same order, to values (points x
 * count); for equal eigenvalues, a basis of products. Each row of `points` is a point x, in coordinates where
 * x ~ N(0, I) and the kernel is exp(-sum eta_i (x_i - y_i)^2 / 2). Each function has mean square 1. */
KSPEC_API kspec_status kspec_theory_rbf_eigenfunctions(const double *eta, size_t dim,
                                                       const kspec_matrix *points, size_t count,
                                                       double *values, kspec_error *err);

/* The eigenvalues of Sx S^-1 in decreasing order, of which *count are above zero, up to rounding. S must be
 * symmetric positive definite and Sx symmetric positive semidefinite (else KSPEC_E_DATA); either may be NULL,
 * the identity, but not both. `eta` has room for as many values as a matrix has rows. */
KSPEC_API kspec_status kspec_theory_rbf_eta(const kspec_matrix *S, const kspec_matrix *Sx, double *eta,
                                            size_t *count, kspec_error *err);

/* The linear kernel sum_l c_l x_l x'_l under standard normal x in R^d: m(n) = sum_l c_l^n. Give its
 * eigenvalues c_1 ... c_d >= 0, or one (count = 1) that stands for all d. */
KSPEC_API kspec_status kspec_theory_linear_moments(const double *eigenvalues, size_t count, size_t dim,
                                                   int nmax, double *moments, double *logs, kspec_error *err);

/* Kernels f(<x,x'>) on the unit sphere of R^D, x uniform. The eigenfunctions are the spherical harmonics: one
 * eigenvalue lambda_k per degree k, N(D,k) times. */
typedef enum {
    /* exp(-|x-x'|^2 / s^2). The parameter is the scale s = sqrt(2) sigma, from 1e-100 to 1e100. */
    KSPEC_SPHERE_GAUSSIAN = 0,
    /* (1 + <x,x'>)^q. The parameter is q, a whole number from 0 to 100,000; lambda_k = 0 for k > q. */
    KSPEC_SPHERE_POLYNOMIAL,
    /* t k0(t) + k1(t), t = <x,x'>, the tangent kernel of a two-layer ReLU network: k0 = (pi - arccos t) / pi
     * and k1 = (t (pi - arccos t) + sqrt(1 - t^2)) / pi. No parameter; lambda_k = 0 for odd k >= 3. */
    KSPEC_SPHERE_NTK
} kspec_sphere;

/* Eigenvalue and multiplicity of each degree 0 ... degree: arrays of degree + 1. dim is D, from 2 to 1000;
 * degree is at most 1000. Multiplicities below 2^53 are exact. */
KSPEC_API kspec_status kspec_theory_sphere_eigenvalues(kspec_sphere kernel, double parameter, size_t dim,
                                                       size_t degree, double *eigenvalues, double *logs,
                                                       double *multiplicities, double *log_multiplicities,
                                                       kspec_error *err);

/* m(n) = sum_k N(D,k) lambda_k^n over all degrees; NaN if 100,000 degrees do not suffice for n > 2 (a
 * Gaussian kernel narrower than s = 1e-4, or 4e-4 in 1000 dimensions). */
KSPEC_API kspec_status kspec_theory_sphere_moments(kspec_sphere kernel, double parameter, size_t dim,
                                                   int nmax, double *moments, double *logs, kspec_error *err);
#endif
