/* Estimates the operator's eigenvalues in closed form, as the start of the fit. */
#pragma once

#include <stddef.h>

/*
 * Computes lambda_i = PQ/(Q-P) (mu_i(Q) - mu_i(P)), decreasing, after Mestre (2008). mu_i(N) is the root of
 * sum_j s_j/(s_j - mu) = N in (s_{i+1}, s_i). P = Q uses a derivative, and an infinite (complete) side a
 * limit. s: n eigenvalues > 0 of the sample, decreasing, n <= min(P,Q). The sum of s is preserved exactly.
 */
void ks_pilot(size_t n, const double *s, double P, double Q, double *lambda);
