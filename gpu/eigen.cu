// Symmetric eigenproblems by cuSOLVER, which is opened at first use: all else works without it.
#include "gpu.cuh"

#include <cusolverDn.h>
#include <dlfcn.h>
#include <mutex>
#include <stdio.h>
#include <stdlib.h>

#define TEXT_OF(x) #x
#define TEXT(x)    TEXT_OF(x)

static struct {
    decltype(&cusolverDnCreate) create;
    decltype(&cusolverDnDestroy) destroy;
    decltype(&cusolverDnSetStream) set_stream;
    decltype(&cusolverDnXsyevd_bufferSize) size;
    decltype(&cusolverDnXsyevd) solve;
} solver;
static bool found;

static void find() {
    void *library = dlopen("libcusolver.so." TEXT(CUSOLVER_VER_MAJOR), RTLD_NOW | RTLD_LOCAL);
    if (!library) return;
    solver.create = (decltype(solver.create))dlsym(library, "cusolverDnCreate");
    solver.destroy = (decltype(solver.destroy))dlsym(library, "cusolverDnDestroy");
    solver.set_stream = (decltype(solver.set_stream))dlsym(library, "cusolverDnSetStream");
    solver.size = (decltype(solver.size))dlsym(library, "cusolverDnXsyevd_bufferSize");
    solver.solve = (decltype(solver.solve))dlsym(library, "cusolverDnXsyevd");
    found = solver.create && solver.destroy && solver.set_stream && solver.size && solver.solve;
}

int gpu_has_eigen(void) {
    static std::once_flag once;
    std::call_once(once, find);
    return found;
}

static ks_plugin_status check(ks_gpu *gpu, cusolverStatus_t e) {
    if (e == CUSOLVER_STATUS_SUCCESS) return KS_PLUGIN_OK;
    snprintf(gpu->message, sizeof gpu->message, "cuSOLVER: error %d", (int)e);
    return e == CUSOLVER_STATUS_ALLOC_FAILED ? KS_PLUGIN_NOMEM : KS_PLUGIN_BROKEN;
}

// the row-major matrix is symmetric, and cuSOLVER's columns of vectors are our rows
static ks_plugin_status solve(ks_gpu *gpu, cusolverDnHandle_t handle, int vectors, size_t n, double *X,
                              double *w) {
    const cusolverEigMode_t mode = vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
    size_t there = 0, here = 0;
    void *room = NULL, *scratch = NULL;
    int failed = 0;
    ks_plugin_status st = check(gpu, solver.set_stream(handle, gpu->stream));
    if (!st)
        st = check(gpu, solver.size(handle, NULL, mode, CUBLAS_FILL_MODE_UPPER, (int64_t)n, CUDA_R_64F, X,
                                    (int64_t)n, CUDA_R_64F, w, CUDA_R_64F, &there, &here));
    // the values and the result's code come first
    const size_t head = ((n + 1) * sizeof(double) + 255) / 256 * 256; /* The workspace begins aligned. */
    if (!st) st = gpu_alloc(gpu, head + there, &room);
    if (!st && here && !(scratch = malloc(here))) {
        snprintf(gpu->message, sizeof gpu->message, "out of memory");
        st = KS_PLUGIN_NOMEM;
    }
    double *values = (double *)room;
    int *info = (int *)(values + n);
    if (!st)
        st = check(gpu, solver.solve(handle, NULL, mode, CUBLAS_FILL_MODE_UPPER, (int64_t)n, CUDA_R_64F, X,
                                     (int64_t)n, CUDA_R_64F, values, CUDA_R_64F, (char *)room + head, there,
                                     scratch, here, info));
    if (!st)
        st = gpu_check(gpu, cudaMemcpyAsync(w, values, n * sizeof *w, cudaMemcpyDeviceToHost, gpu->stream));
    if (!st)
        st = gpu_check(gpu,
                       cudaMemcpyAsync(&failed, info, sizeof failed, cudaMemcpyDeviceToHost, gpu->stream));
    if (!st) st = gpu_wait(gpu);
    if (!st && failed) {
        snprintf(gpu->message, sizeof gpu->message, "cuSOLVER: the eigenvalue iteration did not converge");
        st = KS_PLUGIN_BROKEN;
    }
    gpu_release(gpu, room);
    free(scratch);
    return st;
}

ks_plugin_status gpu_eigen(ks_gpu *gpu, int vectors, size_t n, double *X, double *w) {
    cusolverDnHandle_t handle = NULL;
    ks_plugin_status st = gpu_enter(gpu);
    if (!st) st = gpu_blocks_arrive(gpu);
    if (!st) st = check(gpu, solver.create(&handle));
    if (!st) st = solve(gpu, handle, vectors, n, X, w);
    if (handle) solver.destroy(handle);
    return st;
}
