/*
 * Maps the eigenvalues of the operator to the eigenvalues of a sample of it, for Gaussian factors Phi = X
 * Lambda^(1/2) W^T (docs/explanation/spectrum.md). Let D(kappa) = sum_l lambda_l/(lambda_l + kappa), a = 1 -
 * D/P, b = 1 - D/Q, t = kappa a b, L(kappa) = sum_l log(1 + lambda_l/kappa) + P (a - log a) + Q (b - log b).
 * The eigenvalues x of the sample lie where x = -t for negative t. The number of sample eigenvalues above x
 * is -Im L/pi.
 *
 * Noise has variance r_alpha dust in column alpha, where the r_alpha have mean 1. The point c solves 1/kappa
 * = mean of 1/(c + v r_alpha), with v = dust/Q. Noise adds Q - Q c/kappa to D. Noise also adds to L the
 * number Q - Q c/kappa and the sum over columns of log((c + v r_alpha)/kappa). The code solves the equations
 * for c. With equal columns kappa = c + v.
 */
#pragma once

#include "fit/columns.h"
#include "simd/simd.h"

/*
 * Returns the padded size of n nodes. The innermost loop adds 8 nodes at a time, so nodes beyond n have
 * weight 0 and lambda 1.
 */
static inline size_t ks_padded(size_t n) { return (n + 7) / 8 * 8; }

/*
 * A spectrum in which node l stands for weight[l] eigenvalues of lambda[l]. Noise of variance `dust`,
 * independent in each entry, is equivalent to infinitely many infinitely small eigenvalues with the sum
 * `dust`. A complete side that was not sampled has infinite size.
 */
typedef struct {
    size_t n;
    /* ks_padded(n) of each */
    const double *lambda, *weight;
    /* The number of leading nodes with weight 1, and the sum of all weights. */
    size_t ones;
    double total;
    double dust;
    double P, Q;
    const ks_simd *simd;
    /* How the noise differs between columns, for finite Q. NULL if it does not differ. */
    const ks_columns *columns;
} ks_spectrum;

/*
 * For each of K increasing levels N, finds log c with Im log t = pi and Im L = -pi N. log_x receives the
 * logarithm of the sample eigenvalue that N others exceed. x_rho receives x rho(x), where rho is the density
 * of the sample's eigenvalues. On entry log_c contains guesses, which may be NaN. The function replaces the
 * guesses by solutions.
 */
void ks_forward(const ks_spectrum *s, size_t K, const double *level, ks_cplx *log_c, double *log_x,
                double *x_rho);

/*
 * Computes the Jacobian J, whose K rows are ld numbers apart. d log x_i / d log lambda_l is w_l
 * lambda_l/|lambda_l + kappa_i|^2, where each row is scaled to sum 1. With dust, column n is d log x_i / d
 * log dust.
 */
void ks_elasticity(const ks_spectrum *s, size_t K, const ks_cplx *log_c, double *J, size_t ld);
