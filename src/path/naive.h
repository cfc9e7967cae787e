/* Computes the naive estimator of the moments: traces of powers of the Gram matrix. */
#pragma once

#include "device/pair.h"

/*
 * Computes tr((A B^T / PQ)^n) over all cycles, including repeated rows and columns. Memory: ceil(nmax/2)
 * matrices of min(P,Q)^2; error bars need two more of P x Q.
 */
kspec_status ks_naive(const ks_run *run, const ks_pair *p, const ks_moments_out *out, kspec_error *err);

/*
 * Sets loo[(n-1)*N + i] to the estimate without row (or column) i. g[(n-1)*N + i] = (K^n)_ii is the diagonal
 * of powers of that side's Gram matrix K.
 */
void ks_naive_leave_out(const double *m, int nmax, size_t N, const double *g, double *loo);
