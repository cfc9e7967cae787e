/*
 * The input and output of every estimator of m(n) = tr T^n. moments.c prepares the pair of matrices (scaling,
 * splitting of trials, permutations), calls the estimators, and computes error bars from their results.
 */
#pragma once

#include "base/memory.h"
#include "base/parallel.h"

/*
 * A ks_pair contains two matrices, which define the values of cycles. A cycle of order n is a closed walk i_1
 * a_1 i_2 a_2 ... i_n a_n i_1 over rows and columns. The value of the cycle is the product over l of A[i_l,
 * a_l] B[i_{l+1}, a_l]. With one trial, A and B are the same pointer. With two trials, A is the first and B
 * the second. Both matrices are P x Q, row-major, dense, finite, and scaled to a root mean square near 1.
 */
typedef struct {
    const double *A, *B;
    size_t P, Q;
    int nmax;
} ks_pair;

/*
 * The estimates of a pair. m[n-1] is the estimate of m(n), n = 1 ... nmax. rows and cols are both NULL, or
 * both contain leave-one-out estimates: rows[(n-1)*P + i] without row i, and cols[(n-1)*Q + a] without column
 * a. Leave-one-out estimates are NaN at n = P or n = Q, where no cycle remains.
 */
typedef struct {
    double *m;
    double *rows, *cols;
} ks_moments_out;

/*
 * Sets t to the transposes of the pair p, in the arena. If A = B, there is one transpose. The cycles of t are
 * the cycles of p, started at the columns.
 */
kspec_status ks_pair_transpose(const ks_pair *p, ks_pair *t, ks_arena *arena, kspec_error *err);
