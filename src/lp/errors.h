/*
 * The errors of the moments, in the units of the fit (mu_n = m(n)/(d b^n)). They weight the residuals, and
 * the draws come from their distribution.
 */
#pragma once

#include "base/memory.h"
#include "kspec/spectrum.h"

typedef struct {
    size_t K;
    /* standard errors */
    double *se;
    /* K x K, lower triangular: L L^T = their correlation with a slightly larger diagonal */
    double *L;
} ks_errors;

/*
 * Computes the errors from the standard errors of m(1) ... m(K), or NULL, and from their correlation (NULL:
 * independent). e->se is NULL if the errors are unknown: some error is not finite, or is below rounding
 * (1e-12 of the moment). KSPEC_E_DATA if the correlation is not positive definite.
 */
kspec_status ks_errors_init(ks_errors *e, size_t K, const double *m, const double *std_error,
                            const double *correlation, double d, double b, ks_arena *arena, kspec_error *err);

/* W (K x K) for the weights; stderr and covariance need the errors. */
void ks_errors_weights(const ks_errors *e, size_t K, kspec_weights weights, double *W);

/* Writes draw number k of a seed: mu plus random errors. z is scratch of K numbers. */
void ks_errors_draw(const ks_errors *e, const double *mu, uint64_t seed, uint64_t k, double *z,
                    double *drawn);

/* Returns x / (d b^n), computed step by step, because b^n may exceed the range of a double. */
double ks_to_units(double x, double d, double b, size_t n);
double ks_from_units(double mu, double d, double b, size_t n);
