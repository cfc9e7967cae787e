/* Intervals of leave-one-out values, written from their definition with pseudo-values. */
#pragma once

#include <math.h>
#include <stddef.h>

/* 1 less the integral of Student's density over (-t, t), by Simpson's rule */
static inline double student(double t, double nu, int steps) {
    double sum = 0, h = t / steps, c = exp(lgamma((nu + 1) / 2) - lgamma(nu / 2)) / sqrt(nu * acos(-1));
    for (int k = 0; k <= steps; k++)
        sum += (k == 0 || k == steps ? 1 : k % 2 ? 4 : 2) * pow(1 + h * k * h * k / nu, -(nu + 1) / 2);
    return 1 - 2 * c * sum * h / 3;
}

static inline double student_quantile(double nu) {
    double low = 0, high = 13;
    if (isinf(nu)) return 1.959963984540054;
    if (nu < 1) nu = 1;
    for (int k = 0; k < 50; k++) {
        double t = (low + high) / 2;
        if (student(t, nu, 2000) > 0.05)
            low = t;
        else
            high = t;
    }
    return low;
}

/*
 * What P + Q leave-one-out values tell of the estimate `all`. Pseudo-values u_i = (N-1)(mean - x_i) estimate
 * how much row i moves the estimate: their squares over N (N-1) are the parts of the variance, their cubes
 * over N^3 those of the third cumulant. N < 10 values have at most N - 1 degrees of freedom.
 */
typedef struct {
    double sd, quantile, skewness, bias;
} twin_spread;

static inline twin_spread twin_spread_of(const double *loo, size_t P, size_t Q, const double share[2],
                                         double all) {
    double V = 0, noise = 0, cube = 0, bias = 0;
    for (int side = 0; side < 2; side++) {
        const double *x = loo + (side ? P : 0), N = (double)(side ? Q : P);
        double mean = 0, part = 0, spread = 0;
        if (share[side] == 0) continue;
        for (size_t i = 0; i < (size_t)N; i++) mean += x[i] / N;
        for (size_t i = 0; i < (size_t)N; i++) {
            double u = (N - 1) * (mean - x[i]);
            part += share[side] * u * u / (N * (N - 1));
            cube += share[side] * u * u * u / (N * N * N);
        }
        for (size_t i = 0; i < (size_t)N; i++) {
            double u = (N - 1) * (mean - x[i]), d = share[side] * u * u / (N * (N - 1)) - part / N;
            spread += d * d;
        }
        V += part, noise += N < 10 ? fmax(spread, 2 * part * part / (N - 1)) : spread;
        bias += share[side] * (N - 1) * (mean - all);
    }
    return (twin_spread){sqrt(V), student_quantile(noise > 0 ? 2 * V * V / noise : INFINITY),
                         V > 0 ? cube / pow(V, 1.5) : 0, bias};
}

/* What to add to `all` at the two ends; other: how much of the skewness's part the shorter end has */
static inline void interval_ends(const double *loo, size_t P, size_t Q, const double share[2], double all,
                                 double other, double ends[2]) {
    const twin_spread s = twin_spread_of(loo, P, Q, share, all);
    double g = s.skewness, z = 1.959963984540054,
           more = fabs(g) * (2 * z * z + 1) / 6 / pow(1 - fabs(g), 1.25);
    ends[0] = fmin(0, -s.bias - s.sd * (s.quantile + (g < 0 ? 1 : other) * more));
    ends[1] = fmax(0, -s.bias + s.sd * (s.quantile + (g > 0 ? 1 : other) * more));
}
