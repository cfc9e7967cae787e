/*
 * Ridge regression on features of one kernel, dense and in long double: MATH's formulas with one delta, the
 * inverse by Gauss-Jordan, delta by the fixed-point iteration. For small n only.
 */
#ifndef KSPEC_ONE_ORACLE_H
#define KSPEC_ONE_ORACLE_H

#include "oracle/ridge.h"

typedef real (*oracle_function)(real t);

/* E f(u) f(v) for normal u, v with variances and covariance: by the trapezoidal rule in two dimensions */
static inline real oracle_expectation(oracle_function f, real uu, real vv, real uv) {
    const real step = 0.02L, rho = uv / sqrtl(uu * vv);
    real sum = 0;
    for (int i = -400; i <= 400; i++)
        for (int j = -400; j <= 400; j++) {
            const real a = i * step + 0.003L, b = j * step + 0.007L;
            const real u = sqrtl(uu) * a, v = sqrtl(vv) * (rho * a + sqrtl(1 - rho * rho) * b);
            sum += f(u) * f(v) * expl(-(a * a + b * b) / 2);
        }
    return sum * step * step / (2 * 3.14159265358979323846264L);
}

typedef struct {
    real delta, train, test;
} oracle_one_point;

/* Q = ((N/n) K/(1+delta) + lambda)^-1, delta = tr(KQ)/n; train and test as in MATH 10.4, one target */
static inline oracle_one_point oracle_one(size_t n, size_t nt, square K, square Kt, const real *tt,
                                          const double *y, const double *yt, real N, real lambda) {
    static square A, Q, QK, P;
    oracle_one_point out = {0};
    for (size_t i = 0; i < n; i++) out.delta += K[i][i] / (n * lambda);
    for (long step = 0; step < 200000; step++) {
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                A[i][j] = N / n * K[i][j] / (1 + out.delta) + (i == j ? lambda : 0);
        oracle_inverse(n, A, Q);
        const real next = oracle_trace(n, K, Q) / n;
        const int done = fabsl(next - out.delta) <= 1e-17L * out.delta;
        out.delta = next;
        if (done) break;
    }
    const real c = N / n / (1 + out.delta); /* Psi = c K */
    real v[ORACLE_MAX] = {0}, v2 = 0, form = 0, error = 0, spread = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) v[i] += Q[i][j] * y[j];
    oracle_product(n, n, n, Q, K, QK);
    const real D = 1 - c * c * oracle_trace(n, QK, QK) / N;
    oracle_product(n, n, n, QK, Q, P); /* Q K Q */
    real trace = 0;
    for (size_t i = 0; i < n; i++) trace += c * P[i][i];
    for (size_t i = 0; i < n; i++) {
        v2 += v[i] * v[i];
        for (size_t j = 0; j < n; j++) form += c * v[i] * K[i][j] * v[j];
    }
    out.train = lambda * lambda / n * (v2 + trace / N / D * form);
    for (size_t t = 0; t < nt; t++) {
        real fit = 0, inner = 0;
        for (size_t i = 0; i < n; i++) fit += c * Kt[t][i] * v[i];
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) {
                real both = 0; /* row i of (I + lambda Q) times Psi_t's column, then Q */
                for (size_t k = 0; k < n; k++) both += Q[i][k] * Q[k][j];
                inner += c * c * Kt[t][i] * Kt[t][j] * (Q[i][j] + lambda * both);
            }
        error += (yt[t] - fit) * (yt[t] - fit);
        spread += c * tt[t] - inner;
    }
    out.test = nt ? error / nt + form / N / D * spread / nt : NAN;
    return out;
}

#endif
