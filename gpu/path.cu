// The host's side of path: memory, packing, and one long kernel that reports its progress and can be stopped.
#include "path.cuh"
#include "path_loo.cuh"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

using path::shape;

static shape shape_of(const ks_gpu *gpu, const ks_path_job *job) {
    return job->B == job->A ? path::shape_one(job->nmax, gpu->shared)
                            : path::shape_two(job->nmax, gpu->shared);
}

// Slabs in a panel: all rows through all lanes, and the prefetched ones
static size_t steps_of(const shape &k, size_t P) {
    const size_t batch = (size_t)k.batch;
    return (P + 31 + 2 * batch) / batch * batch + batch;
}

static size_t groups_of(const shape &k, size_t rows) {
    return (rows + (size_t)k.warps - 1) / (size_t)k.warps;
}

// As many as run at once; at least one
static int blocks_of(ks_gpu *gpu, const shape &k, size_t rows) {
    int each = 1;
    if (gpu_enter(gpu) || k.prepare(k.shared, &each) != cudaSuccess || each < 1) each = 1;
    const size_t groups = groups_of(k, rows), most = (size_t)gpu->processors * (size_t)each;
    return (int)(groups < most ? groups : most);
}

static size_t room_for_R(const shape &k, int blocks, size_t P) {
    return (size_t)blocks * (size_t)k.warps * steps_of(k, P) * k.record * sizeof(double);
}

size_t gpu_path_memory(ks_gpu *gpu, const ks_path_job *job) {
    const size_t trials = job->B == job->A ? 1 : 2;
    if (job->rows) return path_loo_memory(gpu, job);
    const shape k = shape_of(gpu, job);
    const slabs s = slabs_of(job->P, job->Q, k.C, k.narrow, steps_of(k, job->P));
    return trials * s.count() * sizeof(double) + room_for_R(k, blocks_of(gpu, k, job->P), job->P) +
           job->P * k.N * sizeof(double);
}

// Waits for the kernel, reports its progress to the caller (in `groups`, as the share [from, to] of the
// whole), and stops it if the caller cancels.
ks_plugin_status path_watch(ks_gpu *gpu, int groups, double from, double to,
                            const ks_plugin_progress *progress) {
    cudaError_t e = cudaSuccess;
    useconds_t pause = 20;
    int stopped = 0;
    while (!gpu_lost(gpu) && (e = cudaStreamQuery(gpu->stream)) == cudaErrorNotReady) {
        if (!stopped && progress->report(progress->ctx, from + (to - from) * gpu->control[1] / groups)) {
            if (gpu_lost(gpu)) break;
            stopped = gpu->control[0] = 1;
        }
        usleep(pause);
        if (pause < 300) pause *= 2;
    }
    ks_plugin_status st = gpu->lost ? KS_PLUGIN_BROKEN : gpu_check(gpu, e);
    gpu->queued = 0;
    return st ? st : stopped ? KS_PLUGIN_STOPPED : KS_PLUGIN_OK;
}

ks_plugin_status path_begin(ks_gpu *gpu, const ks_path_job *job, slabs s, double **px, double **py,
                            void **held) {
    const size_t bytes = s.count() * sizeof(double);
    ks_plugin_status st = gpu_alloc(gpu, bytes, &held[0]);
    if (!st && job->B != job->A) st = gpu_alloc(gpu, bytes, &held[1]);
    if (st) return st;
    *px = (double *)held[0];
    *py = (double *)(held[1] ? held[1] : held[0]);
    pack_slabs<<<8 * gpu->processors, 256, 0, gpu->stream>>>(job->A, s, job->scale, *px);
    if (held[1]) pack_slabs<<<8 * gpu->processors, 256, 0, gpu->stream>>>(job->B, s, job->scale, *py);
    gpu->control[0] = gpu->control[1] = 0;
    return gpu_check(gpu, cudaGetLastError());
}

ks_plugin_status gpu_path(ks_gpu *gpu, const ks_path_job *job, const ks_plugin_progress *progress) {
    if (job->rows) return path_loo(gpu, job, progress);
    const shape k = shape_of(gpu, job);
    const slabs s = slabs_of(job->P, job->Q, k.C, k.narrow, steps_of(k, job->P));
    const part_list list = parts_of(job->part);
    const int starts = path::starts_of(list, (int)job->P), blocks = blocks_of(gpu, k, (size_t)starts);
    const size_t P = job->P, r_bytes = room_for_R(k, blocks, P), s_bytes = P * k.N * sizeof(double);
    void *held[5] = {0};
    double *px, *py, *sums = (double *)malloc(s_bytes);
    ks_plugin_status st = sums ? path_begin(gpu, job, s, &px, &py, held) : KS_PLUGIN_NOMEM;
    if (!st) st = gpu_alloc(gpu, r_bytes, &held[2]);
    if (!st) st = gpu_alloc(gpu, s_bytes, &held[3]);
    if (!st) st = gpu_alloc(gpu, sizeof(unsigned), &held[4]);
    // entries beyond the last row are read and must be finite; sums of other parts are copied but ignored
    if (!st) st = gpu_check(gpu, cudaMemsetAsync(held[2], 0, r_bytes, gpu->stream));
    if (!st) st = gpu_check(gpu, cudaMemsetAsync(held[3], 0, s_bytes, gpu->stream));
    if (!st) st = gpu_check(gpu, cudaMemsetAsync(held[4], 0, sizeof(unsigned), gpu->stream));
    int each;
    if (!st) st = gpu_check(gpu, k.prepare(k.shared, &each));
    if (!st) {
        k.launch(blocks, k.shared, gpu->stream, px, py, s, list, (double *)held[2], (unsigned *)held[4],
                 gpu->control_on_device, (double *)held[3]);
        st = gpu_check(gpu, cudaGetLastError());
    }
    if (!st) st = path_watch(gpu, (int)groups_of(k, (size_t)starts), 0, 1, progress);
    if (!st)
        st = gpu_check(gpu, cudaMemcpyAsync(sums, held[3], s_bytes, cudaMemcpyDeviceToHost, gpu->stream));
    if (!st) st = gpu_wait(gpu);
    for (int i = 0; i < list.count && !st; i++)
        for (size_t h = list.at[i]; h < P; h += job->part.parts)
            memcpy(job->sums + h * job->nmax, sums + h * k.N, job->nmax * sizeof(double));
    for (int i = 0; i < 5; i++) gpu_release(gpu, held[i]);
    free(sums);
    return st;
}
