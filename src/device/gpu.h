/*
 * Operations that only a GPU has, in addition to a backend's operations (device/backend.h). All matrix
 * arguments are addresses in the memory of run->device.
 */
#pragma once

#include "device/backend.h"

kspec_status ks_gpu_hold(const ks_run *run, size_t count, const char *what, double **out, kspec_error *err);
void ks_gpu_drop(const ks_run *run, double *p);
kspec_status ks_gpu_product(const ks_run *run, const ks_matmul *p, kspec_error *err);
kspec_status ks_gpu_expression(const ks_run *run, const ks_expression *e, ks_tile_result what, double *out,
                               kspec_error *err);

/*
 * Can run->device run the path estimator up to this order? If loo is 1, the question includes error bars.
 * Returns 0 without a device.
 */
int ks_device_has_path(const ks_run *run, int nmax, int loo);

/*
 * Run the recursion of the path estimator on run->device, which must support the order. A and B of the job
 * are in host memory. The ranks of a team divide the parts of the job, and ks_device_path_parts() returns
 * their number.
 */
size_t ks_device_path_parts(const ks_run *run, const ks_path_job *job);
kspec_status ks_device_path(const ks_run *run, const ks_path_job *job, kspec_error *err);

/* Computes y = K x on run->device, which stores X of the job. The ranks of a team divide the work. */
kspec_status ks_device_gram_times(const ks_run *run, const ks_gram_job *job, const double *x, double *y,
                                  kspec_error *err);

/*
 * Sets Z[i,j] to scale cos(2 pi (Z[i,j] + b[j])) on run->device, which stores b and the matrix Z of rows x
 * cols.
 */
kspec_status ks_device_cosines(const ks_run *run, size_t rows, size_t cols, const ks_mat *b, double scale,
                               ks_mat *Z, kspec_error *err);
