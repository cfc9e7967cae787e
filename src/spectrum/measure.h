/*
 * The measure on [0,b] whose moments are nearest to given ones (Kong and Valiant): p >= 0 on a grid with
 * sum p = 1, minimising sum_n |(W r)_n|, r_n = m(n)/(d b^n) - sum_i p_i s_i^n. This file works in units of b:
 * mu_n = m(n)/(d b^n), and s in [0,1].
 */
#ifndef KS_SPECTRUM_MEASURE_H
#define KS_SPECTRUM_MEASURE_H

#include "kspec/spectrum.h"

typedef struct {
    /* moments, grid points */
    size_t K, T;
    /* the grid, increasing, in [0,1] */
    const double *s;
    /* K x K, lower triangular, row-major: 1 on the diagonal of unit weights */
    const double *W;
} ks_fit;

/* s = T points from 0 to 1: equally spaced, or 0 and then a geometric sequence from `smallest` to 1. */
void ks_grid_uniform(size_t T, double *s);
void ks_grid_geometric(size_t T, double smallest, double *s);

/* p (T) = the nearest measure to mu (K); objective = sum_n |(W r)_n|. */
kspec_status ks_fit_measure(const ks_fit *fit, const double *mu, double *p, double *objective,
                            int *iterations, kspec_error *err);

/* mu[n-1] = sum_i p_i s_i^n */
void ks_measure_moments(const ks_fit *fit, const double *p, double *mu);

/*
 * lambda[0] >= ... >= lambda[d-1] = quantiles of the measure: the least grid points with sum of p up to them
 * >= q, where q for the j-th smallest is j/(d+1), or (j-1/2)/d.
 */
void ks_measure_quantiles(const ks_fit *fit, const double *p, kspec_quantile kind, size_t d, double *lambda);

#endif
