/*
 * Weighted least squares on the Fourier grid by definition, in long double: the map M from y to theta as a
 * weighted pseudo-inverse, and every expectation as a trace with it. Slow and plain.
 */
#ifndef WLS_ORACLE_H
#define WLS_ORACLE_H

#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef long double complex lc;
typedef long double ld;

typedef struct {
    ld error, noise, real,
        circular; /* E_0; E_noise, its variance for real and for complex noise, at sigma = 1 */
} oracle_errors;

static inline lc oracle_root(size_t j, size_t k, size_t N) {
    ld x = 2 * acosl(-1.0L) * (ld)(j * k % N) / (ld)N;
    return cosl(x) + I * sinl(x);
}

static inline ld oracle_t(size_t k, double e) { return powl(1 + (ld)k, (ld)e); }

/* S (n x n) X = R (n x m) by Gauss-Jordan elimination with pivoting; X replaces R */
static inline void oracle_solve(size_t n, lc *S, size_t m, lc *R) {
    for (size_t c = 0; c < n; c++) {
        size_t best = c;
        for (size_t i = c + 1; i < n; i++)
            if (cabsl(S[i * n + c]) > cabsl(S[best * n + c])) best = i;
        for (size_t k = 0; k < n; k++) {
            lc x = S[c * n + k];
            S[c * n + k] = S[best * n + k], S[best * n + k] = x;
        }
        for (size_t k = 0; k < m; k++) {
            lc x = R[c * m + k];
            R[c * m + k] = R[best * m + k], R[best * m + k] = x;
        }
        for (size_t i = 0; i < n; i++) {
            if (i == c) continue;
            lc f = S[i * n + c] / S[c * n + c];
            for (size_t k = c; k < n; k++) S[i * n + k] -= f * S[c * n + k];
            for (size_t k = 0; k < m; k++) R[i * m + k] -= f * R[c * m + k];
        }
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < m; k++) R[i * m + k] /= S[i * n + i];
}

/* A (m x n, m >= n) = U S V*: one-sided Jacobi. A becomes U S, V is n x n. */
static inline void oracle_svd(size_t m, size_t n, lc *A, lc *V) {
    for (size_t i = 0; i < n * n; i++) V[i] = i / n == i % n;
    for (int sweep = 0; sweep < 60; sweep++) {
        ld off = 0;
        for (size_t a = 0; a < n; a++)
            for (size_t b = a + 1; b < n; b++) {
                ld aa = 0, bb = 0;
                lc ab = 0;
                for (size_t i = 0; i < m; i++) {
                    lc x = A[i * n + a], y = A[i * n + b];
                    aa += creall(x * conjl(x)), bb += creall(y * conjl(y)), ab += conjl(x) * y;
                }
                ld size = cabsl(ab);
                if (size <= 1e-19L * sqrtl(aa * bb)) continue;
                off = fmaxl(off, size / sqrtl(aa * bb));
                ld tau = (bb - aa) / (2 * size),
                   t = (tau >= 0 ? 1 : -1) / (fabsl(tau) + sqrtl(1 + tau * tau));
                ld c = 1 / sqrtl(1 + t * t);
                lc s = t * c * ab / size; /* columns a, b become c a - conj(s) b, s a + c b */
                for (size_t i = 0; i < m + n; i++) {
                    lc *row = i < m ? A + i * n : V + (i - m) * n, x = row[a], y = row[b];
                    row[a] = c * x - conjl(s) * y, row[b] = s * x + c * y;
                }
            }
        if (off < 1e-18L) break;
    }
}

/* M (p x N) = L^-beta (L^-alpha Psi L^-beta)^+ L^-alpha; the matrix in the middle has full rank */
static inline lc *oracle_map(size_t N, size_t p, double alpha, double beta) {
    size_t n = p < N ? p : N;
    lc *F = malloc(N * p * sizeof *F), *S = calloc(n * n, sizeof *S), *R = malloc(N * p * sizeof *R),
       *M = malloc(N * p * sizeof *M);
    for (size_t j = 0; j < N; j++)
        for (size_t k = 0; k < p; k++)
            F[j * p + k] = oracle_root(j, k, N) * oracle_t(j, -alpha) * oracle_t(k, -beta);
    if (p < N && pow((double)N, 2 * fabs(alpha)) > 1e8) { /* steep weights: F = USV*, F^+ = V S^-1 U* */
        lc *V = malloc(p * p * sizeof *V);
        oracle_svd(N, p, F, V);
        memset(M, 0, N * p * sizeof *M);
        for (size_t i = 0; i < p; i++) {
            ld s2 = 0;
            for (size_t j = 0; j < N; j++) s2 += creall(F[j * p + i] * conjl(F[j * p + i]));
            for (size_t k = 0; k < p; k++)
                for (size_t j = 0; j < N; j++) M[k * N + j] += V[k * p + i] / s2 * conjl(F[j * p + i]);
        }
        free(V);
    } else if (p < N) { /* F^+ = (F*F)^-1 F* */
        for (size_t k = 0; k < p; k++)
            for (size_t j = 0; j < N; j++) {
                R[k * N + j] = conjl(F[j * p + k]);
                for (size_t l = 0; l < p; l++) S[k * n + l] += conjl(F[j * p + k]) * F[j * p + l];
            }
        oracle_solve(n, S, N, R);
        for (size_t i = 0; i < N * p; i++) M[i] = R[i];
    } else { /* F^+ = F*(FF*)^-1: its conjugate transpose is (FF*)^-1 F */
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < N; j++)
                for (size_t k = 0; k < p; k++) S[i * n + j] += F[i * p + k] * conjl(F[j * p + k]);
        memcpy(R, F, N * p * sizeof *R);
        oracle_solve(n, S, p, R);
        for (size_t k = 0; k < p; k++)
            for (size_t j = 0; j < N; j++) M[k * N + j] = conjl(R[j * p + k]);
    }
    for (size_t k = 0; k < p; k++)
        for (size_t j = 0; j < N; j++) M[k * N + j] *= oracle_t(k, -beta) * oracle_t(j, -alpha);
    free(F), free(S), free(R);
    return M;
}

static inline oracle_errors oracle_wls(size_t N, size_t p, size_t P, double alpha, double beta,
                                       double gamma) {
    oracle_errors e = {0, 0, 0, 0};
    lc *M = oracle_map(N, p, alpha, beta), *root = malloc(N * sizeof *root);
    ld prior = 0;
    for (size_t j = 0; j < N; j++) root[j] = oracle_root(1, j, N);
    for (size_t k = 0; k < P; k++) prior += oracle_t(k, -2 * gamma);
    for (size_t l = 0; l < P; l++) { /* E|theta^ - theta|^2 = sum_l K_l |(M Psi - I) e_l|^2 */
        ld sum = l >= p;
        for (size_t k = 0; k < p; k++) {
            lc x = -(ld)(k == l);
            for (size_t j = 0; j < N; j++) x += M[k * N + j] * root[j * l % N];
            sum += creall(x * conjl(x));
        }
        e.error += oracle_t(l, -2 * gamma) / prior * sum;
    }
    for (size_t i = 0; i < N; i++) /* G = M*M */
        for (size_t j = 0; j < N; j++) {
            lc g = 0;
            for (size_t k = 0; k < p; k++) g += conjl(M[k * N + i]) * M[k * N + j];
            if (i == j) e.noise += creall(g);
            e.real += 2 * creall(g) * creall(g);
            e.circular += creall(g * conjl(g));
        }
    free(M), free(root);
    return e;
}

/* E_noise and its variances for noise of the dense covariance C = (1/N) sum_m s_m e^{2 pi i (j-l) m/N} */
static inline oracle_errors oracle_noise(size_t N, size_t p, double alpha, double beta, const double *s) {
    oracle_errors e = {0, 0, 0, 0};
    lc *M = oracle_map(N, p, alpha, beta), *C = calloc(N * N, sizeof *C), *G = calloc(N * N, sizeof *G),
       *H = calloc(N * N, sizeof *H), *R = calloc(N * N, sizeof *R);
    for (size_t j = 0; j < N; j++)
        for (size_t l = 0; l < N; l++)
            for (size_t m = 0; m < N; m++)
                C[j * N + l] += (ld)s[m] / (ld)N * oracle_root((j + N - l) % N, m, N);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            for (size_t k = 0; k < p; k++) G[i * N + j] += conjl(M[k * N + i]) * M[k * N + j];
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            for (size_t k = 0; k < N; k++)
                H[i * N + j] += G[i * N + k] * C[k * N + j],
                    R[i * N + j] += creall(G[i * N + k]) * C[k * N + j];
    for (size_t i = 0; i < N; i++) {
        e.noise += creall(H[i * N + i]);
        for (size_t j = 0; j < N; j++) {
            e.real += 2 * creall(R[i * N + j] * R[j * N + i]);
            e.circular += creall(H[i * N + j] * H[j * N + i]);
        }
    }
    free(M), free(C), free(G), free(H), free(R);
    return e;
}

/*
 * The under-parameterised errors as the mathematics has them, through the singular values of L^alpha
 * Psi_{p...N-1}
 */
static inline oracle_errors oracle_svd_form(size_t N, size_t p, size_t P, double alpha, double gamma) {
    size_t n = N - p;
    lc *A = malloc((N * n + 1) * sizeof *A), *V = malloc((n * n + 1) * sizeof *V);
    ld *s = malloc((n + 1) * sizeof *s), *kappa = calloc(N, sizeof *kappa), prior = 0;
    for (size_t j = 0; j < N; j++)
        for (size_t k = 0; k < n; k++) A[j * n + k] = oracle_t(j, alpha) * oracle_root(j, p + k, N);
    oracle_svd(N, n, A, V);
    for (size_t k = 0; k < n; k++) {
        s[k] = 0;
        for (size_t j = 0; j < N; j++) s[k] += creall(A[j * n + k] * conjl(A[j * n + k]));
        s[k] = sqrtl(s[k]);
        for (size_t j = 0; j < N; j++) A[j * n + k] /= s[k];
    }
    oracle_errors r = {0, (2 * (ld)p - N) / N, 0, (2 * (ld)p - N) / ((ld)N * N)};
    for (size_t k = 0; k < P; k++) prior += oracle_t(k, -2 * gamma);
    for (size_t k = N; k < P; k++) kappa[k % N] += oracle_t(k, -2 * gamma) / prior;
    for (size_t k = p; k < P; k++) r.error += oracle_t(k, -2 * gamma) / prior;
    for (size_t m = 0; m < N; m++)
        r.error += m < p ? kappa[m] : -(oracle_t(m, -2 * gamma) / prior + kappa[m]);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            lc e = 0, g = 0;
            for (size_t k = 0; k < N; k++) e += conjl(A[k * n + i]) * oracle_t(k, 2 * alpha) * A[k * n + j];
            for (size_t k = 0; k < n; k++)
                g +=
                    conjl(V[k * n + j]) * (oracle_t(p + k, -2 * gamma) / prior + kappa[p + k]) * V[k * n + i];
            r.error += (ld)N * creall(e * g) / (s[i] * s[j]);
            if (i == j) r.noise += creall(e) / (s[i] * s[i]);
            r.circular += creall(e * conjl(e)) / (s[i] * s[i] * s[j] * s[j]);
        }
    free(A), free(V), free(s), free(kappa);
    return r;
}

#endif
