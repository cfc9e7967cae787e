/*
 * Computes the limiting density of the eigenvalues of S S^T/n, S = f(XW): Im tr Q(-x - i0)/(n pi), where Q
 * and its fixed points are continued to complex lambda.
 */
#pragma once

#include "ridge/mix.h"
#include "ridge/one.h"

/*
 * For features of one kernel: finds density[k] at x[k] > 0 from the trace of Q at -x - i eta. With t =
 * (N/n)/((1+delta) lambda) the fixed point reads lambda = (N/n)/t - g(t), g(t) = sum_i l_i/(1 + t l_i)/n.
 * Newton's method follows it from large lambda, where t = (N/n)/lambda, down to each x. eta is 1e-4 x, which
 * blurs edges by as much.
 */
void ks_density(const ks_one *b, double N, const double *x, size_t count, double *density);

/* Features of several kinds, whose kernels do not commute: mix.h. Cosines and sines are two kinds. */
typedef struct {
    size_t n, count;
    double N;
    const double *K[KS_MIX_MOST];
    double share[KS_MIX_MOST];
    int sine[KS_MIX_MOST];
} ks_kinds;

/*
 * Finds the density for several kinds of features, at increasing x. Each step inverts a complex n x n matrix
 * and multiplies it by the kernels. A point takes about three steps.
 */
kspec_status ks_density_kinds(const ks_run *run, const ks_kinds *b, const double *x, size_t count,
                              double *density, kspec_error *err);

/*
 * Computes the fraction of eigenvalues that are 0: 1 - min(width N, N + rank K_cos, N + rank K_sin, rank
 * K)/n, where cosines lie in the range of K_cos and sines in that of K_sin. Ranks are numerical.
 */
kspec_status ks_density_atom(const ks_kinds *b, double *atom, kspec_error *err);
