/*
 * Corrects for a difference between real features and Gaussian factors. The leverages of real features, which
 * are the squared entries of the singular vectors, differ between rows and between columns.
 */
#pragma once

#include "base/parallel.h"
#include "fit/columns.h"

/*
 * A P x Q matrix, given by its n positive singular values. s contains their squares divided by PQ, in
 * decreasing order. U2 (vectors x P) and V2 (vectors x Q) contain the squared entries of the first singular
 * vectors, or of all n unless n is large. rows and cols are the sizes that sampling counts. Centring the
 * columns reduces rows to P - 1. A complete side has infinite size.
 */
typedef struct {
    size_t P, Q, n, vectors;
    const double *s, *U2, *V2;
    double rows, cols;
    /*
     * The noise's variance, and its law over columns. columns is NULL if the noise does not differ between
     * columns.
     */
    double noise;
    const ks_columns *columns;
} ks_decomposition;

/*
 * Computes the part of each row's leverage beyond the known vectors, for m rows with squared vectors X2.
 * `unseen` receives the expected part in the other n - vectors directions, and `rest` the part in the
 * directions of eigenvalue zero.
 */
void ks_leverage_left(const ks_decomposition *d, size_t m, const double *X2, double *unseen, double *rest);

/*
 * Values at a point t off the negative axis. D is the sum of s/(s + t), and dD is the derivative of D with
 * respect to log t. `bias` is the bias of D(kappa) due to uneven leverages, from the resolvent's
 * leave-one-out identities. excess is this bias minus the bias with Gaussian factors.
 */
typedef struct {
    ks_cplx D, dD, bias, excess;
} ks_bias;

/*
 * Computes the bias at `count` points. lambda contains n approximate eigenvalues of the operator, for the
 * Gaussian bias.
 */
kspec_status ks_leverage_bias(const ks_run *run, const ks_decomposition *d, const double *lambda,
                              size_t count, const ks_cplx *t, ks_bias *out, kspec_error *err);

/*
 * Computes how many more sample eigenvalues exceed s[at[k]] than with Gaussian factors. shift[k] receives the
 * total, and excess[k] the part beyond the effect of finite size. Both lists come from integrals of the bias
 * along a ray in the complex plane.
 */
kspec_status ks_leverage_shift(const ks_run *run, const ks_decomposition *d, const double *lambda, size_t K,
                               const size_t *at, double *shift, double *excess, kspec_error *err);

/*
 * Sets ratio[k] to the variance of log s[at[k]] from the spread of leverages, relative to Gaussian factors.
 * Returns the variance of a term common to all log s. The estimate uses the similarity of the leverages of
 * the largest eigenvalues.
 */
double ks_leverage_spread(const ks_decomposition *d, size_t K, const size_t *at, double *ratio);
