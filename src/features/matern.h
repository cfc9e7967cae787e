/* The Matern kernel of any smoothness nu, as a function of |x-y|^2 in units of sigma. */
#pragma once

typedef struct {
    double nu, scale; /* scale: nu^nu e^-nu / Gamma(nu) */
} ks_matern;

/* Its largest nu: from there on the kernel is the Gaussian one to 1e-5. */
#define KS_MATERN_SMOOTHEST 1e5

ks_matern ks_matern_of(double nu);

/* k at square = |x-y|^2/sigma^2, to 1e-14 */
double ks_matern_at(const ks_matern *m, double square);
