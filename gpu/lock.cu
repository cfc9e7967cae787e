// Page-locks matrices in host memory, so that the device copies them directly. The library allocates them and
// this file registers them, instead of allocating them with CUDA. A reset of the context frees memory that
// CUDA allocated, even while the library computes with it; registered memory only becomes ordinary memory
// again.
#include "gpu.cuh"

#include <stdio.h>

ks_plugin_status gpu_lock(ks_gpu *gpu, void *p, size_t bytes) {
    ks_plugin_status st = gpu_enter(gpu);
    if (!st && gpu->locked == LOCKS) {
        snprintf(gpu->message, sizeof gpu->message, "more than %d matrices to lock", LOCKS);
        st = KS_PLUGIN_NOMEM;
    }
    if (!st) st = gpu_check(gpu, cudaHostRegister(p, bytes, cudaHostRegisterDefault));
    if (!st) gpu->locks[gpu->locked++] = {(char *)p, bytes};
    return st;
}

void gpu_unlock(ks_gpu *gpu, void *p) {
    int k = 0;
    while (k < gpu->locked && gpu->locks[k].from != p) k++;
    if (k == gpu->locked) return;
    gpu->locks[k] = gpu->locks[--gpu->locked];
    // a call that failed may have left unfinished copies; a context that was reset has no locks any more
    if (gpu_enter(gpu) || gpu_blocks_wait(gpu) || gpu_wait(gpu)) return;
    cudaHostUnregister(p);
    cudaGetLastError();
}

bool gpu_is_locked(const ks_gpu *gpu, const void *p, size_t bytes) {
    for (int k = 0; k < gpu->locked; k++) {
        const lock *l = &gpu->locks[k];
        if ((const char *)p >= l->from && (const char *)p + bytes <= l->from + l->bytes) return true;
    }
    return false;
}
