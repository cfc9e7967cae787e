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

/*
 * Replaces x[k] by f(x[k]). The array `phases` holds one phase b for each x; only the activation PHASES
 * uses it.
 */
void ks_activate(const ks_activation *f, double *x, const double *phases, size_t count);

/* Returns the number of columns of S for each frequency w: 2 for FOURIER, else 1. */
static inline size_t ks_activation_width(kspec_ridge_activation kind) {
    return kind == KSPEC_RIDGE_ACTIVATION_FOURIER ? 2 : 1;
}

/*
 * Centres a kernel: Centres a kernel for features minus their means over n training rows: K - mean - mean'
 * + overall mean. The first call passes the kernel K (rows x n) of the training rows, from which it finds
 * the means; own is NULL. Later calls pass the kernel K of other rows with the training rows; own holds
 * the kernel of each of these rows with itself.
 */
double ks_kernel_means(const double *K, size_t n, double *mean);
void ks_kernel_center(double *K, size_t rows, size_t n, const double *mean, double *own, double all);

/*
 * Returns K(x,x') from x.x', |x|^2 and |x'|^2. The kernel of FOURIER is the sum of the kernels of its cosines
 * and sines, and equals the kernel of PHASES.
 */
double ks_activation_kernel(const ks_activation *f, double product, double square, double other);

/*
 * Returns 1 if the kernel depends on x - x' only. For such a kernel, subtracting the mean from the rows
 * reduces rounding errors.
 */
static inline int ks_activation_of_differences(kspec_ridge_activation kind) {
    return kind == KSPEC_RIDGE_ACTIVATION_FOURIER || kind == KSPEC_RIDGE_ACTIVATION_PHASES;
}

/*
 * Computes the kernel of the rows of A (rows x p) with the rows of B (n x p) into K (rows x n). qa and qb
 * hold their squared lengths.
 */
void ks_activation_matrix(const ks_activation *f, const double *A, const double *qa, size_t rows,
                          const double *B, const double *qb, size_t n, size_t p, double *K);
