/* Complex numbers, and a few dense operations on complex matrices. */
#pragma once

#include "kspec/base.h"

/*
 * Layout of C99 and Fortran: re, im. The code writes products out, because C99's product checks for
 * infinities.
 */
typedef struct {
    double re, im;
} ks_cplx;

static inline ks_cplx ks_cmul(ks_cplx a, ks_cplx b) {
    return (ks_cplx){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static inline ks_cplx ks_conj(ks_cplx a) { return (ks_cplx){a.re, -a.im}; }

static inline double ks_cabs2(ks_cplx a) { return a.re * a.re + a.im * a.im; }

/*
 * Replaces A (N x p, column-major, N >= p, of full rank) by the conjugate transpose of its pseudo-inverse, Q
 * R^-* with A = QR (Householder). Put rows of very different size in decreasing order.
 */
kspec_status ks_pinv_conj(size_t N, size_t p, ks_cplx *A, kspec_error *err);

/* The squared Frobenius norms of B*B and of B^T B, for B (N x p, column-major); scratch: p*p numbers. */
void ks_gram_norms(size_t N, size_t p, const ks_cplx *B, ks_cplx *scratch, double *hermitian,
                   double *symmetric);

/* Replaces A (n x n) by its inverse; KSPEC_E_NUMERIC if A is singular to working precision. */
kspec_status ks_invert_cplx(size_t n, ks_cplx *A, kspec_error *err);
