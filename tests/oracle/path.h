/*
 * Two slow, plain versions of the path estimator in long double, and matrices to try it on. Both take any
 * trial on any edge: edge e of 1 ... 2nmax-1 uses trials[t[e-1]] and the closing edge at order n uses
 * trials[close[n-1]].
 */
#ifndef KSPEC_TEST_PATH_ORACLE_H
#define KSPEC_TEST_PATH_ORACLE_H

#include "base/cpu.h"
#include "path/path.h"
#include "help/isa.h"
#include "test.h"
#include "kspec/host.h"

typedef long double ld;

static inline double *new_matrix(size_t P, size_t Q) { return malloc((P * Q + 1) * sizeof(double)); }

/* The generator of the golden values. */
static inline double *random_matrix(uint64_t seed, size_t P, size_t Q) {
    double *M = new_matrix(P, Q);
    uint64_t s = seed;
    for (size_t i = 0; i < P * Q; i++) {
        s = s * 6364136223846793005u + 1442695040888963407u;
        M[i] = 2 * ((double)(s >> 11) / 9007199254740992.0) - 1 + 0.25;
    }
    return M;
}

static inline double *absolute(const double *M, size_t P, size_t Q) {
    double *R = new_matrix(P, Q);
    for (size_t i = 0; i < P * Q; i++) R[i] = fabs(M[i]);
    return R;
}

/* Without row i (i < P) and without column a (a < Q); SIZE_MAX leaves nothing out. */
static inline double *without(const double *M, size_t P, size_t Q, size_t i, size_t a) {
    double *R = new_matrix(P, Q), *r = R;
    for (size_t p = 0; p < P; p++)
        for (size_t q = 0; q < Q; q++)
            if (p != i && q != a) *r++ = M[p * Q + q];
    return R;
}

static inline ld binomials(size_t P, size_t Q, int n) {
    ld c = 1;
    for (int l = 1; l <= n; l++) c *= (ld)(P - (size_t)l + 1) / l * (ld)(Q - (size_t)l + 1) / l;
    return c;
}

/* The recursion of the text, one start row at a time. */
static inline void oracle(const double *const *trials, size_t P, size_t Q, int nmax, const int *t,
                          const int *close, double *m) {
    size_t N = (size_t)nmax + 1;
    ld *A = malloc(Q * N * sizeof *A), *R = malloc(N * sizeof *R), *sum = calloc(N, sizeof *sum);
    for (size_t h = 0; h < P; h++) {
        for (size_t b = 0; b < Q; b++)
            for (size_t n = 1; n < N; n++) A[b * N + n] = n == 1 ? trials[t[0]][h * Q + b] : 0;
        for (size_t a = h + 1; a < P; a++) {
            for (size_t n = 0; n < N; n++) R[n] = 0;
            for (size_t b = 0; b < Q; b++) {
                for (size_t n = N - 1; n >= 2; n--) {
                    ld old = A[b * N + n];
                    A[b * N + n] += R[n - 1] * trials[t[2 * n - 2]][a * Q + b];
                    if (n < N - 1) R[n] += old * trials[t[2 * n - 1]][a * Q + b];
                }
                if (N > 2) R[1] += A[b * N + 1] * trials[t[1]][a * Q + b];
            }
        }
        for (size_t n = 1; n < N; n++)
            for (size_t b = 0; b < Q; b++) sum[n] += A[b * N + n] * trials[close[n - 1]][h * Q + b];
    }
    for (int n = 1; n <= nmax; n++) m[n - 1] = (double)(sum[n] / binomials(P, Q, n));
    free(A), free(R), free(sum);
}

/*
 * The definition: every choice of rows i_1 < ... < i_n and columns a_1 < ... < a_n, for P, Q up to 20 or so.
 */
static inline double brute(const double *const *trials, size_t P, size_t Q, int n, const int *t,
                           const int *close) {
    ld sum = 0;
    for (unsigned rows = 0; rows < 1u << P; rows++) {
        if (__builtin_popcount(rows) != n) continue;
        for (unsigned cols = 0; cols < 1u << Q; cols++) {
            if (__builtin_popcount(cols) != n) continue;
            size_t i[32], a[32], k = 0;
            for (size_t p = 0; p < P; p++)
                if (rows >> p & 1) i[k++] = p;
            k = 0;
            for (size_t q = 0; q < Q; q++)
                if (cols >> q & 1) a[k++] = q;
            ld v = 1;
            for (int l = 0; l < n; l++) {
                v *= trials[t[2 * l]][i[l] * Q + a[l]];
                v *= l + 1 < n ? trials[t[2 * l + 1]][i[l + 1] * Q + a[l]]
                               : trials[close[n - 1]][i[0] * Q + a[l]];
            }
            sum += v;
        }
    }
    return (double)(sum / binomials(P, Q, n));
}

/* What a pair of trials means for the edges: odd ones the first, even ones and the close the second. */
enum { MOST_ORDERS = 64 };
static inline void pair_edges(int *t, int *close) {
    for (int e = 0; e < 2 * MOST_ORDERS; e++) t[e] = e % 2;
    for (int n = 0; n < MOST_ORDERS; n++) close[n] = 1;
}

static inline void oracle_pair(const double *A, const double *B, size_t P, size_t Q, int nmax, double *m) {
    int t[2 * MOST_ORDERS], close[MOST_ORDERS];
    pair_edges(t, close);
    oracle((const double *const[]){A, B}, P, Q, nmax, t, close, m);
}

/* The mean of the absolute values of the terms: what rounding errors are relative to. */
static inline void sizes_pair(const double *A, const double *B, size_t P, size_t Q, int nmax, double *m) {
    double *a = absolute(A, P, Q), *b = absolute(B, P, Q);
    oracle_pair(a, b, P, Q, nmax, m);
    free(a), free(b);
}

static inline kspec_status path(const double *A, const double *B, size_t P, size_t Q, int nmax, int threads,
                                double *m, double *rows, double *cols) {
    ks_run run;
    kspec_error err = {0};
    if (ks_run_init(&run, threads, (kspec_progress){0}, &err)) return err.code;
    ks_pair p = {A, B, P, Q, nmax};
    kspec_status st = ks_path(&run, &p, &(ks_moments_out){m, rows, cols}, &err);
    CHECK_MSG(st == KSPEC_OK, "%s", err.msg);
    return st;
}

/* got is within tol of want, relative to the size of what was added up. */
#define CHECK_WITHIN(got, want, size, tol, ...)                                                   \
    do {                                                                                          \
        double got_ = (got), want_ = (want);                                                      \
        CHECK_MSG(fabs(got_ - want_) <= (tol) * (size), "%.17g != %.17g ", got_, want_);          \
        if (!(fabs(got_ - want_) <= (tol) * (size))) printf("    at " __VA_ARGS__), printf("\n"); \
    } while (0)

/*
 * Phi = x y^T has m(n) = e_n(x_i^2) e_n(y_a^2) / (C(P,n) C(Q,n)), e_n the elementary symmetric polynomials.
 */
static inline void symmetric(const double *x, size_t count, int nmax, ld *e) {
    for (int n = 0; n <= nmax; n++) e[n] = n == 0;
    for (size_t i = 0; i < count; i++)
        for (int n = nmax; n >= 1; n--) e[n] += e[n - 1] * x[i] * x[i];
}

static inline void check_rank_one(size_t P, size_t Q, int nmax, double tol) {
    double *x = random_matrix(P, P, 1), *y = random_matrix(Q, Q, 1), *M = new_matrix(P, Q), m[MOST_ORDERS];
    for (size_t i = 0; i < P; i++) x[i] *= 1.5; /* to a root mean square of about 1 */
    for (size_t a = 0; a < Q; a++) y[a] *= 1.5;
    for (size_t i = 0; i < P * Q; i++) M[i] = x[i / Q] * y[i % Q];
    ld ex[MOST_ORDERS + 1], ey[MOST_ORDERS + 1];
    symmetric(x, P, nmax, ex);
    symmetric(y, Q, nmax, ey);
    path(M, M, P, Q, nmax, 2, m, NULL, NULL);
    for (int n = 1; n <= nmax; n++) CHECK_CLOSE(m[n - 1], (double)(ex[n] * ey[n] / binomials(P, Q, n)), tol);
    free(x), free(y), free(M);
}

/*
 * Every leave-one-out value against the estimate of the smaller matrix: what the error bar makes of the
 * difference must be nothing, so the jackknife standard deviation of each order is what it is measured by.
 */
static inline void check_loo(const double *A, const double *B, size_t P, size_t Q, int nmax) {
    const size_t N = (size_t)nmax;
    double *rows = malloc(N * P * sizeof *rows), *cols = malloc(N * Q * sizeof *cols);
    double *want = malloc((P + Q) * N * sizeof *want), m[MOST_ORDERS], size[MOST_ORDERS];
    sizes_pair(A, B, P, Q, nmax, size);
    for (size_t k = 0; k < P + Q; k++) {
        const size_t p = P - (k < P), q = Q - (k >= P);
        double *a = without(A, P, Q, k < P ? k : SIZE_MAX, k < P ? SIZE_MAX : k - P);
        double *b = without(B, P, Q, k < P ? k : SIZE_MAX, k < P ? SIZE_MAX : k - P);
        const size_t left = p < q ? p : q; /* at higher orders nothing is left */
        for (size_t n = 0; n < N; n++) want[k * N + n] = NAN;
        if (left) oracle_pair(a, b, p, q, left < N ? (int)left : nmax, want + k * N);
        free(a), free(b);
    }
    double tol[MOST_ORDERS];
    for (size_t n = 0; n < N; n++) {
        double variance = 0;
        for (int side = 0; side < 2; side++) {
            const double *w = want + (side ? P * N : 0) + n, count = (double)(side ? Q : P);
            double mean = 0, sum = 0;
            for (size_t k = 0; k < (size_t)count; k++) mean += w[k * N] / count;
            for (size_t k = 0; k < (size_t)count; k++) sum += (w[k * N] - mean) * (w[k * N] - mean);
            if (isfinite(sum)) variance += sum * (count - 1) / count;
        }
        tol[n] = 1e-9 * sqrt(variance) + 1e-14 * size[n];
    }
    EACH_ISA({
        path(A, B, P, Q, nmax, 2, m, rows, cols);
        for (size_t k = 0; k < P + Q; k++)
            for (size_t n = 0; n < N; n++) {
                double got = k < P ? rows[n * P + k] : cols[n * Q + k - P];
                if (isnan(want[k * N + n]))
                    CHECK(isnan(got));
                else
                    CHECK_WITHIN(got, want[k * N + n], 1, tol[n], "%zu x %zu without %s %zu, n = %zu, %s", P,
                                 Q, k < P ? "row" : "column", k < P ? k : k - P, n + 1, kspec_isa());
            }
    });
    free(rows), free(cols), free(want);
}

#endif
