/*
 * From the eigenvalues of the operator to those of a sample of it, for Gaussian factors Phi = X Lambda^(1/2)
 * W^T (docs/explanation/spectrum.md). With
 *     D(kappa) = sum_l lambda_l/(lambda_l + kappa),   a = 1 - D/P,   b = 1 - D/Q,   t = kappa a b,
 *     L(kappa) = sum_l log(1 + lambda_l/kappa) + P (a - log a) + Q (b - log b),
 * the sample's spectrum lies where t is negative, t = -x, and -Im L/pi of its eigenvalues exceed x.
 *
 * Noise of variance r_alpha dust in column alpha, the mean of r_alpha 1, adds Q - Q c/kappa to D, where c is
 * such that 1/kappa is the mean of 1/(c + v r_alpha), v = dust/Q; to L it adds that and the sum over columns
 * of log((c + v r_alpha)/kappa). The equations are solved for c: with equal columns kappa = c + v.
 */
#pragma once

#include "fit/columns.h"
#include "simd/simd.h"

/* The room of n nodes: the hot loop takes 8 at a time; what is beyond n has weight 0 and lambda 1. */
static inline size_t ks_padded(size_t n) { return (n + 7) / 8 * 8; }

/*
 * A spectrum: node l stands for weight[l] eigenvalues of lambda[l]. Noise of variance `dust`, independent in
 * each entry, is infinitely many infinitely small eigenvalues of that sum. A side that is complete and not
 * sampled is infinite.
 */
typedef struct {
    size_t n;
    /* ks_padded(n) of each */
    const double *lambda, *weight;
    /* how many of the first nodes have weight 1, and the sum of all weights */
    size_t ones;
    double total;
    double dust;
    double P, Q;
    const ks_simd *simd;
    /* how the noise differs between columns; NULL: it does not. Only where Q is finite */
    const ks_columns *columns;
} ks_spectrum;

/*
 * For each of K increasing levels N: log c with Im log t = pi and Im L = -pi N. log_x is the log
 * eigenvalue of the sample that N others exceed, and x_rho = x rho(x), rho their density. log_c holds
 * guesses, which may be NaN, and is overwritten.
 */
void ks_forward(const ks_spectrum *s, size_t K, const double *level, ks_cplx *log_c, double *log_x,
                double *x_rho);

/*
 * d log x_i / d log lambda_l = w_l lambda_l/|lambda_l + kappa_i|^2, rows scaled to sum 1; column n, where
 * there is dust, is d log x_i / d log dust. J: K rows, ld apart.
 */
void ks_elasticity(const ks_spectrum *s, size_t K, const ks_cplx *log_c, double *J, size_t ld);
