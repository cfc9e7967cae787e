/*
 * Computes the resolvent Q at given (x_cos, x_sin) and the traces that Newton's method and the errors need.
 *
 * One system serves lambda > 0 and both limits lambda -> 0:
 *
 *     Q = (sum_a k_a K_a + ridge I)^-1,   k_a = (N/n)/(shift + x_a),   to solve: x_a = G_a(x) = tr(K_a Q)/n
 *
 *     lambda > 0:           shift 1, ridge lambda, x = delta
 *     lambda = 0, 2N < n:   shift 0, ridge 1,      x = theta = lim lambda delta,  Q stands for lim lambda Q
 *     lambda = 0, 2N > n:   shift 1, ridge 0,      x = delta
 */
#pragma once

#include "ridge/plan.h"

typedef struct {
    double N, shift, ridge;
} ks_ridge_system;

typedef struct {
    double G[2]; /* tr(K_a Q)/n */
    /* D holds dG_a/dx_b = (N/n) tr(Q K_a Q K_b)/n / (shift + x_b)^2; the inverse of I - D is Omega. */
    double D[2][2];
    double t0[2];    /* t0[a] is tr(Q K_a Q)/n, or 0 if ridge is 0 */
    double noise[2]; /* the order of magnitude of the rounding error of G_a */
} ks_ridge_traces;

/*
 * These are the sums behind the traces: <Q,K_cos>, <Q,K_sin>, <Q,Q>, <M,Q> and tr(MM) with M = Q K_cos,
 * and tr(Q).
 */
enum { QC, QS, QQ, MQ, MM, TQ, SUMS };

/*
 * Writes Q to r->Q, or to r->on_device, and fills t. It computes D and t0 only if `second` is 1, which
 * costs one more product of n x n matrices. It fails with KSPEC_E_NUMERIC if the matrix is not positive
 * definite to working precision. It overwrites r->work, or the copy of r->work on the device.
 */
kspec_status ks_ridge_resolvent(kspec_ridge *r, const ks_run *run, const ks_ridge_system *sys,
                                const double x[2], int second, ks_ridge_traces *t, kspec_error *err);

/* Computes the lower triangle of A = k[0] K_cos + k[1] K_sin + ridge I. */
kspec_status ks_ridge_combine(const kspec_ridge *r, const ks_run *run, const double k[2], double ridge,
                              double *A, kspec_error *err);
