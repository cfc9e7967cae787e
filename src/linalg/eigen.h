/* Symmetric eigenproblems. */
#pragma once

#include "kspec/base.h"

/*
 * The eigenvalues of the symmetric A (n x n, row-major, lower triangle read), in increasing order, to w.
 * Destroys A; if `vectors` is 1, row i of A becomes the unit eigenvector of w[i].
 */
kspec_status ks_syevd(int vectors, size_t n, double *A, size_t lda, double *w, kspec_error *err);

/*
 * All eigenvalues of A, as ks_syevd() computes them, but only the eigenvectors of the `top` largest: rows of
 * Z (top x n), in increasing order. Destroys A. Needs some tens of n doubles of additional memory, while
 * ks_syevd() needs 2n^2.
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
