/* Computes how far the eigenvalues of a sample scatter, for Gaussian factors and noise. */
#pragma once

#include "linalg/complex.h"

/*
 * Computes V, the K x K covariance of the log eigenvalues of the sample. log_c and x_rho come from
 * ks_forward(). above and below are log c at slightly smaller and slightly larger levels, which give the
 * variances. The counting functions N at two points have the covariance pi^-2 log |(c_i - conj c_j)/(c_i -
 * c_j)|. A change of N changes log x by N/(x rho).
 */
void ks_scatter(size_t K, const ks_cplx *log_c, const ks_cplx *above, const ks_cplx *below,
                const double *x_rho, double *V);
