/* Symmetric eigenproblems. */
#pragma once

#include "kspec/base.h"

/*
 * The eigenvalues of the symmetric A (n x n, row-major, lower triangle read), in increasing order, to w. A is
 * destroyed; where `vectors` is 1 its row i becomes the unit eigenvector of w[i].
 */
kspec_status ks_syevd(int vectors, size_t n, double *A, size_t lda, double *w, kspec_error *err);

/*
 * The same without destroying more than A, and with the eigenvectors of the `top` largest alone: rows of Z
 * (top x n), in increasing order. Takes some tens of n doubles beside, where ks_syevd() takes 2n^2.
 */
kspec_status ks_syev_top(size_t n, double *A, size_t lda, double *w, size_t top, double *Z, kspec_error *err);

/* Reverses the order of n numbers. */
static inline void ks_reverse(size_t n, double *w) {
    for (size_t i = 0; i < n / 2; i++) {
        double x = w[i];
        w[i] = w[n - 1 - i];
        w[n - 1 - i] = x;
    }
}
