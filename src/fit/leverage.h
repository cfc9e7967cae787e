/*
 * Corrects for a difference between real features and Gaussian factors: the leverages (squared entries of the
 * singular vectors) of real features differ between rows and between columns.
 */
#pragma once

#include "base/parallel.h"
#include "fit/columns.h"

/*
 * A matrix of P x Q, given by its n singular values > 0. s: their squares over PQ, decreasing. U2 (vectors x
 * P) and V2 (vectors x Q): the squared entries of the first singular vectors, all n of them unless n is
 * large. rows and cols: the sizes that sampling counts, one less than P for centred columns, infinite for a
 * complete side.
 */
typedef struct {
    size_t P, Q, n, vectors;
    const double *s, *U2, *V2;
    double rows, cols;
    /* the noise's variance, and its law if columns are known to differ; NULL: they do not */
    double noise;
    const ks_columns *columns;
} ks_decomposition;

/*
 * The part of each row's leverage beyond the known vectors (m rows, squared vectors X2): `unseen`, on
 * average, in the other n - vectors directions, and `rest` in the directions of eigenvalue zero.
 */
void ks_leverage_left(const ks_decomposition *d, size_t m, const double *X2, double *unseen, double *rest);

/*
 * At a point t off the negative axis: D = sum s/(s + t) and its derivative with respect to log t; the bias of
 * D(kappa) due to uneven leverages, from the resolvent's leave-one-out identities; and the excess of this
 * bias over the bias with Gaussian factors.
 */
typedef struct {
    ks_cplx D, dD, bias, excess;
} ks_bias;

/* Computes `count` points. lambda (n): approximate operator eigenvalues, for the Gaussian bias. */
kspec_status ks_leverage_bias(const ks_run *run, const ks_decomposition *d, const double *lambda,
                              size_t count, const ks_cplx *t, ks_bias *out, kspec_error *err);

/*
 * shift, excess (K): how many more sample eigenvalues exceed s[at[k]] than with Gaussian factors, in total
 * and beyond the effect of finite size. Both integrate the bias along a ray in the complex plane.
 */
kspec_status ks_leverage_shift(const ks_run *run, const ks_decomposition *d, const double *lambda, size_t K,
                               const size_t *at, double *shift, double *excess, kspec_error *err);

/*
 * ratio (K): the variance of log s[at[k]] from the spread of leverages, relative to Gaussian factors. Returns
 * the variance of a factor common to all log s, estimated from the similarity of the leverages of the
 * largest.
 */
double ks_leverage_spread(const ks_decomposition *d, size_t K, const size_t *at, double *ratio);
