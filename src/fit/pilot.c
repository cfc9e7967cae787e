/* Computes Mestre's closed-form estimate of the operator's eigenvalues, which starts the fit. */
#include "fit/pilot.h"

#include "base/sort.h"

#include <math.h>

/*
 * Finds the root mu of sum_j s_j/(s_j - mu) = N. This sum increases from -inf to inf between s_{i+1} and s_i.
 */
static double root(size_t n, const double *s, size_t i, double N) {
    if (isinf(N)) return s[i];
    /* If N < n, the last root is negative, but close to 0. */
    double low = i + 1 < n ? s[i + 1] : N < (double)n ? -s[i] : 0, high = s[i];
    for (int k = 0; k < 70; k++) {
        double mu = 0.5 * (low + high), sum = 0;
        for (size_t j = 0; j < n; j++) sum += s[j] / (s[j] - mu);
        if (sum < N)
            low = mu;
        else
            high = mu;
    }
    return 0.5 * (low + high);
}

void ks_pilot(size_t n, const double *s, double P, double Q, double *lambda) {
    /* If the sides are equal, the difference of two nearby roots gives the derivative. */
    double less = P < Q ? P : Q, more = P < Q ? Q : P, step = 1e-4 * less;
    for (size_t i = 0; i < n; i++) {
        if (isinf(more))
            lambda[i] = less * (s[i] - root(n, s, i, less));
        else if (P == Q)
            lambda[i] = P * Q * (root(n, s, i, P + step) - root(n, s, i, P - step)) / (2 * step);
        else
            lambda[i] = P * Q / (more - less) * (root(n, s, i, more) - root(n, s, i, less));
    }
    ks_sort_descending(lambda, n);
}
