/*
 * The product of two covariances, or of two mean squares, averaged over all choices of distinct rows, by its
 * definition and in long double: what dimension and comparison of matrices are made of.
 */
#ifndef KSPEC_ORACLE_PAIRS_H
#define KSPEC_ORACLE_PAIRS_H

#include <stddef.h>

/* Column k of a P x cols matrix of which one row and one column are left out (SIZE_MAX: none). */
typedef struct {
    const double *at;
    size_t cols;
} oracle_matrix;

static inline long double oracle_at(oracle_matrix m, size_t i, size_t k) { return m.at[i * m.cols + k]; }

/*
 * The mean over distinct rows i, j, k, l (without `row`) of (x_i y_i - x_i y_j) (z_k w_k - z_k w_l); not
 * centred, of x_i y_i z_k w_k over distinct i, k.
 */
static inline long double oracle_product(size_t P, size_t row, int centered, oracle_matrix x, size_t a,
                                         oracle_matrix y, size_t b, oracle_matrix z, size_t c,
                                         oracle_matrix w, size_t d) {
    long double sum = 0, count = 0;
    for (size_t i = 0; i < P; i++)
        for (size_t k = 0; k < P; k++) {
            if (i == row || k == row || i == k) continue;
            long double xi = oracle_at(x, i, a), yi = oracle_at(y, i, b), zk = oracle_at(z, k, c),
                        wk = oracle_at(w, k, d);
            if (!centered) {
                sum += xi * yi * zk * wk;
                count++;
                continue;
            }
            for (size_t j = 0; j < P; j++)
                for (size_t l = 0; l < P; l++) {
                    if (j == row || l == row || j == l || j == i || j == k || l == i || l == k) continue;
                    sum += xi * (yi - oracle_at(y, j, b)) * zk * (wk - oracle_at(w, l, d));
                    count++;
                }
        }
    return sum / count;
}

#endif
