/* Estimates the operator's eigenvalues in closed form, as the start of the fit. */
#pragma once

#include <stddef.h>

/*
 * Computes the estimates lambda_i = PQ/(Q-P) (mu_i(Q) - mu_i(P)) of Mestre (2008), in decreasing order.
 * mu_i(N) is the root of sum_j s_j/(s_j - mu) = N in (s_{i+1}, s_i). For P = Q the function uses a
 * derivative, and for an infinite (complete) side a limit. s contains the n positive eigenvalues of the
 * sample in decreasing order, n <= min(P,Q). The estimates have the same sum as s.
 */
void ks_pilot(size_t n, const double *s, double P, double Q, double *lambda);
