/* Computes the Matern kernel by numerical integration. */
#include "features/matern.h"

#include "base/gamma.h"

#include <math.h>

ks_matern ks_matern_of(double nu) {
    /* Uses Stirling's series where the logarithms would cancel. */
    const double t = 1 / nu;
    const double series = t / 12 - t * t * t / 360 + t * t * t * t * t / 1260;
    const double log_scale =
        nu > 50 ? log(nu / 6.283185307179586477) / 2 - series : nu * log(nu) - nu - ks_lgamma(nu);
    return (ks_matern){nu, exp(log_scale)};
}

/* Returns the logarithm of the integrand at u = nu e^s, without the constant factor. */
static double exponent(const ks_matern *m, double half, double s) {
    return m->nu * (s - expm1(s)) - half * exp(-s);
}

/*
 * Computes the kernel as a mixture of Gaussian kernels, because frequencies are normal with a random
 * scale. With u = chi^2_{2 nu}/2,
 *
 *     k = 1/Gamma(nu) int u^(nu-1) e^-u exp(-nu square/(2u)) du.
 *
 * As a function of s = log(u/nu), the integrand is smooth and has one peak. The trapezoidal rule converges
 * exponentially for this integrand.
 */
static double mixture(const ks_matern *m, double square) {
    const double nu = m->nu, half = square / 2, strength = sqrt(nu * nu + 2 * nu * square);
    const double peak = log((nu + strength) / (2 * nu)), h = fmin(0.2, 0.6 / sqrt(strength));
    const double least = exponent(m, half, peak) - 40;
    double sum = 0;
    for (int side = -1; side <= 1; side += 2)
        for (int k = side > 0;; k++) {
            const double e = exponent(m, half, peak + side * k * h);
            if (!(e > least)) break;
            sum += exp(e);
        }
    return fmin(1, m->scale * h * sum);
}

double ks_matern_at(const ks_matern *m, double square) {
    if (!(square > 0)) return 1;
    const double z = sqrt(2 * m->nu * square);
    if (m->nu == 0.5) return exp(-z);
    if (m->nu == 1.5) return (1 + z) * exp(-z);
    if (m->nu == 2.5) return (1 + z + z * z / 3) * exp(-z);
    return square < 1e100 ? mixture(m, square) : 0;
}
