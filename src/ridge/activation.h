/* Functions f of random features f(w.x), and their kernels K(x,x') = E f(w.x) f(w.x') in closed form. */
#pragma once

#include "kspec/ridge.h"

#include <stddef.h>

typedef struct {
    kspec_ridge_activation kind;
    double slope;
} ks_activation;

/* Returns KSPEC_E_ARG with a message such as "unknown activation 11" unless the kind is known. */
kspec_status ks_activation_check(kspec_ridge_activation kind, kspec_error *err);

/* Replaces x[k] by f(x[k]). Only PHASES uses `phases`, one b for each x. */
void ks_activate(const ks_activation *f, double *x, const double *phases, size_t count);

/* The columns of S for each w: 2 for FOURIER, else 1 */
static inline size_t ks_activation_width(kspec_ridge_activation kind) {
    return kind == KSPEC_RIDGE_ACTIVATION_FOURIER ? 2 : 1;
}

/*
 * Centres a kernel: K - mean - mean' + overall mean, for features minus their means over n training rows. The
 * first call finds the means from K (rows x n) of the training rows; own is NULL. Later calls take K of other
 * rows with the training rows; own holds the kernel of each of these rows with itself.
 */
double ks_kernel_means(const double *K, size_t n, double *mean);
void ks_kernel_center(double *K, size_t rows, size_t n, const double *mean, double *own, double all);

/*
 * Returns K(x,x') from x.x', |x|^2 and |x'|^2. The kernel of FOURIER is the sum of the kernels of its cosines
 * and sines, and equals the kernel of PHASES.
 */
double ks_activation_kernel(const ks_activation *f, double product, double square, double other);

/*
 * Does the kernel depend on x - x' only? If so, subtracting the mean from the rows reduces rounding errors.
 */
static inline int ks_activation_of_differences(kspec_ridge_activation kind) {
    return kind == KSPEC_RIDGE_ACTIVATION_FOURIER || kind == KSPEC_RIDGE_ACTIVATION_PHASES;
}

/* Writes the kernel of rows A (rows x p) with B (n x p), of squared lengths qa and qb, to K (rows x n). */
void ks_activation_matrix(const ks_activation *f, const double *A, const double *qa, size_t rows,
                          const double *B, const double *qb, size_t n, size_t p, double *K);
