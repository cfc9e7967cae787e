// Shared declarations of the plugin: an open device, its memory and its failures.
#pragma once

#include "device/plugin.h"

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <stdint.h>

// Matrices that are being copied (blocks.cu), in a separate stream, created at first use
struct blocks {
    cudaStream_t stream;
    // pinned memory, in two halves, and when each is free again
    double *pinned;
    cudaEvent_t half_free[2];
    // the work to wait for before copying more to the device; the end of the copies so far
    cudaEvent_t before, arrived;
};

// Page-locked host memory (lock.cu)
enum { LOCKS = 64 };
struct lock {
    char *from;
    size_t bytes;
};

struct ks_gpu {
    int device, processors;
    // bytes of shared memory that a block may have
    size_t shared;
    cudaStream_t stream;
    cublasHandle_t blas;
    // for tests: the number of allocations before one fails; -1: none does
    long until_failure;
    // multiply-adds queued since the last wait for the stream
    double queued;
    // staging for vectors and partial sums, which grows
    double *staging;
    size_t staging_count;
    blocks copies;
    lock locks[LOCKS];
    int locked;
    // Host memory that the device sees (gpu_share): a flag that stops a long kernel; its progress. And the
    // device's address of it
    volatile int *control, *control_on_device;
    // the context of all of the above, and whether it has been reset: if so, never touch any of it again
    unsigned long long context;
    bool lost;
    char message[256];
};

// A list of parts as an argument of kernels
struct part_list {
    int parts, count;
    unsigned char at[KS_PARTS];
};
static inline part_list parts_of(const ks_parts &p) {
    part_list l = {(int)p.parts, (int)(p.list ? p.count : p.parts), {0}};
    for (int k = 0; k < l.count; k++) l.at[k] = (unsigned char)(p.list ? p.list[k] : (size_t)k);
    return l;
}

// Records the failure of a CUDA call; KS_PLUGIN_OK if it succeeded
ks_plugin_status gpu_check(ks_gpu *gpu, cudaError_t e);

// Makes the device current: call it first in every function of the plugin's table. Fails if another part of
// the program has reset its context.
ks_plugin_status gpu_enter(ks_gpu *gpu);
// Has the context been reset since it was opened? Sets the message; call it in a function that has entered.
bool gpu_lost(ks_gpu *gpu);
// The current context; 0 if the driver does not tell
unsigned long long gpu_context(void);

// Host memory that the device can reach, but that CUDA does not own, so that a reset does not remove it. The
// second function frees it, whether or not the context still exists
ks_plugin_status gpu_share(ks_gpu *gpu, size_t bytes, void **out);
void gpu_unshare(void *p, bool alive);

// The fewest bytes that every kernel finds enough, in one of its sizes: compute capability 8.6
enum { GPU_LEAST_SHARED = 99 * 1024 };

// Allocates at least `count` doubles in gpu->staging; its old contents are lost.
ks_plugin_status gpu_stage(ks_gpu *gpu, size_t count);

// Waits for the queued work, and checks now and then whether the context still exists.
ks_plugin_status gpu_wait(ks_gpu *gpu);
ks_plugin_status gpu_wait_for(ks_gpu *gpu, cudaStream_t stream);

ks_plugin_status gpu_alloc(ks_gpu *gpu, size_t bytes, void **out);
void gpu_release(ks_gpu *gpu, void *p);

// From this many numbers on, a copy uses blocks.cu.
enum { GPU_SMALL = 1 << 20 };
ks_plugin_status gpu_put_block(ks_gpu *gpu, double *to, const double *from, size_t rows, size_t cols,
                               size_t ld);
ks_plugin_status gpu_get_block(ks_gpu *gpu, double *to, size_t ld, const double *from, size_t rows,
                               size_t cols);
// Orders copies and work: later copies wait for the work queued so far; later work waits for the copies so
// far; the third waits for the copies.
ks_plugin_status gpu_blocks_after(ks_gpu *gpu);
ks_plugin_status gpu_blocks_arrive(ks_gpu *gpu);
ks_plugin_status gpu_blocks_wait(ks_gpu *gpu);
void gpu_blocks_close(ks_gpu *gpu, bool alive);

ks_plugin_status gpu_lock(ks_gpu *gpu, void *p, size_t bytes);
void gpu_unlock(ks_gpu *gpu, void *p);
bool gpu_is_locked(const ks_gpu *gpu, const void *p, size_t bytes);

ks_plugin_status gpu_expression(ks_gpu *gpu, const ks_expression *e, ks_tile_result what, double *out);
ks_plugin_status gpu_symmetrise(ks_gpu *gpu, size_t n, double *X);
// X[i,j] = X[j,i] for i < j
ks_plugin_status gpu_mirror(ks_gpu *gpu, size_t n, double *X, size_t ld);

ks_plugin_status gpu_path(ks_gpu *gpu, const ks_path_job *job, const ks_plugin_progress *progress);
ks_plugin_status gpu_gram_times(ks_gpu *gpu, const ks_gram_job *job, const double *x, double *y,
                                const ks_plugin_progress *progress);
ks_plugin_status gpu_batch(ks_gpu *gpu, const ks_batch_job *job);
ks_plugin_status gpu_cosines(ks_gpu *gpu, size_t rows, size_t cols, const double *b, double scale, double *Z);
ks_plugin_status gpu_shift(ks_gpu *gpu, size_t n, double c, double *X);
ks_plugin_status gpu_factor(ks_gpu *gpu, size_t n, double *A, size_t lda);
int gpu_has_eigen(void);
ks_plugin_status gpu_eigen(ks_gpu *gpu, int vectors, size_t n, double *X, double *w);
ks_plugin_status gpu_solve(ks_gpu *gpu, size_t n, const double *U, size_t ldu, size_t m, double *X,
                           size_t ldx);
size_t gpu_path_memory(ks_gpu *gpu, const ks_path_job *job);
size_t gpu_path_parts(ks_gpu *gpu, const ks_path_job *job);
enum { PATH_ORDERS = 16, PATH_LOO_ORDERS = 8 };
