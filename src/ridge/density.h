/* Computes the limiting density of the eigenvalues of S S^T/n, S = f(XW), for features of one kernel. */
#pragma once

#include "ridge/one.h"

/*
 * Finds density[k] at x[k] > 0 from the trace of Q at -x - i eta. With t = (N/n)/((1+delta) lambda) the fixed
 * point reads lambda = (N/n)/t - g(t), g(t) = sum_i l_i/(1 + t l_i)/n. Newton's method follows it from large
 * lambda, where t = (N/n)/lambda, down to each x. eta is 1e-4 x, which blurs edges by as much.
 */
void ks_density(const ks_one *b, double N, const double *x, size_t count, double *density);
