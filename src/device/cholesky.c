/* Factors and inverts positive definite matrices on a device by recursive halving. */
#include "device/cholesky.h"

#include "base/error.h"
#include "device/device.h"
#include "device/gpu.h"

static kspec_status status(const ks_run *run, ks_plugin_status st, kspec_error *err) {
    return ks_device_status(run->device, st, "a Cholesky factor", err);
}

kspec_status ks_device_shift(const ks_run *run, size_t n, double c, ks_mat *X, kspec_error *err) {
    const ks_device *d = run->device;
    return status(run, d->plugin->shift(d->gpu, n, c, ks_mat_address(X)), err);
}

/* Returns the size of the first of two halves, a multiple of the block size. */
static size_t half(size_t n) { return (n / KS_TRIANGLE + 1) / 2 * KS_TRIANGLE; }

/* Sets C to beta C + alpha A^T B, where C is m x n, A is k x m and B is k x n. All rows are ld apart. */
static kspec_status add_product(const ks_run *run, size_t ld, size_t m, size_t n, size_t k, double alpha,
                                const double *A, const double *B, double beta, double *C, kspec_error *err) {
    const ks_matmul p = {1, 0, m, n, k, alpha, A, ld, B, ld, beta, C, ld, A == B && m == n};
    return ks_gpu_product(run, &p, err);
}

/*
 * Replaces the n x m matrix X by U^-T X. The halves are X_1 = U_11^-T X_1 and X_2 = U_22^-T (X_2 - U_12^T
 * X_1).
 */
static kspec_status solve(const ks_run *run, size_t ld, size_t n, const double *U, size_t m, double *X,
                          kspec_error *err) {
    const ks_device *d = run->device;
    if (n <= KS_TRIANGLE) return status(run, d->plugin->solve(d->gpu, n, U, ld, m, X, ld), err);
    const size_t h = half(n);
    kspec_status st = solve(run, ld, h, U, m, X, err);
    if (!st) st = add_product(run, ld, n - h, m, h, -1, U + h, X, 1, X + h * ld, err);
    return st ? st : solve(run, ld, n - h, U + h * ld + h, m, X + h * ld, err);
}

/*
 * Factors A by halves. U_11 is the factor of A_11, U_12 is U_11^-T A_12, and U_22 is the factor of A_22 -
 * U_12^T U_12.
 */
static kspec_status factor(const ks_run *run, size_t ld, size_t n, double *A, kspec_error *err) {
    const ks_device *d = run->device;
    if (n <= KS_TRIANGLE) return status(run, d->plugin->factor(d->gpu, n, A, ld), err);
    const size_t h = half(n);
    double *right = A + h, *last = A + h * ld + h;
    kspec_status st = factor(run, ld, h, A, err);
    if (!st) st = solve(run, ld, h, A, n - h, right, err);
    if (!st) st = add_product(run, ld, n - h, n - h, h, -1, right, right, 1, last, err);
    return st ? st : factor(run, ld, n - h, last, err);
}

/* Replaces W, initially the identity, by U^-T. The lower block is W_21 = -U_22^-T U_12^T W_11. */
static kspec_status invert(const ks_run *run, size_t ld, size_t n, const double *U, double *W,
                           kspec_error *err) {
    if (n <= KS_TRIANGLE) return solve(run, ld, n, U, n, W, err);
    const size_t h = half(n);
    kspec_status st = invert(run, ld, h, U, W, err);
    if (!st) st = add_product(run, ld, n - h, h, h, -1, U + h, W, 0, W + h * ld, err);
    if (!st) st = solve(run, ld, n - h, U + h * ld + h, h, W + h * ld, err);
    return st ? st : invert(run, ld, n - h, U + h * ld + h, W + h * ld + h, err);
}

kspec_status ks_device_factor(const ks_run *run, size_t n, ks_mat *A, double *diagonal, kspec_error *err) {
    kspec_status st = factor(run, n, n, ks_mat_address(A), err);
    return st ? st : ks_gpu_backend.diagonal(run, diagonal, A, n, err);
}

kspec_status ks_device_triangle(const ks_run *run, size_t n, const ks_mat *U, ks_mat *W, kspec_error *err) {
    const ks_expression zero = {.m = n, .n = n};
    kspec_status st = ks_gpu_expression(run, &zero, KS_TILE_STORE, ks_mat_address(W), err);
    if (!st) st = ks_device_shift(run, n, 1, W, err);
    return st ? st : invert(run, n, n, ks_mat_address(U), ks_mat_address(W), err);
}
