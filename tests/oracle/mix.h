/*
 * Ridge regression on features of a random scale, dense and in long double: any number of kinds of shares p_h
 * and scales s_h, each with cosines and sines, their fixed points by plain iteration, Omega by Gauss-Jordan.
 */
#ifndef KSPEC_MIX_ORACLE_H
#define KSPEC_MIX_ORACLE_H

#include "oracle/ridge.h"

enum { ORACLE_KINDS = ORACLE_MAX };

typedef struct {
    real delta[2], train, test;
} oracle_mixed;

typedef struct {
    size_t count;
    double share[ORACLE_KINDS / 2], scale[ORACLE_KINDS / 2];
} oracle_scales;

/* One target column; lambda > 0 */
static inline oracle_mixed oracle_mix(size_t n, size_t nt, size_t p, const double *X, const double *Xt,
                                      const double *y, const double *yt, real N, real lambda,
                                      const oracle_scales *scales) {
    static square K[ORACLE_KINDS], Kt[ORACLE_KINDS], A, Q, QK[ORACLE_KINDS], P, H, HtH, J, Omega, self[2];
    static double X1[ORACLE_MAX * ORACLE_MAX], X2[ORACLE_MAX * ORACLE_MAX];
    const size_t kinds = 2 * scales->count;
    oracle_mixed out = {0};
    real x[ORACLE_KINDS], share[ORACLE_KINDS], own[ORACLE_KINDS] = {0}, t0[ORACLE_KINDS], c[ORACLE_KINDS];
    real v[ORACLE_MAX], norm = 0, spread[2] = {0, 0}, error = 0;
    for (size_t s = 0; s < scales->count; s++) {
        for (size_t k = 0; k < n * p; k++) X1[k] = scales->scale[s] * X[k];
        for (size_t k = 0; k < nt * p; k++) X2[k] = scales->scale[s] * Xt[k];
        oracle_kernels(X1, n, X1, n, p, K[2 * s], K[2 * s + 1]);
        oracle_kernels(X2, nt, X1, n, p, Kt[2 * s], Kt[2 * s + 1]);
        oracle_kernels(X2, nt, X2, nt, p, self[0], self[1]);
        for (size_t a = 0; a < 2; a++) {
            share[2 * s + a] = scales->share[s], x[2 * s + a] = 0;
            for (size_t i = 0; i < n; i++) x[2 * s + a] += K[2 * s + a][i][i] / (n * lambda);
            for (size_t i = 0; i < nt; i++) own[2 * s + a] += self[a][i][i];
        }
    }
    for (long step = 0; step < 100000; step++) {
        int done = 1;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) {
                A[i][j] = i == j ? lambda : 0;
                for (size_t h = 0; h < kinds; h++) A[i][j] += N / n * share[h] * K[h][i][j] / (1 + x[h]);
            }
        oracle_inverse(n, A, Q);
        for (size_t h = 0; h < kinds; h++) {
            const real next = oracle_trace(n, K[h], Q) / n;
            done &= fabsl(next - x[h]) <= 1e-15L * x[h];
            x[h] = next;
        }
        if (done) break;
    }
    for (size_t h = 0; h < kinds; h++) oracle_product(n, n, n, Q, K[h], QK[h]);
    memset(J, 0, sizeof J);
    for (size_t g = 0; g < kinds; g++) {
        t0[g] = oracle_trace(n, QK[g], Q) / n;
        for (size_t h = 0; h < kinds; h++)
            J[g][h] =
                (g == h) - N / n * share[h] * oracle_trace(n, QK[g], QK[h]) / n / ((1 + x[h]) * (1 + x[h]));
        out.delta[g % 2] += share[g] * x[g];
    }
    oracle_inverse(kinds, J, Omega);
    for (size_t i = 0; i < n; i++) {
        v[i] = 0;
        for (size_t j = 0; j < n; j++) v[i] += Q[i][j] * y[j];
        norm += v[i] * v[i];
    }
    memset(P, 0, sizeof P);
    for (size_t h = 0; h < kinds; h++) {
        c[h] = 0;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) c[h] += v[i] * K[h][i][j] * v[j];
        for (size_t i = 0; i < nt; i++)
            for (size_t j = 0; j < n; j++) P[i][j] += share[h] * Kt[h][i][j] / (1 + x[h]);
    }
    oracle_product(nt, n, n, P, Q, H);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            HtH[i][j] = 0;
            for (size_t k = 0; k < nt; k++) HtH[i][j] += H[k][i] * H[k][j];
        }
    for (size_t h = 0; h < kinds; h++) {
        real z = 0, cross = 0;
        for (size_t g = 0; g < kinds; g++) z += Omega[h][g] * c[g];
        for (size_t i = 0; i < nt; i++)
            for (size_t j = 0; j < n; j++) cross += H[i][j] * Kt[h][i][j];
        const real theta = own[h] / N + N / n / n * oracle_trace(n, HtH, K[h]) - 2 / (real)n * cross;
        const real weight = share[h] / ((1 + x[h]) * (1 + x[h]));
        spread[0] += N / n * t0[h] * weight * z, spread[1] += N / n * (N / n) * theta * weight * z;
    }
    for (size_t i = 0; i < nt; i++) {
        real e = yt[i];
        for (size_t j = 0; j < n; j++) e -= N / n * P[i][j] * v[j];
        error += e * e;
    }
    out.train = lambda * lambda / n * (norm + spread[0]);
    out.test = nt ? (error + spread[1]) / nt : NAN;
    return out;
}

#endif
