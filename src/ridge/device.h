/*
 * Runs the computations of order n^3 of a prediction on a GPU, with its matrices there during one call. The
 * functions mirror resolvent.c and errors.c. Vectors and the n x m matrices of targets return to the host.
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
    double *row;      /* n numbers in host memory */
} ks_ridge_device;

/* Bytes needed on the device */
size_t ks_ridge_device_bytes(const kspec_ridge *r);

/* Copies the matrices to run->device and sets r->on_device. Close it even after a failure. */
kspec_status ks_ridge_device_open(ks_ridge_device *t, kspec_ridge *r, const ks_run *run, kspec_error *err);
void ks_ridge_device_close(kspec_ridge *r, const ks_run *run);

/*
 * Q = A^-1, A = k_cos K_cos + k_sin K_sin + ridge I. *top is the largest entry of A's diagonal, which scales
 * the rounding of the factor. *bad is 0, or the number (from 1) of the row at which A is not positive
 * definite. Without a ridge the kernel alone must be positive definite: a pivot of at most n epsilon top is
 * lost in rounding, and its row depends on other rows.
 */
kspec_status ks_ridge_device_invert(kspec_ridge *r, const ks_run *run, const double k[2], double ridge,
                                    double *top, size_t *bad, kspec_error *err);

/* Computes the sums for the traces; only if `second`, also the sums with M, which overwrites `work`. */
kspec_status ks_ridge_device_sums(kspec_ridge *r, const ks_run *run, int second, double sum[SUMS],
                                  kspec_error *err);

/*
 * Computes V = Q Y, Z_a = K_a V, fit = c H Y, and the traces of Theta_a: cross_a = tr(H^T K_a(Xt,X)),
 * square_a = tr(H^T H K_a); H = sum_a k_a K_a(Xt,X) Q.
 */
kspec_status ks_ridge_device_errors(kspec_ridge *r, const ks_run *run, const double k[2], double c, double *V,
                                    double *const Z[2], double *fit, double cross[2], double square[2],
                                    kspec_error *err);

/*
 * Computes V = A^-1 Y and fit = c (K_cos(Xt,X) + K_sin(Xt,X)) V for A = c (K_cos + K_sin) + lambda I; *bad as
 * above.
 */
kspec_status ks_ridge_device_kernel(kspec_ridge *r, const ks_run *run, double c, double lambda, size_t *bad,
                                    double *V, double *fit, kspec_error *err);
