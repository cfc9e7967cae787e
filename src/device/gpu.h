/*
 * What run->device, a GPU, has beyond a backend's operations (device/backend.h), and those operations with
 * addresses in its memory.
 */
#pragma once

#include "device/backend.h"

kspec_status ks_gpu_hold(const ks_run *run, size_t count, const char *what, double **out, kspec_error *err);
void ks_gpu_drop(const ks_run *run, double *p);
kspec_status ks_gpu_product(const ks_run *run, const ks_matmul *p, kspec_error *err);
kspec_status ks_gpu_expression(const ks_run *run, const ks_expression *e, ks_tile_result what, double *out,
                               kspec_error *err);

/* Does run->device have path up to this order, with error bars where `loo`? 0 where there is no device. */
int ks_device_has_path(const ks_run *run, int nmax, int loo);

/*
 * The recursion of path on run->device, which must have it; A and B of the job are the host's. A team
 * shares its parts out, of which there are so many.
 */
size_t ks_device_path_parts(const ks_run *run, const ks_path_job *job);
kspec_status ks_device_path(const ks_run *run, const ks_path_job *job, kspec_error *err);

/* y = K x on run->device, where X of the job is; a team shares it out */
kspec_status ks_device_gram_times(const ks_run *run, const ks_gram_job *job, const double *x, double *y,
                                  kspec_error *err);

/* Z[i,j] = scale cos(2 pi (Z[i,j] + b[j])) on run->device, where Z (rows x cols) and b are */
kspec_status ks_device_cosines(const ks_run *run, size_t rows, size_t cols, const ks_mat *b, double scale,
                               ks_mat *Z, kspec_error *err);
