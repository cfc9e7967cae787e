/* How far the eigenvalues of a sample scatter, for Gaussian factors. */
#pragma once

#include "base/memory.h"
#include "fit/forward.h"

/*
 * V (K x K) = the covariance of the log eigenvalues of the sample. log_kappa and x_rho come from
 * ks_forward(); above and below are log kappa at levels a little less and a little more, from which the
 * variances are made. The counting functions N at two points covary by
 *     pi^-2 sum over +- of +-log|(1 - S/P)(1 - S/Q) - k_i k_j^(+-) B^2/(PQ)|,
 *     S = sum w lambda^2/((lambda + k_i)(lambda + k_j^(+-))),  B = sum w lambda/((lambda + k_i)(...)),
 * k^- the conjugate; log x moves by N/(x rho).
 */
kspec_status ks_scatter(const ks_spectrum *s, size_t K, const ks_cplx *log_kappa, const ks_cplx *above,
                        const ks_cplx *below, const double *x_rho, double *V, kspec_error *err);
