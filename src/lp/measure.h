/*
 * Finds the measure on [0,b] whose moments are nearest to given ones (Kong and Valiant): p >= 0 on a grid,
 * minimising sum_n |(W r)_n|. This file uses units of b: mu_n = m(n)/(d b^n), and s in [0,1].
 *
 * For d eigenvalues, p is their distribution: sum p = 1, and r_n = mu_n - sum_i p_i s_i^n.
 *
 * With free mass their number is unknown, and d is any unit. p is nu = s times the measure that counts
 * eigenvalues, on (0,1], without a constraint: r_n = mu_n - sum_i p_i s_i^(n-1), and d p_i/s_i eigenvalues
 * lie at s_i. Among the nearest measures, the code takes the one with the fewest eigenvalues.
 */
#pragma once

#include "kspec/spectrum.h"

typedef struct {
    /* moments, grid points */
    size_t K, T;
    /* the grid, increasing, in [0,1] */
    const double *s;
    /* K x K, lower triangular, row-major: 1 on the diagonal of unit weights */
    const double *W;
    /* 1: the mass is free, and s > 0 */
    int free_mass;
} ks_fit;

/* s = T points from 0 to 1: equally spaced, or 0 and then a geometric sequence from `smallest` to 1. */
void ks_grid_uniform(size_t T, double *s);
void ks_grid_geometric(size_t T, double smallest, double *s);

/* p (T) = the nearest measure to mu (K); objective = sum_n |(W r)_n|. */
kspec_status ks_fit_measure(const ks_fit *fit, const double *mu, double *p, double *objective,
                            int *iterations, kspec_error *err);

/* mu[n-1] = sum_i p_i s_i^n; with free mass, sum_i p_i s_i^(n-1) */
void ks_measure_moments(const ks_fit *fit, const double *p, double *mu);

/*
 * lambda[0] >= ... >= lambda[d-1] = quantiles of the measure: each is the least grid point with cumulative p
 * >= q, where q for the j-th smallest is j/(d+1), or (j-1/2)/d.
 */
void ks_measure_quantiles(const ks_fit *fit, const double *p, kspec_quantile kind, size_t d, double *lambda);

/*
 * With free mass: lambda[k-1] = the grid point at which the number of eigenvalues from above, the sum of d
 * p_i/s_i, passes k - 1/2; 0 if it never does. Returns the total number.
 */
double ks_measure_counts(const ks_fit *fit, const double *p, double d, size_t count, double *lambda);
