/* Functions f of random features f(w.x), and their kernels K(x,x') = E f(w.x) f(w.x') in closed form. */
#pragma once

#include "kspec/ridge.h"

#include <stddef.h>

typedef struct {
    kspec_ridge_activation kind;
    double slope;
} ks_activation;

/* KSPEC_E_ARG, "unknown activation 11", unless it is one. */
kspec_status ks_activation_check(kspec_ridge_activation kind, kspec_error *err);

/* x[k] = f(x[k]); phases, for PHASES alone, has one b for each. */
void ks_activate(const ks_activation *f, double *x, const double *phases, size_t count);

/* Columns of S that each w makes: 2 of FOURIER, else 1 */
static inline size_t ks_activation_width(kspec_ridge_activation kind) {
    return kind == KSPEC_RIDGE_ACTIVATION_FOURIER ? 2 : 1;
}

/*
 * Features less their means over n training rows: K - mean - mean' + all, from the means of K's rows and of
 * all of it, which the first call finds. K (rows x n) is that of training rows with themselves, where own is
 * NULL, or of others with them; own has each of the others' kernel with itself.
 */
double ks_kernel_means(const double *K, size_t n, double *mean);
void ks_kernel_center(double *K, size_t rows, size_t n, const double *mean, double *own, double all);

/* K(x,x') from x.x', |x|^2 and |x'|^2. That of FOURIER is the sum of its two, which is that of PHASES. */
double ks_activation_kernel(const ks_activation *f, double product, double square, double other);

/* Does it depend on x - x' alone? Then rows less their mean lose less to rounding. */
static inline int ks_activation_of_differences(kspec_ridge_activation kind) {
    return kind == KSPEC_RIDGE_ACTIVATION_FOURIER || kind == KSPEC_RIDGE_ACTIVATION_PHASES;
}

/* The kernel of rows A (rows x p) with B (n x p), of squared lengths qa and qb, to K (rows x n) */
void ks_activation_matrix(const ks_activation *f, const double *A, const double *qa, size_t rows,
                          const double *B, const double *qb, size_t n, size_t p, double *K);
