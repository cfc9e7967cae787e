/* Computes tail probabilities of the gamma distribution. */
#define _DEFAULT_SOURCE
#include "base/gamma.h"

#include <math.h>

double ks_lgamma(double x) {
    int sign;
    return lgamma_r(x, &sign);
}

long double ks_lgammal(long double x) {
    int sign;
    return lgammal_r(x, &sign);
}

/*
 * Below x = a + 1, the function sums the series of P(a,x). Above, it uses the continued fraction of Q(a,x) by
 * Lentz's method. The series converges fast for small x, and the fraction for large x.
 */
double ks_gamma_tail(double a, double x) {
    enum { STEPS = 100000 };
    const double tiny = 1e-300, close = 1e-15;
    if (isnan(x) || !(a > 0)) return NAN;
    if (x <= 0) return 1;
    const double front = exp(a * log(x) - x - ks_lgamma(a));
    if (x < a + 1) {
        double term = 1 / a, sum = term;
        for (int k = 1; k < STEPS && term > close * sum; k++) sum += term *= x / (a + k);
        return 1 - front * sum;
    }
    double b = x + 1 - a, C = 1 / tiny, D = 1 / b, f = D;
    for (int k = 1; k < STEPS; k++) {
        const double c = -k * (k - a);
        b += 2;
        D = 1 / fmax(c * D + b, tiny);
        C = fmax(b + c / C, tiny);
        f *= C * D;
        if (fabs(C * D - 1) < close) break;
    }
    return front * f;
}

/*
 * (G - a) / sqrt(a) has the skewness 2 / sqrt(a), where G is a gamma variable of shape a. For a negative
 * skewness the function takes the mirror image.
 */
double ks_skewed_tail(double skewness, double x) {
    const double straight = 1e-3, a = 4 / (skewness * skewness),
                 at = fabs(a + copysign(sqrt(a), skewness) * x);
    if (!(fabs(skewness) >= straight)) return isnan(skewness) ? NAN : erfc(x / sqrt(2)) / 2;
    const int beyond = copysign(1, skewness) * x < -sqrt(a);
    if (skewness > 0) return beyond ? 1 : ks_gamma_tail(a, at);
    return beyond ? 0 : 1 - ks_gamma_tail(a, at);
}
