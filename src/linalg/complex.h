/* Complex numbers, and a few dense operations on complex matrices. */
#pragma once

#include "kspec/base.h"

/* Laid out as in C99 and Fortran: re, im. Products are written out, since C99's check for infinities. */
typedef struct {
    double re, im;
} ks_cplx;

static inline ks_cplx ks_cmul(ks_cplx a, ks_cplx b) {
    return (ks_cplx){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static inline ks_cplx ks_conj(ks_cplx a) { return (ks_cplx){a.re, -a.im}; }

static inline double ks_cabs2(ks_cplx a) { return a.re * a.re + a.im * a.im; }

/*
 * A (N x p, column-major, N >= p, of full rank) becomes the conjugate transpose of its pseudo-inverse, Q R^-*
 * where A = QR (Householder). Rows of very different size should stand in decreasing order.
 */
kspec_status ks_pinv_conj(size_t N, size_t p, ks_cplx *A, kspec_error *err);

/* The squared Frobenius norms of B*B and of B^T B, for B (N x p, column-major); scratch: p*p numbers. */
void ks_gram_norms(size_t N, size_t p, const ks_cplx *B, ks_cplx *scratch, double *hermitian,
                   double *symmetric);
