// Checks that the context of an open device still exists. Another part of the program may reset it
// (cudaDeviceReset() by a library of the same process). That ends every handle and buffer in it; passing one
// to CUDA afterwards is undefined, and crashes. The driver tells whether the context is still the one in
// which the device was opened.
#include "gpu.cuh"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct driver {
    int (*state)(int device, unsigned *flags, int *active);
    int (*id)(void *context, unsigned long long *id); // the current context's id if `context` is NULL
};

static const driver *the_driver() {
    static const driver found = [] {
        driver d = {};
        void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
        if (library) *(void **)&d.state = dlsym(library, "cuDevicePrimaryCtxGetState");
        if (library) *(void **)&d.id = dlsym(library, "cuCtxGetId");
        return d;
    }();
    return &found;
}

unsigned long long gpu_context(void) {
    unsigned long long id = 0;
    return the_driver()->id && the_driver()->id(NULL, &id) == 0 ? id : 0;
}

static bool is_active(int device) {
    unsigned flags;
    int active = 1;
    return !the_driver()->state || the_driver()->state(device, &flags, &active) != 0 || active;
}

bool gpu_lost(ks_gpu *gpu) {
    // reset; or reset, and in use again
    if (!gpu->lost && (!is_active(gpu->device) || gpu_context() != gpu->context)) gpu->lost = true;
    if (gpu->lost)
        snprintf(gpu->message, sizeof gpu->message, "another part of this program has reset the GPU");
    return gpu->lost;
}

ks_plugin_status gpu_enter(ks_gpu *gpu) {
    if (!gpu->lost && is_active(gpu->device)) {
        ks_plugin_status st = gpu_check(gpu, cudaSetDevice(gpu->device));
        if (st) return st;
    }
    return gpu_lost(gpu) ? KS_PLUGIN_BROKEN : KS_PLUGIN_OK;
}

ks_plugin_status gpu_wait_for(ks_gpu *gpu, cudaStream_t stream) {
    cudaError_t e = cudaSuccess;
    useconds_t pause = 0;
    for (int k = 0; !gpu_lost(gpu) && (e = cudaStreamQuery(stream)) == cudaErrorNotReady; k++) {
        if (k < 200) continue; // do not sleep over short waits
        usleep(pause);
        if (pause < 300) pause += 10;
    }
    return gpu->lost ? KS_PLUGIN_BROKEN : gpu_check(gpu, e);
}

ks_plugin_status gpu_wait(ks_gpu *gpu) {
    gpu->queued = 0;
    return gpu_wait_for(gpu, gpu->stream);
}

ks_plugin_status gpu_share(ks_gpu *gpu, size_t bytes, void **out) {
    void *p = NULL;
    *out = NULL;
    if (posix_memalign(&p, 4096, bytes) != 0) {
        snprintf(gpu->message, sizeof gpu->message, "out of memory");
        return KS_PLUGIN_NOMEM;
    }
    ks_plugin_status st = gpu_check(gpu, cudaHostRegister(p, bytes, cudaHostRegisterMapped));
    if (st)
        free(p);
    else
        *out = p;
    return st;
}

void gpu_unshare(void *p, bool alive) {
    if (p && alive) cudaHostUnregister(p);
    free(p);
}
