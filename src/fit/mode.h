/*
 * Finds the most likely spectrum of a family by Gauss-Newton, in coordinates in which the prior is white.
 * Laplace's approximation of the evidence tells how well the family explains the data.
 */
#pragma once

#include "fit/family.h"

typedef struct {
    ks_family family;
    /* 1: found; 2: also trustworthy, that is converged and nowhere far from decreasing */
    int found;
    /*
     * theta (KS_NOTHING beyond the end) and the variance of theta, N numbers of the problem each. log_c (K):
     * the forward map's solutions.
     */
    double *theta, *variance;
    ks_cplx *log_c;
    /*
     * the sum of squared residuals in units of their errors, and the log evidence without and with the
     * family's weight
     */
    double chi2, evidence, log_weight;
} ks_mode;

/* Scratch of one worker, with the unknowns of the current family: n nodes and their weights, N in total */
typedef struct {
    size_t n, N;
    double *weight, total;
    /* prior, hessian and root: N x N. mean: 2N. jacobian and design: m x N. */
    double *prior, *mean, *jacobian, *design, *hessian, *root, *lambda;
    /* xi, theta, their candidates and step: N. value, z and z_next: m. log_x and x_rho: K. */
    double *xi, *xi_next, *theta, *theta_next, *step, *value, *z, *z_next, *log_x, *x_rho;
    ks_cplx *log_c, *log_c_next;
} ks_mode_work;

/* Allocates `count` modes and the scratch; the arena records failure. */
void ks_mode_alloc(const ks_problem *p, ks_arena *arena, size_t count, ks_mode *m);
void ks_mode_work_alloc(const ks_problem *p, ks_arena *arena, ks_mode_work *w);

/* Starts from theta (N of the problem) and log_c (K, NaN: no guess); the caller has set m->family. */
void ks_mode_find(const ks_problem *p, ks_mode_work *w, const double *theta, const ks_cplx *log_c,
                  ks_mode *m);

/*
 * Returns the spectrum of theta (N of the problem) up to the last node above KS_NOTHING. w owns the arrays of
 * the spectrum.
 */
ks_spectrum ks_mode_spectrum(const ks_problem *p, ks_mode_work *w, const double *theta);

/*
 * Computes w->theta and w->root (w->N x w->N). root^T root is the covariance of theta about the mode. Returns
 * 0 on failure.
 */
int ks_mode_root(const ks_problem *p, ks_mode_work *w, const ks_mode *m);
