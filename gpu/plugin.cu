// The function table of libkspec_cuda.so: devices, memory, copies, products.
#include "gpu.cuh"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// the work that may be queued before the next call waits: about 20 ms
static const double QUEUE = 5e11;

ks_plugin_status gpu_check(ks_gpu *gpu, cudaError_t e) {
    if (e == cudaSuccess) return KS_PLUGIN_OK;
    snprintf(gpu->message, sizeof gpu->message, "%s", cudaGetErrorString(e));
    cudaGetLastError(); // clears the error of a failed allocation
    return e == cudaErrorMemoryAllocation ? KS_PLUGIN_NOMEM : KS_PLUGIN_BROKEN;
}

// ---- devices ----

static int count_devices(char *why, size_t room) {
    int count = 0;
    cudaError_t e = cudaGetDeviceCount(&count);
    cudaGetLastError();
    if (e == cudaSuccess && count > 0) return count;
    if (e == cudaSuccess || e == cudaErrorNoDevice) {
        snprintf(why, room, "this machine has no GPU of NVIDIA");
        return 0;
    }
    if (e == cudaErrorInsufficientDriver)
        snprintf(why, room, "there is no driver of NVIDIA, or it is older than CUDA %d",
                 CUDART_VERSION / 1000);
    else
        snprintf(why, room, "%s", cudaGetErrorString(e));
    return -1;
}

static ks_plugin_status describe(int device, ks_gpu_info *info, char *why, size_t room) {
    cudaDeviceProp p;
    int driver = 0;
    cudaError_t e = cudaGetDeviceProperties(&p, device);
    if (e == cudaSuccess) e = cudaDriverGetVersion(&driver);
    if (e != cudaSuccess) {
        snprintf(why, room, "%s", cudaGetErrorString(e));
        cudaGetLastError();
        return KS_PLUGIN_BROKEN;
    }
    memset(info, 0, sizeof *info);
    snprintf(info->name, sizeof info->name, "%.120s", p.name);
    snprintf(info->driver, sizeof info->driver, "%d.%d", driver / 1000, driver % 1000 / 10);
    snprintf(info->architecture, sizeof info->architecture, "sm_%d%d", p.major, p.minor);
    info->memory = p.totalGlobalMem;
    return KS_PLUGIN_OK;
}

static void close_device(ks_gpu *gpu) {
    if (!gpu) return;
    const bool alive = gpu_enter(gpu) == KS_PLUGIN_OK; // otherwise its memory is gone with its context
    if (alive && gpu->stream) gpu_wait(gpu);
    gpu_blocks_close(gpu, alive);
    gpu_unshare((void *)gpu->control, alive);
    if (!alive) {
        free(gpu);
        return;
    }
    gpu_release(gpu, gpu->staging);
    if (gpu->blas) cublasDestroy(gpu->blas);
    if (gpu->stream) {
        gpu_wait(gpu);
        cudaStreamDestroy(gpu->stream);
    }
    cudaGetLastError();
    free(gpu);
}

static ks_plugin_status open_device(int device, ks_gpu **out, char *why, size_t room) {
    ks_gpu *gpu = (ks_gpu *)calloc(1, sizeof *gpu);
    *out = NULL;
    if (!gpu) {
        snprintf(why, room, "out of memory");
        return KS_PLUGIN_NOMEM;
    }
    gpu->device = device;
    gpu->until_failure = -1;
    int major = 0, shared = 0;
    cudaMemPool_t pool;
    uint64_t keep = UINT64_MAX; // keep released memory for the next allocation
    void *control = NULL;
    ks_plugin_status st = gpu_check(gpu, cudaSetDevice(device));
    if (!st) st = gpu_check(gpu, cudaFree(NULL)); // the context exists from now on
    gpu->context = gpu_context();
    if (!st) st = gpu_check(gpu, cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    if (!st && major < 8) {
        snprintf(gpu->message, sizeof gpu->message, "it is older than sm_80, the oldest that is used");
        st = KS_PLUGIN_BROKEN;
    }
    if (!st)
        st = gpu_check(gpu, cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    if (!st && shared < GPU_LEAST_SHARED) {
        snprintf(gpu->message, sizeof gpu->message, "%d kB of shared memory a block are fewer than %d",
                 shared / 1024, GPU_LEAST_SHARED / 1024);
        st = KS_PLUGIN_BROKEN;
    }
    gpu->shared = (size_t)shared;
    // for tests: the kernels of GPUs with less shared memory
    if (getenv("KSPEC_GPU_SHARED")) gpu->shared = GPU_LEAST_SHARED;
    if (!st)
        st = gpu_check(gpu, cudaDeviceGetAttribute(&gpu->processors, cudaDevAttrMultiProcessorCount, device));
    if (!st) st = gpu_check(gpu, cudaStreamCreateWithFlags(&gpu->stream, cudaStreamNonBlocking));
    if (!st) st = gpu_check(gpu, cudaDeviceGetDefaultMemPool(&pool, device));
    if (!st) st = gpu_check(gpu, cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    if (!st) st = gpu_share(gpu, 4096, &control);
    gpu->control = (volatile int *)control;
    if (!st) st = gpu_check(gpu, cudaHostGetDevicePointer((void **)&gpu->control_on_device, control, 0));
    if (!st && (cublasCreate(&gpu->blas) != CUBLAS_STATUS_SUCCESS ||
                cublasSetStream(gpu->blas, gpu->stream) != CUBLAS_STATUS_SUCCESS)) {
        snprintf(gpu->message, sizeof gpu->message, "cuBLAS cannot be started: not enough memory, perhaps");
        st = KS_PLUGIN_BROKEN;
    }
    if (st) {
        snprintf(why, room, "gpu:%d: %s", device, gpu->message);
        close_device(gpu);
        return st;
    }
    *out = gpu;
    return KS_PLUGIN_OK;
}

static const char *message(const ks_gpu *gpu) { return gpu->message; }

static int owner(const void *p) {
    cudaPointerAttributes a;
    const int ours = cudaPointerGetAttributes(&a, p) == cudaSuccess &&
                     (a.type == cudaMemoryTypeDevice || a.type == cudaMemoryTypeManaged) &&
                     cudaSetDevice(a.device) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess;
    cudaGetLastError();
    return ours ? a.device : -1;
}

// ---- memory ----

// Memory that the pool holds and does not use also counts as free.
static size_t available(ks_gpu *gpu) {
    size_t left = 0, all = 0;
    uint64_t reserved = 0, used = 0;
    cudaMemPool_t pool;
    if (gpu_enter(gpu) || gpu_wait(gpu)) return 0;
    if (cudaMemGetInfo(&left, &all) != cudaSuccess) left = 0;
    if (cudaDeviceGetDefaultMemPool(&pool, gpu->device) == cudaSuccess &&
        cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved) == cudaSuccess &&
        cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used) == cudaSuccess && reserved > used)
        left += reserved - used;
    cudaGetLastError();
    return left;
}

static void fail_after(ks_gpu *gpu, long after) { gpu->until_failure = after; }

ks_plugin_status gpu_alloc(ks_gpu *gpu, size_t bytes, void **out) {
    *out = NULL;
    if (gpu->until_failure == 0) {
        snprintf(gpu->message, sizeof gpu->message, "out of memory (a test's)");
        return KS_PLUGIN_NOMEM;
    }
    if (gpu->until_failure > 0) gpu->until_failure--;
    ks_plugin_status st = gpu_enter(gpu);
    if (!st) st = gpu_check(gpu, cudaMallocAsync(out, bytes ? bytes : 1, gpu->stream));
    if (st == KS_PLUGIN_NOMEM)
        snprintf(gpu->message, sizeof gpu->message, "out of memory: %.1f MB wanted", (double)bytes / 1e6);
    return st ? st : gpu_blocks_after(gpu);
}

void gpu_release(ks_gpu *gpu, void *p) {
    if (!p || gpu_enter(gpu)) return;
    if (gpu->copies.stream) cudaStreamWaitEvent(gpu->stream, gpu->copies.arrived, 0); // to p, perhaps
    cudaFreeAsync(p, gpu->stream);
    cudaGetLastError();
}

ks_plugin_status gpu_stage(ks_gpu *gpu, size_t count) {
    if (count <= gpu->staging_count) return KS_PLUGIN_OK;
    void *more;
    ks_plugin_status st = gpu_alloc(gpu, count * sizeof(double), &more);
    if (st) return st;
    gpu_release(gpu, gpu->staging);
    gpu->staging = (double *)more;
    gpu->staging_count = count;
    return KS_PLUGIN_OK;
}

static ks_plugin_status put(ks_gpu *gpu, double *to, const double *from, size_t count) {
    ks_plugin_status st = gpu_enter(gpu);
    if (!st && count > GPU_SMALL) {
        st = gpu_blocks_after(gpu);
        if (!st) st = gpu_put_block(gpu, to, from, 1, count, count);
        return st ? st : gpu_blocks_wait(gpu);
    }
    if (!st)
        st = gpu_check(gpu,
                       cudaMemcpyAsync(to, from, count * sizeof *to, cudaMemcpyHostToDevice, gpu->stream));
    return st ? st : gpu_wait(gpu);
}

static ks_plugin_status get(ks_gpu *gpu, double *to, const double *from, size_t count, size_t step) {
    ks_plugin_status st = gpu_enter(gpu);
    if (st) return st;
    if (step == 1 && count > GPU_SMALL) return gpu_get_block(gpu, to, count, from, 1, count);
    st = gpu_check(
        gpu, step == 1 ? cudaMemcpyAsync(to, from, count * sizeof *to, cudaMemcpyDeviceToHost, gpu->stream)
                       : cudaMemcpy2DAsync(to, sizeof *to, from, step * sizeof *to, sizeof *to, count,
                                           cudaMemcpyDeviceToHost, gpu->stream));
    return st ? st : gpu_wait(gpu);
}

static __global__ void pack_rows(double alpha, const double *from, size_t rows, size_t cols, ptrdiff_t row,
                                 ptrdiff_t col, double *to) {
    const size_t all = rows * cols, step = (size_t)gridDim.x * blockDim.x;
    for (size_t k = blockIdx.x * (size_t)blockDim.x + threadIdx.x; k < all; k += step)
        to[k] = alpha * from[(ptrdiff_t)(k / cols) * row + (ptrdiff_t)(k % cols) * col];
}

static ks_plugin_status pack(ks_gpu *gpu, double alpha, const double *from, size_t rows, size_t cols,
                             ptrdiff_t row, ptrdiff_t col, double *to) {
    ks_plugin_status st = gpu_enter(gpu);
    if (st) return st;
    pack_rows<<<8 * gpu->processors, 256, 0, gpu->stream>>>(alpha, from, rows, cols, row, col, to);
    return gpu_check(gpu, cudaGetLastError());
}

static __global__ void gather_rows(size_t count, const size_t *list, size_t cols, const double *from,
                                   double *to) {
    for (size_t k = blockIdx.x; k < count; k += gridDim.x)
        for (size_t j = threadIdx.x; j < cols; j += blockDim.x)
            to[list[2 * k + 1] * cols + j] = from[list[2 * k] * cols + j];
}

static ks_plugin_status copy_rows(ks_gpu *gpu, size_t count, const size_t *list, size_t cols,
                                  const double *from, double *to) {
    static_assert(sizeof(size_t) == sizeof(double)); // the list is in the staging room
    ks_plugin_status st = gpu_enter(gpu);
    if (!st) st = gpu_stage(gpu, 2 * count);
    if (!st)
        st = gpu_check(gpu, cudaMemcpyAsync(gpu->staging, list, 2 * count * sizeof *list,
                                            cudaMemcpyHostToDevice, gpu->stream));
    if (st || !count) return st;
    gather_rows<<<(unsigned)(count < 4096 ? count : 4096), 256, 0, gpu->stream>>>(
        count, (const size_t *)gpu->staging, cols, from, to);
    return gpu_check(gpu, cudaGetLastError());
}

// ---- products ----

static ks_plugin_status multiply(ks_gpu *gpu, const ks_matmul *p) {
    // row-major C = op(A) op(B) is column-major C^T = op(B)^T op(A)^T
    cublasStatus_t e =
        cublasDgemm_64(gpu->blas, p->tb ? CUBLAS_OP_T : CUBLAS_OP_N, p->ta ? CUBLAS_OP_T : CUBLAS_OP_N,
                       (int64_t)p->n, (int64_t)p->m, (int64_t)p->k, &p->alpha, p->B, (int64_t)p->ldb, p->A,
                       (int64_t)p->lda, &p->beta, p->C, (int64_t)p->ldc);
    if (e == CUBLAS_STATUS_SUCCESS) return KS_PLUGIN_OK;
    snprintf(gpu->message, sizeof gpu->message, "cuBLAS: %s", cublasGetStatusString(e));
    return e == CUBLAS_STATUS_ALLOC_FAILED ? KS_PLUGIN_NOMEM : KS_PLUGIN_BROKEN;
}

// The lower triangle of a symmetric product in strips of rows, each up to its diagonal block, and then the
// rest
static ks_plugin_status multiply_symmetric(ks_gpu *gpu, const ks_matmul *p) {
    const size_t n = p->n, part = (n + 7) / 8, strip = part < 1024 ? 1024 : part;
    for (size_t i = 0; i < n; i += strip) {
        ks_matmul s = *p;
        s.m = n - i < strip ? n - i : strip;
        s.n = i + s.m;
        s.A = p->A + (p->ta ? i : i * p->lda);
        s.C = p->C + i * p->ldc;
        ks_plugin_status st = multiply(gpu, &s);
        if (st) return st;
    }
    return gpu_mirror(gpu, n, p->C, p->ldc);
}

static ks_plugin_status product(ks_gpu *gpu, const ks_matmul *p) {
    ks_plugin_status st = gpu_enter(gpu);
    gpu->queued += (double)p->m * (double)p->n * (double)p->k;
    if (!st && gpu->queued > QUEUE) st = gpu_wait(gpu);
    if (!st) st = gpu_blocks_after(gpu);
    if (!st) st = gpu_blocks_arrive(gpu);
    if (st) return st;
    return p->symmetric && p->n > 1024 ? multiply_symmetric(gpu, p) : multiply(gpu, p);
}

// The rate is the same for every opening of a device.
static double rate(ks_gpu *gpu) {
    enum { N = 2048, DEVICES = 64 };
    static double known[DEVICES]; // two threads that measure at once write much the same
    const bool keep = gpu->device < DEVICES;
    if (keep && known[gpu->device] > 0) return known[gpu->device];
    void *room = NULL;
    cudaEvent_t from = NULL, to = NULL;
    float ms = 0;
    const size_t bytes = (size_t)N * N * sizeof(double);
    ks_plugin_status st = gpu_alloc(gpu, 2 * bytes, &room);
    if (!st) st = gpu_check(gpu, cudaMemsetAsync(room, 0, 2 * bytes, gpu->stream));
    if (!st) st = gpu_check(gpu, cudaEventCreate(&from));
    if (!st) st = gpu_check(gpu, cudaEventCreate(&to));
    double *A = (double *)room, *C = A + (size_t)N * N;
    const ks_matmul p = {0, 0, N, N, N, 1, A, N, A, N, 0, C, N, 0};
    if (!st) st = multiply(gpu, &p); // which loads cuBLAS
    if (!st) st = gpu_check(gpu, cudaEventRecord(from, gpu->stream));
    if (!st) st = multiply(gpu, &p);
    if (!st) st = gpu_check(gpu, cudaEventRecord(to, gpu->stream));
    if (!st) st = gpu_wait(gpu);
    if (!st) st = gpu_check(gpu, cudaEventElapsedTime(&ms, from, to));
    if (from) cudaEventDestroy(from);
    if (to) cudaEventDestroy(to);
    gpu_release(gpu, room);
    const double found = st || !(ms > 0) ? 0 : (double)N * N * N / (1e-3 * (double)ms);
    if (keep) known[gpu->device] = found;
    return found;
}

// ---- the table ----

static const ks_plugin table = {KS_PLUGIN_VERSION,
                                count_devices,
                                describe,
                                open_device,
                                close_device,
                                message,
                                owner,
                                rate,
                                available,
                                PATH_ORDERS,
                                PATH_LOO_ORDERS,
                                gpu_path_memory,
                                gpu_path_parts,
                                fail_after,
                                gpu_alloc,
                                gpu_release,
                                put,
                                get,
                                pack,
                                copy_rows,
                                gpu_put_block,
                                gpu_get_block,
                                gpu_lock,
                                gpu_unlock,
                                product,
                                gpu_expression,
                                gpu_symmetrise,
                                gpu_path,
                                gpu_gram_times,
                                gpu_cosines,
                                gpu_batch,
                                gpu_shift,
                                gpu_factor,
                                gpu_solve,
                                gpu_has_eigen,
                                gpu_eigen};

extern "C" __attribute__((visibility("default"))) const ks_plugin *ks_plugin_table(void) { return &table; }
