/* Computes the Matern kernel of any smoothness nu, as a function of |x-y|^2 in units of sigma. */
#pragma once

#include "kspec/base.h"

typedef struct {
    double nu, scale; /* scale is nu^nu e^-nu / Gamma(nu). */
} ks_matern;

/* This is the largest nu: from this value on, the kernel equals the Gaussian kernel to 1e-5. */
#define KS_MATERN_SMOOTHEST 1e5

ks_matern ks_matern_of(double nu);

/* Returns the kernel at square = |x-y|^2/sigma^2, with an error of 1e-14. */
double ks_matern_at(const ks_matern *m, double square);

/*
 * A frequency is w = s v with v ~ N(0,I) and a random scale s. The function computes `count` nodes for
 * means over s. The mean E F(s^2) is approximately sum weight F(square). The nodes belong to Gauss's rule
 * in the variable sqrt(u/(u+nu)), u = chi^2_{2 nu}/2 = nu/s^2. This variable runs from 0 to 1, and
 * Gaussian kernels of scale s are smooth functions of it. With 6 nodes and distances above sigma/10, the
 * error of the kernel is 0.001 for nu >= 1, and 0.012 for smaller nu.
 */
kspec_status ks_matern_rule(double nu, size_t count, double *square, double *weight, kspec_error *err);
