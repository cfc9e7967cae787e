/* The Matern kernel of any smoothness nu, as a function of |x-y|^2 in units of sigma. */
#pragma once

#include "kspec/base.h"

typedef struct {
    double nu, scale; /* scale: nu^nu e^-nu / Gamma(nu) */
} ks_matern;

/* Its largest nu: from there on the kernel is the Gaussian one to 1e-5. */
#define KS_MATERN_SMOOTHEST 1e5

ks_matern ks_matern_of(double nu);

/* k at square = |x-y|^2/sigma^2, to 1e-14 */
double ks_matern_at(const ks_matern *m, double square);

/*
 * `count` nodes for the mean over a frequency's scale: w = s v with v ~ N(0,I), E F(s^2) = sum weight
 * F(square). Gauss's rule in sqrt(u/(u+nu)), u = chi^2_{2 nu}/2 = nu/s^2, which runs from 0 to 1 and in which
 * Gaussian kernels of scale s are smooth. With 6 nodes the kernel itself comes out to 0.001 for nu >= 1, and
 * to 0.012 below, at distances above sigma/10.
 */
kspec_status ks_matern_rule(double nu, size_t count, double *square, double *weight, kspec_error *err);
