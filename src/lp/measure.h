/*
 * Finds the measure on [0,b] whose moments are nearest to given moments (Kong and Valiant): p >= 0 on a grid,
 * minimising sum_n |(W r)_n|. This file uses units of b: mu_n = m(n)/(d b^n), and s in [0,1].
 *
 * For d eigenvalues, p is their distribution: sum p = 1, and r_n = mu_n - sum_i p_i s_i^n.
 *
 * With free mass the number of eigenvalues is unknown, and d is any unit. p is nu = s times the measure that
 * counts eigenvalues, on (0,1], without a constraint: r_n = mu_n - sum_i p_i s_i^(n-1), and d p_i/s_i
 * eigenvalues lie at s_i. Among the nearest measures, the code takes the one with the fewest eigenvalues.
 */
#pragma once

#include "kspec/spectrum.h"

typedef struct {
    /* moments, grid points */
    size_t K, T;
    /* the grid: increasing points in [0,1] */
    const double *s;
    /* K x K, lower triangular, row-major: 1 on the diagonal of unit weights */
    const double *W;
    /* 1: the mass is free, and s > 0 */
    int free_mass;
} ks_fit;

/*
 * Writes T points from 0 to 1 to s: equally spaced, or 0 followed by a geometric sequence from `smallest` to
 * 1.
 */
void ks_grid_uniform(size_t T, double *s);
void ks_grid_geometric(size_t T, double smallest, double *s);

/* Writes the measure p (T numbers) that is nearest to mu (K numbers). objective is sum_n |(W r)_n|. */
kspec_status ks_fit_measure(const ks_fit *fit, const double *mu, double *p, double *objective,
                            int *iterations, kspec_error *err);

/* Sets mu[n-1] to sum_i p_i s_i^n, or with free mass to sum_i p_i s_i^(n-1) */
void ks_measure_moments(const ks_fit *fit, const double *p, double *mu);

/*
 * Writes quantiles of the measure, lambda[0] >= ... >= lambda[d-1]. Each is the smallest grid point whose
 * cumulative p reaches q. For the j-th smallest, q is j/(d+1) or (j-1/2)/d.
 */
void ks_measure_quantiles(const ks_fit *fit, const double *p, kspec_quantile kind, size_t d, double *lambda);

/*
 * With free mass. Counts eigenvalues from above, as the sum of d p_i/s_i, and sets lambda[k-1] to the grid
 * point at which the count passes k - 1/2 (0: never). Returns the total count.
 */
double ks_measure_counts(const ks_fit *fit, const double *p, double d, size_t count, double *lambda);
