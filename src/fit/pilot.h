/* Eigenvalues in closed form: where the fit starts. */
#pragma once

#include <stddef.h>

/*
 * lambda_i = PQ/(Q-P) (mu_i(Q) - mu_i(P)), decreasing, where mu_i(N) is the root of sum_j s_j/(s_j - mu) = N
 * in (s_{i+1}, s_i), after Mestre (2008); P = Q by a derivative, and an infinite side (one that is complete)
 * by its limit. s: n eigenvalues > 0 of the sample, decreasing, n <= min(P,Q). Their sum is kept exactly.
 */
void ks_pilot(size_t n, const double *s, double P, double Q, double *lambda);
