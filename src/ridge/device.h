/*
 * Runs the computations of order n^3 of a prediction on a GPU, which keeps the matrices for one call. The
 * functions compute the same as the functions in resolvent.c and errors.c. Only vectors and the n x m
 * matrices of targets return to the host.
 */
#pragma once

#include "device/backend.h"
#include "ridge/resolvent.h"

typedef struct ks_ridge_device {
    const ks_mat *K[2], *Kt[2], *Y;
    ks_mat *Q, *work; /* n x n */
    ks_mat *phi, *H;  /* nt x n */
    ks_mat *V, *Z;    /* n x m */
    ks_mat *fit;      /* nt x m */
    double *row;      /* a buffer of n numbers in host memory */
} ks_ridge_device;

/* Returns the number of bytes that a call needs on the device. */
size_t ks_ridge_device_bytes(const kspec_ridge *r);

/*
 * Copies the matrices to run->device, and points r->on_device to the copies. The caller must close the
 * device copies even after a failure.
 */
kspec_status ks_ridge_device_open(ks_ridge_device *t, kspec_ridge *r, const ks_run *run, kspec_error *err);
void ks_ridge_device_close(kspec_ridge *r, const ks_run *run);

/*
 * Computes the inverse Q of A = k_cos K_cos + k_sin K_sin + ridge I. It sets top to the largest entry of
 * A's diagonal, which scales the rounding errors of the factor. It sets bad to 0, or to the number (from
 * 1) of the first row at which A is not positive definite. Without a ridge, the kernel alone must be
 * positive definite. A pivot of at most n epsilon top is lost in rounding, so its row counts as dependent
 * on other rows.
 */
kspec_status ks_ridge_device_invert(kspec_ridge *r, const ks_run *run, const double k[2], double ridge,
                                    double *top, size_t *bad, kspec_error *err);

/*
 * Computes the sums for the traces. With `second`, it also computes the sums with M, which overwrites
 * `work`.
 */
kspec_status ks_ridge_device_sums(kspec_ridge *r, const ks_run *run, int second, double sum[SUMS],
                                  kspec_error *err);

/*
 * Computes V = Q Y, Z_a = K_a V and fit = c H Y, where H = sum_a k_a K_a(Xt,X) Q. It also computes the
 * traces of Theta_a: cross_a = tr(H^T K_a(Xt,X)) and square_a = tr(H^T H K_a).
 */
kspec_status ks_ridge_device_errors(kspec_ridge *r, const ks_run *run, const double k[2], double c, double *V,
                                    double *const Z[2], double *fit, double cross[2], double square[2],
                                    kspec_error *err);

/*
 * Computes V = A^-1 Y and fit = c (K_cos(Xt,X) + K_sin(Xt,X)) V, where A = c (K_cos + K_sin) + lambda I.
 * It sets *bad as ks_ridge_device_invert() does.
 */
kspec_status ks_ridge_device_kernel(kspec_ridge *r, const ks_run *run, double c, double lambda, size_t *bad,
                                    double *V, double *fit, kspec_error *err);
