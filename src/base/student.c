/* Computes tail probabilities and quantiles of Student's t distribution. */
#include "base/student.h"

#include "base/gamma.h"

#include <math.h>

/*
 * Evaluates the continued fraction of the incomplete beta function I_x(a,b), with x = nu / (nu + t^2), a =
 * nu/2 and b = 1/2. The fraction converges fast only for some x. For all other x, the code uses I_x(a,b) = 1
 * - I_1-x(b,a).
 */
static double beta_fraction(double x, double a, double b) {
    enum { STEPS = 500 };
    double C = 1, D = 1 / (1 - (a + b) * x / (a + 1)), f = D;
    for (int m = 1; m <= STEPS; m++) {
        for (int odd = 0; odd < 2; odd++) {
            double k = m, c = odd ? -(a + k) * (a + b + k) * x / ((a + 2 * k) * (a + 2 * k + 1))
                                  : k * (b - k) * x / ((a + 2 * k - 1) * (a + 2 * k));
            D = 1 / (1 + c * D);
            C = 1 + c / C;
            f *= C * D;
        }
        if (fabs(C * D - 1) < 1e-15) break;
    }
    return exp(a * log(x) + b * log1p(-x) + ks_lgamma(a + b) - ks_lgamma(a) - ks_lgamma(b)) * f / a;
}

double ks_student_tails(double t, double degrees) {
    if (isnan(t) || !(degrees > 0)) return NAN;
    if (isinf(t)) return 0;
    if (degrees > 1e7 || t == 0) return erfc(fabs(t) / sqrt(2));
    double a = degrees / 2, b = 0.5, x = degrees / (degrees + t * t), y = t * t / (degrees + t * t);
    return x < (a + 1) / (a + b + 2) ? beta_fraction(x, a, b) : 1 - beta_fraction(y, b, a);
}

/*
 * The function starts with the expansion of the quantile in 1/degrees about the normal quantile (Abramowitz
 * and Stegun 26.7.5). Newton's method then improves the quantile, using the logarithm of the tails, which is
 * nearly straight in log t.
 */
double ks_student_quantile(double degrees) {
    enum { STEPS = 20 };
    const double z = KS_Z95, z3 = z * z * z, z5 = z3 * z * z, nu = degrees;
    if (!(nu >= 1)) return isnan(nu) ? NAN : ks_student_quantile(1);
    if (nu > 1e7) return z;
    double t = z + (z3 + z) / (4 * nu) + (5 * z5 + 16 * z3 + 3 * z) / (96 * nu * nu);
    const double unit = exp(ks_lgamma((nu + 1) / 2) - ks_lgamma(nu / 2)) / sqrt(nu * acos(-1.0));
    for (int k = 0; k < STEPS; k++) {
        const double tails = ks_student_tails(t, nu), slope = -2 * unit * pow(1 + t * t / nu, -(nu + 1) / 2),
                     step = log(tails / 0.05) * tails / (slope * t);
        t *= exp(-step);
        if (fabs(step) < 1e-9) break; /* further steps change nothing */
    }
    return t;
}
