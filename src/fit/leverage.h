/*
 * Corrects for a difference between real features and Gaussian factors: the leverages (squared entries of the
 * singular vectors) of real features differ between rows and between columns.
 */
#pragma once

#include "base/parallel.h"
#include "fit/columns.h"

/*
 * A matrix of P x Q, given by its n singular values > 0. s: the squared singular values over PQ, decreasing.
 * U2 (vectors x P) and V2 (vectors x Q): the squared entries of the first singular vectors, all n unless n is
 * large. rows and cols: the sizes that sampling counts. Centring the columns reduces rows to P - 1. A
 * complete side has infinite size.
 */
typedef struct {
    size_t P, Q, n, vectors;
    const double *s, *U2, *V2;
    double rows, cols;
    /* the noise's variance, and its law over columns (NULL: the noise does not differ between columns) */
    double noise;
    const ks_columns *columns;
} ks_decomposition;

/*
 * Computes the part of each row's leverage beyond the known vectors (m rows, squared vectors X2). `unseen` is
 * the expected part in the other n - vectors directions. `rest` is the part in the directions of eigenvalue
 * zero.
 */
void ks_leverage_left(const ks_decomposition *d, size_t m, const double *X2, double *unseen, double *rest);

/*
 * Values at a point t off the negative axis. D = sum s/(s + t), and dD is the derivative of D with respect to
 * log t. bias: the bias of D(kappa) due to uneven leverages, from the resolvent's leave-one-out identities.
 * excess: this bias minus the bias with Gaussian factors.
 */
typedef struct {
    ks_cplx D, dD, bias, excess;
} ks_bias;

/* Computes `count` points. lambda (n): approximate operator eigenvalues, for the Gaussian bias. */
kspec_status ks_leverage_bias(const ks_run *run, const ks_decomposition *d, const double *lambda,
                              size_t count, const ks_cplx *t, ks_bias *out, kspec_error *err);

/*
 * Computes how many more sample eigenvalues exceed s[at[k]] than with Gaussian factors. shift (K) is the
 * total, excess (K) the part beyond the effect of finite size. Both integrate the bias along a ray in the
 * complex plane.
 */
kspec_status ks_leverage_shift(const ks_run *run, const ks_decomposition *d, const double *lambda, size_t K,
                               const size_t *at, double *shift, double *excess, kspec_error *err);

/*
 * Sets ratio (K) to the variance of log s[at[k]] from the spread of leverages, relative to Gaussian factors.
 * Returns the variance of a term common to all log s. The estimate uses the similarity of the leverages of
 * the largest eigenvalues.
 */
double ks_leverage_spread(const ks_decomposition *d, size_t K, const size_t *at, double *ratio);
