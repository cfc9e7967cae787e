/*
 * Finds the most likely spectrum of a family by the Gauss-Newton method, in coordinates in which the prior is
 * white. Laplace's approximation of the evidence tells how well the family explains the data.
 */
#pragma once

#include "fit/family.h"

typedef struct {
    ks_family family;
    /*
     * found is 1 if a mode was found. found is 2 if the mode is also trustworthy: converged, and nowhere far
     * from decreasing.
     */
    int found;
    /*
     * theta and variance contain N numbers of the problem each. theta is KS_NOTHING beyond the end. log_c
     * contains the K solutions of the forward map.
     */
    double *theta, *variance;
    ks_cplx *log_c;
    /*
     * chi2 is the sum of squared residuals in units of their errors. evidence is a logarithm, and log_weight
     * adds the family's prior weight.
     */
    double chi2, evidence, log_weight;
} ks_mode;

/*
 * Contains the scratch of one worker. A spectrum of the current family has N unknowns, which include n nodes.
 */
typedef struct {
    size_t n, N;
    double *weight, total;
    /* prior, hessian and root have N x N numbers, mean has 2N, and jacobian and design have m x N. */
    double *prior, *mean, *jacobian, *design, *hessian, *root, *lambda;
    /*
     * xi, theta, their candidates and step have N numbers. value, z and z_next have m, and log_x and x_rho
     * have K.
     */
    double *xi, *xi_next, *theta, *theta_next, *step, *value, *z, *z_next, *log_x, *x_rho;
    ks_cplx *log_c, *log_c_next;
} ks_mode_work;

/* Allocates `count` modes and the scratch. After a failure, arena->failed is set. */
void ks_mode_alloc(const ks_problem *p, ks_arena *arena, size_t count, ks_mode *m);
void ks_mode_work_alloc(const ks_problem *p, ks_arena *arena, ks_mode_work *w);

/*
 * Finds the mode of m->family, which the caller has set. The search starts from theta, N numbers of the
 * problem, and from the K guesses log_c, which may be NaN.
 */
void ks_mode_find(const ks_problem *p, ks_mode_work *w, const double *theta, const ks_cplx *log_c,
                  ks_mode *m);

/*
 * Returns the spectrum of theta, N numbers of the problem, up to the last node above KS_NOTHING. w owns the
 * arrays of the spectrum.
 */
ks_spectrum ks_mode_spectrum(const ks_problem *p, ks_mode_work *w, const double *theta);

/*
 * Computes w->theta and w->root, which has w->N x w->N numbers. root^T root is the covariance of theta about
 * the mode. Returns 0 on failure.
 */
int ks_mode_root(const ks_problem *p, ks_mode_work *w, const ks_mode *m);
