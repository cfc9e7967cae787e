/*
 * Oracles for the moments: sums over cycles, straight from the definitions, in long double; and small random
 * matrices.
 */
#ifndef KSPEC_BRUTE_H
#define KSPEC_BRUTE_H

#include <stddef.h>
#include <stdint.h>

/* The reference generator: entries 2u - 1 + 0.25, row by row */
static inline void brute_matrix(uint64_t seed, size_t count, double *x) {
    uint64_t s = seed;
    for (size_t k = 0; k < count; k++) {
        s = s * 6364136223846793005u + 1442695040888963407u;
        x[k] = 2 * ((double)(s >> 11) / 9007199254740992.0) - 1 + 0.25;
    }
}

/* Which tuples of n rows (or columns) a sum runs over */
typedef enum { BRUTE_ANY, BRUTE_INCREASING, BRUTE_DISTINCT } brute_order;

static inline int brute_next(size_t *t, int n, size_t N) { /* odometer over N^n tuples; 0 at the end */
    for (int k = n - 1; k >= 0; k--) {
        if (++t[k] < N) return 1;
        t[k] = 0;
    }
    return 0;
}

static inline int brute_allowed(const size_t *t, int n, brute_order o) {
    for (int a = 0; a < n; a++)
        for (int b = a + 1; b < n; b++)
            if ((o == BRUTE_INCREASING && t[a] >= t[b]) || (o == BRUTE_DISTINCT && t[a] == t[b])) return 0;
    return 1;
}

/* Mean over cycles of order n of prod_l A[i_l,a_l] B[i_{l+1},a_l], rows and columns as given */
static inline double brute_mean(const double *A, const double *B, size_t P, size_t Q, int n, brute_order rows,
                                brute_order cols) {
    long double sum = 0;
    double count = 0;
    size_t i[8] = {0}, a[8];
    do {
        if (!brute_allowed(i, n, rows)) continue;
        for (int l = 0; l < n; l++) a[l] = 0;
        do {
            if (!brute_allowed(a, n, cols)) continue;
            long double v = 1;
            for (int l = 0; l < n; l++) v *= (long double)A[i[l] * Q + a[l]] * B[i[(l + 1) % n] * Q + a[l]];
            sum += v;
            count++;
        } while (brute_next(a, n, Q));
    } while (brute_next(i, n, P));
    return (double)(sum / count);
}

/* X without row i (or column a) */
static inline void brute_without_row(const double *X, size_t P, size_t Q, size_t i, double *out) {
    for (size_t k = 0; k < P; k++)
        for (size_t j = 0; j < Q && k != i; j++) *out++ = X[k * Q + j];
}

static inline void brute_without_col(const double *X, size_t P, size_t Q, size_t a, double *out) {
    for (size_t k = 0; k < P; k++)
        for (size_t j = 0; j < Q; j++)
            if (j != a) *out++ = X[k * Q + j];
}

#endif
