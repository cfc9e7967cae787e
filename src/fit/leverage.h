/*
 * What real features have beyond Gaussian factors: leverages (squared entries of the singular vectors) that
 * differ between rows and between columns.
 */
#pragma once

#include "base/parallel.h"
#include "fit/columns.h"

/*
 * A matrix of P x Q by its n singular values > 0: s their squares over PQ, decreasing; U2 (vectors x P) and
 * V2 (vectors x Q) the squares of the entries of the first singular vectors, all n of them unless n is large.
 * rows and cols are the sizes that sampling knows: one less than P for centred columns, infinite for a side
 * that is complete.
 */
typedef struct {
    size_t P, Q, n, vectors;
    const double *s, *U2, *V2;
    double rows, cols;
    /* the noise's variance, and its law where columns are known to differ; NULL: they do not */
    double noise;
    const ks_columns *columns;
} ks_decomposition;

/*
 * What the known vectors leave of each row's leverage (m rows, squared vectors X2): `unseen`, on average, in
 * the other n - vectors directions, and `rest` in those of eigenvalue zero.
 */
void ks_leverage_left(const ks_decomposition *d, size_t m, const double *X2, double *unseen, double *rest);

/*
 * At a point t off the negative axis: D = sum s/(s + t) and its derivative by log t; the bias of D(kappa) by
 * uneven leverages, from the resolvent's leave-one-out identities; and the part of it that Gaussian factors
 * would not have.
 */
typedef struct {
    ks_cplx D, dD, bias, excess;
} ks_bias;

/* For `count` points; lambda (n): about the operator's eigenvalues, for what Gaussian factors have. */
kspec_status ks_leverage_bias(const ks_run *run, const ks_decomposition *d, const double *lambda,
                              size_t count, const ks_cplx *t, ks_bias *out, kspec_error *err);

/*
 * shift, excess (K): how many more sample eigenvalues exceed s[at[k]] than Gaussian factors' would, in all
 * and beyond what finite size explains: the integral of the bias along a ray in the complex plane.
 */
kspec_status ks_leverage_shift(const ks_run *run, const ks_decomposition *d, const double *lambda, size_t K,
                               const size_t *at, double *shift, double *excess, kspec_error *err);

/*
 * ratio (K): the variance of log s[at[k]] by the spread of leverages, over that of Gaussian factors.
 * Returns the variance of a factor that all log s have in common, by how alike the leverages of the largest
 * are.
 */
double ks_leverage_spread(const ks_decomposition *d, size_t K, const size_t *at, double *ratio);
