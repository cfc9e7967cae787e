/*
 * Ridge prediction straight from its formulas, in long double and dense: inverses by Gauss-Jordan, products
 * by triple loops, delta by the fixed-point iteration with long double's patience. For small n only.
 */
#ifndef KSPEC_RIDGE_ORACLE_H
#define KSPEC_RIDGE_ORACLE_H

#include <math.h>
#include <stddef.h>
#include <string.h>

typedef long double real;
enum { ORACLE_MAX = 48 };
typedef real square[ORACLE_MAX][ORACLE_MAX];

static inline void oracle_kernels(const double *A, size_t rows, const double *B, size_t cols, size_t p,
                                  square C, square S) {
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) {
            real minus = 0, plus = 0;
            for (size_t k = 0; k < p; k++) {
                real a = A[i * p + k], b = B[j * p + k];
                minus += (a - b) * (a - b), plus += (a + b) * (a + b);
            }
            C[i][j] = (expl(-minus / 2) + expl(-plus / 2)) / 2;
            S[i][j] = (expl(-minus / 2) - expl(-plus / 2)) / 2;
        }
}

static inline void oracle_inverse(size_t n, square A, square out) {
    static square M;
    memcpy(M, A, sizeof(square));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) out[i][j] = i == j;
    for (size_t c = 0; c < n; c++) {
        size_t pivot = c;
        for (size_t i = c; i < n; i++)
            if (fabsl(M[i][c]) > fabsl(M[pivot][c])) pivot = i;
        for (size_t j = 0; j < n; j++) {
            real t = M[c][j];
            M[c][j] = M[pivot][j], M[pivot][j] = t;
            t = out[c][j];
            out[c][j] = out[pivot][j], out[pivot][j] = t;
        }
        real f = 1 / M[c][c];
        for (size_t j = 0; j < n; j++) M[c][j] *= f, out[c][j] *= f;
        for (size_t i = 0; i < n; i++) {
            real g = M[i][c];
            for (size_t j = 0; j < n && i != c; j++) M[i][j] -= g * M[c][j], out[i][j] -= g * out[c][j];
        }
    }
}

static inline void oracle_product(size_t rows, size_t inner, size_t cols, square A, square B, square out) {
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++) {
            real sum = 0;
            for (size_t k = 0; k < inner; k++) sum += A[i][k] * B[k][j];
            out[i][j] = sum;
        }
}

static inline real oracle_trace(size_t n, square A, square B) { /* tr(AB) */
    real sum = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) sum += A[i][k] * B[k][i];
    return sum;
}

typedef struct {
    real delta[2], train, test, kernel_train, kernel_test;
} oracle_point;

/* Q = ((N/n) sum_a K_a/(shift + x_a) + ridge I)^-1 */
static inline void oracle_resolvent(size_t n, square *K, real N, real shift, real ridge, const real x[2],
                                    square Q) {
    static square A;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            A[i][j] =
                N / n * (K[0][i][j] / (shift + x[0]) + K[1][i][j] / (shift + x[1])) + (i == j ? ridge : 0);
    oracle_inverse(n, A, Q);
}

/* |y - A v|^2 / rows */
static inline real oracle_mse(size_t rows, size_t n, square A, const real *v, const double *y) {
    real sum = 0;
    for (size_t i = 0; i < rows; i++) {
        real d = y[i];
        for (size_t j = 0; j < n; j++) d -= A[i][j] * v[j];
        sum += d * d;
    }
    return sum / rows;
}

/*
 * One target column; nt = 0: no test set. lambda = 0 is the limit by its own equations. Fixed-point steps
 * until they stay within `tolerance`, at most a million.
 */
static inline oracle_point oracle_ridge(size_t n, size_t nt, size_t p, const double *X, const double *Xt,
                                        const double *y, const double *yt, size_t features, double lambda,
                                        real tolerance) {
    static square K[2], Kt[2], Q, QK[2], T, P, H, HtH;
    oracle_point out = {0};
    real N = features, shift = 1, ridge = lambda, x[2];
    if (lambda == 0 && 2 * features < n) shift = 0, ridge = 1;
    oracle_kernels(X, n, X, n, p, K[0], K[1]);
    for (int a = 0; a < 2; a++) {
        real trace = 0;
        for (size_t i = 0; i < n; i++) trace += K[a][i][i];
        x[a] = ridge > 0 ? trace / (n * ridge) : 1;
    }
    for (long step = 0; step < 1000000; step++) {
        oracle_resolvent(n, K, N, shift, ridge, x, Q);
        real next[2] = {oracle_trace(n, K[0], Q) / n, oracle_trace(n, K[1], Q) / n};
        int done = fabsl(next[0] - x[0]) <= tolerance * x[0] && fabsl(next[1] - x[1]) <= tolerance * x[1];
        x[0] = next[0], x[1] = next[1];
        if (done) break;
    }
    oracle_resolvent(n, K, N, shift, ridge, x, Q);

    real W[2] = {1 / ((shift + x[0]) * (shift + x[0])), 1 / ((shift + x[1]) * (shift + x[1]))};
    real t[2][2], t0[2], v[ORACLE_MAX], c[2] = {0, 0}, norm = 0, theta[2];
    for (int a = 0; a < 2; a++) oracle_product(n, n, n, Q, K[a], QK[a]);
    for (int a = 0; a < 2; a++) {
        for (int b = 0; b < 2; b++) t[a][b] = oracle_trace(n, QK[a], QK[b]) / n;
        t0[a] = oracle_trace(n, QK[a], Q) / n;
    }
    for (size_t i = 0; i < n; i++) {
        v[i] = 0;
        for (size_t j = 0; j < n; j++) v[i] += Q[i][j] * y[j];
        norm += v[i] * v[i];
    }
    for (int a = 0; a < 2; a++)
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) c[a] += v[i] * K[a][i][j] * v[j];
    real J[2][2] = {{1 - N / n * t[0][0] * W[0], -N / n * t[0][1] * W[1]},
                    {-N / n * t[1][0] * W[0], 1 - N / n * t[1][1] * W[1]}};
    real det = J[0][0] * J[1][1] - J[0][1] * J[1][0];
    real z[2] = {(J[1][1] * c[0] - J[0][1] * c[1]) / det, (J[0][0] * c[1] - J[1][0] * c[0]) / det};
    out.delta[0] = x[0], out.delta[1] = x[1];
    out.train =
        ridge * ridge * norm / n + N * ridge * ridge / n / n * (t0[0] * W[0] * z[0] + t0[1] * W[1] * z[1]);
    real zero[2] = {0, 0}, u[ORACLE_MAX];
    oracle_resolvent(n, K, N, 1, lambda, zero, T);
    for (size_t i = 0; i < n; i++) {
        u[i] = 0;
        for (size_t j = 0; j < n; j++) u[i] += T[i][j] * y[j];
        out.kernel_train += (real)lambda * lambda * u[i] * u[i] / n;
        u[i] *= N / n;
    }
    if (!nt) return out;

    oracle_kernels(Xt, nt, X, n, p, Kt[0], Kt[1]);
    for (size_t i = 0; i < nt; i++)
        for (size_t j = 0; j < n; j++) {
            P[i][j] = Kt[0][i][j] / (shift + x[0]) + Kt[1][i][j] / (shift + x[1]);
            T[i][j] = Kt[0][i][j] + Kt[1][i][j];
        }
    out.kernel_test = oracle_mse(nt, n, T, u, yt);
    oracle_product(nt, n, n, P, Q, H);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            HtH[i][j] = 0;
            for (size_t k = 0; k < nt; k++) HtH[i][j] += H[k][i] * H[k][j];
        }
    for (int a = 0; a < 2; a++) {
        static square self[2];
        oracle_kernels(Xt, nt, Xt, nt, p, self[0], self[1]);
        real trace = 0, cross = 0;
        for (size_t i = 0; i < nt; i++) trace += self[a][i][i];
        for (size_t i = 0; i < nt; i++)
            for (size_t j = 0; j < n; j++) cross += H[i][j] * Kt[a][i][j];
        theta[a] = trace / N + N / n / n * oracle_trace(n, HtH, K[a]) - 2 / (real)n * cross;
    }
    for (size_t j = 0; j < n; j++) v[j] *= N / n;
    out.test = oracle_mse(nt, n, P, v, yt) +
               N / n * (N / n) / nt * (theta[0] * W[0] * z[0] + theta[1] * W[1] * z[1]);
    return out;
}

#endif
