/*
 * Computes the limiting density of the eigenvalues of S S^T/n, S = f(XW): Im tr Q(-x - i0)/(n pi), where Q
 * and its fixed points are continued to complex lambda.
 */
#pragma once

#include "ridge/mix.h"
#include "ridge/one.h"

/*
 * Computes density[k] at each x[k] > 0 from the trace of Q at -x - i eta, for features of one kernel. With
 * t = (N/n)/((1+delta) lambda) the fixed point reads lambda = (N/n)/t - g(t), g(t) = sum_i l_i/(1 + t
 * l_i)/n. Newton's method follows t from large lambda, where t = (N/n)/lambda, down to each x. eta is 1e-4
 * x, so edges are blurred by 1e-4 of their position.
 */
void ks_density(const ks_one *b, double N, const double *x, size_t count, double *density);

/*
 * Features of several kinds (mix.h) have kernels that do not commute. Cosines and sines are two such
 * kinds.
 */
typedef struct {
    size_t n, count;
    double N;
    const double *K[KS_MIX_MOST];
    double share[KS_MIX_MOST];
    int sine[KS_MIX_MOST];
} ks_kinds;

/*
 * Computes the density for several kinds of features, at increasing x. Each Newton step inverts a complex
 * n x n matrix and multiplies it by the kernels. A point x takes about three steps.
 */
kspec_status ks_density_kinds(const ks_run *run, const ks_kinds *b, const double *x, size_t count,
                              double *density, kspec_error *err);

/*
 * Computes the fraction of eigenvalues that are 0: 1 - min(width N, N + rank K_cos, N + rank K_sin, rank
 * K)/n. The cosines lie in the range of K_cos, the sines in the range of K_sin. Ranks are numerical.
 */
kspec_status ks_density_atom(const ks_kinds *b, double *atom, kspec_error *err);
