/* Computes the modified Bessel function I_nu, scaled so that it neither overflows nor underflows. */
#pragma once

enum { KS_DEBYE_TERMS = 12 };

/*
 * Holds the coefficients of the expansion for large orders or arguments; ks_debye_init() computes them
 * once.
 */
typedef struct {
    long double u[KS_DEBYE_TERMS][KS_DEBYE_TERMS]; /* U_j(p) = p^j sum_i u[j][i] p^2i */
} ks_debye;

void ks_debye_init(ks_debye *d);

/*
 * Returns log(e^-z I_{mu+k}(z) Gamma(mu+1) (2/z)^mu) for z > 0, mu >= 0, k >= 0. At k = 0 it tends to 0 as z
 * goes to 0.
 */
long double ks_log_bessel(const ks_debye *d, long double mu, long double k, long double z);
