/*
 * Oracle for cross-validated eigenvalues: plain loops in long double. The right singular vectors are those of
 * A^T A, by Jacobi rotations, on the columns however many there are.
 */
#ifndef KSPEC_ORACLE_CVPCA_H
#define KSPEC_ORACLE_CVPCA_H

#include <math.h>
#include <stddef.h>

enum { CVPCA_MOST = 16 };

/* lambda[k] = (A v_k).(B v_k)/(PQ), k < min(P,Q); Q is at most CVPCA_MOST */
static inline void oracle_cvpca(const double *A, const double *B, size_t P, size_t Q, double *lambda) {
    long double S[CVPCA_MOST][CVPCA_MOST] = {{0}}, V[CVPCA_MOST][CVPCA_MOST] = {{0}};
    int used[CVPCA_MOST] = {0};
    for (size_t a = 0; a < Q; a++) {
        V[a][a] = 1;
        for (size_t b = 0; b < Q; b++)
            for (size_t i = 0; i < P; i++) S[a][b] += (long double)A[i * Q + a] * A[i * Q + b];
    }
    for (int sweep = 0; sweep < 60; sweep++)
        for (size_t a = 0; a < Q; a++)
            for (size_t b = a + 1; b < Q; b++) {
                if (S[a][b] == 0) continue;
                long double t = atan2l(2 * S[a][b], S[a][a] - S[b][b]) / 2, c = cosl(t), s = sinl(t);
                for (size_t k = 0; k < Q; k++) {
                    long double x = S[k][a], y = S[k][b];
                    S[k][a] = c * x + s * y, S[k][b] = c * y - s * x;
                    x = V[k][a], y = V[k][b];
                    V[k][a] = c * x + s * y, V[k][b] = c * y - s * x;
                }
                for (size_t k = 0; k < Q; k++) {
                    long double x = S[a][k], y = S[b][k];
                    S[a][k] = c * x + s * y, S[b][k] = c * y - s * x;
                }
            }
    for (size_t k = 0; k < P && k < Q; k++) {
        size_t best = 0;
        while (used[best]) best++;
        for (size_t a = 0; a < Q; a++)
            if (!used[a] && S[a][a] > S[best][best]) best = a;
        used[best] = 1;
        long double sum = 0;
        for (size_t i = 0; i < P; i++) {
            long double x = 0, y = 0;
            for (size_t a = 0; a < Q; a++) x += A[i * Q + a] * V[a][best], y += B[i * Q + a] * V[a][best];
            sum += x * y;
        }
        lambda[k] = (double)(sum / ((long double)P * Q));
    }
}

/* Subtracts the mean of each column */
static inline void oracle_center(double *X, size_t P, size_t Q) {
    for (size_t a = 0; a < Q; a++) {
        long double mean = 0;
        for (size_t i = 0; i < P; i++) mean += X[i * Q + a];
        for (size_t i = 0; i < P; i++) X[i * Q + a] -= (double)(mean / P);
    }
}

#endif
