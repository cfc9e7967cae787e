/*
 * What an estimator does with matrices, wherever they are: a table of functions, one for the processor
 * (cpu.c), one for a GPU (gpu.c), one for a GPU that they do not fit together (resident.c) and one for a team
 * of processes that hold strips of each matrix (ranks.c).
 * An estimator says what to compute and follows no pointer to a matrix; vectors are in the host's memory
 * throughout.
 */
#ifndef KS_DEVICE_BACKEND_H
#define KS_DEVICE_BACKEND_H

#include "base/parallel.h"
#include "device/plugin.h"

typedef struct {
    /* memory for a matrix; what it is for is named in the failure */
    kspec_status (*hold)(const ks_run *run, size_t rows, size_t cols, const char *what, double **out,
                         kspec_error *err);
    void (*drop)(const ks_run *run, double *p);
    /* what is in it is not read again before it is written; NULL: that is of no use here */
    void (*idle)(const ks_run *run, double *p);
    /* the host's matrix as one of this backend: itself, or a copy; and its end. What the device has already
       (ks_device_has()) stays as it is. */
    kspec_status (*bring)(const ks_run *run, const double *host, size_t rows, size_t cols, const char *what,
                          const double **out, kspec_error *err);
    void (*leave)(const ks_run *run, const double *p);
    /* the diagonal of an n x n matrix as a vector */
    kspec_status (*diagonal)(const ks_run *run, double *to, const double *from, size_t n, kspec_error *err);
    /* part of a matrix, from the host's memory; NULL where matrices are in strips */
    kspec_status (*put)(const ks_run *run, double *to, const double *from, size_t count, kspec_error *err);
    /* to[i] = from[i*step]: part of a matrix as a vector; NULL where matrices are in strips */
    kspec_status (*get)(const ks_run *run, double *to, const double *from, size_t count, size_t step,
                        kspec_error *err);
    kspec_status (*product)(const ks_run *run, const ks_matmul *p, kspec_error *err);
    kspec_status (*expression)(const ks_run *run, const ks_expression *e, ks_tile_result what, double *out,
                               kspec_error *err);
    kspec_status (*symmetrise)(const ks_run *run, size_t n, double *X, kspec_error *err);
    /* X[i,j] = 1 where i < j, else 0 */
    kspec_status (*triangle)(const ks_run *run, size_t n, double *X, kspec_error *err);
} ks_backend;

extern const ks_backend ks_cpu_backend;
extern const ks_backend ks_gpu_backend;
extern const ks_backend ks_ranks_backend;

/* That of run->device, or the processor's */
const ks_backend *ks_backend_of(const ks_run *run);

/* The same for a computation whose matrices may be too large for the device (device/resident.h) */
const ks_backend *ks_backend_alone(const ks_run *run);

/* The same, or a team's, which shares matrices out where products of P x Q data take longer than messages */
const ks_backend *ks_backend_for(const ks_run *run, size_t P, size_t Q);

/* For tests: a team shares matrices out where P Q max(P,Q) is at least this (1e8). */
extern double ks_ranks_least;

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
kspec_status ks_device_cosines(const ks_run *run, size_t rows, size_t cols, const double *b, double scale,
                               double *Z, kspec_error *err);

#endif
