#include "moments/jackknife.h"

#include "base/gamma.h"

#include <math.h>

double ks_signed_root(double x, int n) { return copysign(n == 1 ? fabs(x) : pow(fabs(x), 1.0 / n), x); }

/* (N-1)/N sum (t_i - mean t)^2 over one side, t_i the signed root of order n (n = 1: the value itself) */
static double one_side(const double *loo, size_t N, double share, int n) {
    double mean = 0, sum = 0;
    if (share == 0) return 0; /* a complete side */
    for (size_t i = 0; i < N; i++) mean += ks_signed_root(loo[i], n) / (double)N;
    for (size_t i = 0; i < N; i++) {
        double d = ks_signed_root(loo[i], n) - mean;
        sum += d * d;
    }
    return share * sum * (double)(N - 1) / (double)N;
}

void ks_jackknife(double m, int n, const double *rows, size_t P, const double *cols, size_t Q,
                  const double share[2], double *std_error, double *low, double *high) {
    *std_error = sqrt(one_side(rows, P, share[0], 1) + one_side(cols, Q, share[1], 1));
    /*
     * The interval on the root's scale, where the estimate is nearly symmetric. But the root's slope at zero
     * is infinite. Where the interval reaches zero it is joined with the plain one, which covers there, and
     * cut off at ten times the plain one's width, beyond which it says nothing (docs/moments.md has the
     * coverage).
     */
    const double cut = 10;
    double root = ks_signed_root(m, n),
           half = KS_Z95 * sqrt(one_side(rows, P, share[0], n) + one_side(cols, Q, share[1], n));
    double ends[2] = {root - half, root + half}, plain = KS_Z95 * *std_error;
    *low = copysign(pow(fabs(ends[0]), n), ends[0]);
    *high = copysign(pow(fabs(ends[1]), n), ends[1]);
    if (ends[0] > 0) return;
    *low = fmax(fmin(*low, m - plain), m - cut * plain);
    *high = fmin(fmax(*high, m + plain), m + cut * plain);
}

static double side_mean(const double *x, size_t N) {
    double mean = 0;
    for (size_t i = 0; i < N; i++) mean += x[i] / (double)N;
    return mean;
}

static double side_covariance(const double *x, const double *y, size_t N) {
    double mx = side_mean(x, N), my = side_mean(y, N), sum = 0;
    for (size_t i = 0; i < N; i++) sum += (x[i] - mx) * (y[i] - my);
    return sum * (double)(N - 1) / (double)N;
}

void ks_jackknife_correlation(size_t count, const double *const *loo, size_t P, size_t Q,
                              const double share[2], double *R) {
    for (size_t k = 0; k < count; k++)
        for (size_t l = 0; l <= k; l++) {
            double c = 0;
            if (share[0] > 0) c += share[0] * side_covariance(loo[k], loo[l], P);
            if (share[1] > 0) c += share[1] * side_covariance(loo[k] + P, loo[l] + P, Q);
            R[k * count + l] = c;
        }
    for (size_t k = 0; k < count; k++)
        for (size_t l = 0; l < k; l++) {
            double unit = sqrt(R[k * count + k]) * sqrt(R[l * count + l]);
            R[k * count + l] = R[l * count + k] = unit == 0 ? 0 : R[k * count + l] / unit;
        }
    for (size_t k = 0; k < count; k++) R[k * count + k] = isnan(R[k * count + k]) ? NAN : 1;
}

/*
 * I_x(a,b) with x = nu / (nu + t^2), a = nu/2, b = 1/2: the incomplete beta function, by its continued
 * fraction where that converges fast, otherwise by I_x(a,b) = 1 - I_1-x(b,a).
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
