// Copies matrices between host memory and the device. If host memory is page-locked (lock.cu), the device
// copies it directly. Other memory goes through a pinned buffer in two halves: threads fill or empty one half
// while the device copies the other, since the driver's own copy of pageable memory uses one thread and takes
// three times as long. Copies to the device have a separate stream, so that they overtake the product that
// was queued last.
#include "gpu.cuh"

#include <pthread.h>
#include <string.h>

namespace {

enum { COPIERS = 8, ALONE = 1 << 16 }; // below this many numbers threads cost more than they save
const size_t HALF = (size_t)4 << 20;   // doubles

// Numbers from ... to-1 of a block, counted by rows of `cols`; the first is at `dense`, the block at `host`
struct range {
    double *dense, *host;
    size_t cols, ld, from, to;
    int out; // to the host
};

void *copy_range(void *arg) {
    const range *r = (const range *)arg;
    for (size_t a = r->from, n; a < r->to; a += n) {
        const size_t i = a / r->cols, j = a % r->cols;
        n = r->cols - j < r->to - a ? r->cols - j : r->to - a;
        double *dense = r->dense + (a - r->from), *host = r->host + i * r->ld + j;
        memcpy(r->out ? host : dense, r->out ? dense : host, n * sizeof(double));
    }
    return NULL;
}

void copy_in_parallel(range r) {
    pthread_t thread[COPIERS];
    range part[COPIERS];
    int started[COPIERS] = {0};
    const size_t all = r.to - r.from;
    if (all < ALONE) {
        copy_range(&r);
        return;
    }
    for (int k = 0; k < COPIERS; k++) {
        const size_t a = all * k / COPIERS, b = all * (k + 1) / COPIERS;
        part[k] = r;
        part[k].dense += a, part[k].from = r.from + a, part[k].to = r.from + b;
        started[k] = k && pthread_create(&thread[k], NULL, copy_range, &part[k]) == 0;
    }
    for (int k = 0; k < COPIERS; k++)
        if (!started[k]) copy_range(&part[k]);
    for (int k = 0; k < COPIERS; k++)
        if (started[k]) pthread_join(thread[k], NULL);
}

ks_plugin_status open_blocks(ks_gpu *gpu) {
    blocks *c = &gpu->copies;
    cudaEvent_t *events[] = {&c->half_free[0], &c->half_free[1], &c->before, &c->arrived};
    ks_plugin_status st = gpu_enter(gpu);
    if (st || c->stream) return st;
    void *pinned = NULL;
    if (!c->pinned) {
        st = gpu_share(gpu, 2 * HALF * sizeof(double), &pinned);
        c->pinned = (double *)pinned;
    }
    for (int k = 0; k < 4 && !st; k++)
        if (!*events[k]) st = gpu_check(gpu, cudaEventCreateWithFlags(events[k], cudaEventDisableTiming));
    if (!st) st = gpu_check(gpu, cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking));
    return st ? st : gpu_blocks_after(gpu);
}

// Is a block page-locked, with rows close enough? CUDA's limit for their distance is 2 GiB.
bool is_direct(const ks_gpu *gpu, const double *host, size_t rows, size_t cols, size_t ld) {
    return rows > 0 && cols > 0 && (rows == 1 || ld * sizeof(double) <= INT32_MAX) &&
           gpu_is_locked(gpu, host, ((rows - 1) * ld + cols) * sizeof(double));
}

// Copies a block directly, without the pinned buffer; leading dimensions are in doubles
ks_plugin_status copy_direct(ks_gpu *gpu, double *to, size_t ldt, const double *from, size_t ldf, size_t rows,
                             size_t cols, cudaMemcpyKind kind, cudaStream_t stream) {
    const size_t line = cols * sizeof(double);
    return gpu_check(gpu, rows == 1 || (ldt == cols && ldf == cols)
                              ? cudaMemcpyAsync(to, from, rows * line, kind, stream)
                              : cudaMemcpy2DAsync(to, ldt * sizeof(double), from, ldf * sizeof(double), line,
                                                  rows, kind, stream));
}

size_t end_of(size_t from, size_t all) { return all - from < HALF ? all : from + HALF; }

} // namespace

ks_plugin_status gpu_blocks_after(ks_gpu *gpu) {
    return gpu->copies.stream ? gpu_check(gpu, cudaEventRecord(gpu->copies.before, gpu->stream))
                              : KS_PLUGIN_OK;
}

ks_plugin_status gpu_blocks_arrive(ks_gpu *gpu) {
    return gpu->copies.stream ? gpu_check(gpu, cudaStreamWaitEvent(gpu->stream, gpu->copies.arrived, 0))
                              : KS_PLUGIN_OK;
}

ks_plugin_status gpu_blocks_wait(ks_gpu *gpu) {
    return gpu->copies.stream ? gpu_wait_for(gpu, gpu->copies.stream) : KS_PLUGIN_OK;
}

void gpu_blocks_close(ks_gpu *gpu, bool alive) {
    blocks *c = &gpu->copies;
    cudaEvent_t events[] = {c->half_free[0], c->half_free[1], c->before, c->arrived};
    if (c->stream && alive) {
        gpu_blocks_wait(gpu);
        cudaStreamDestroy(c->stream);
        c->stream = NULL;
    }
    for (int k = 0; k < 4; k++)
        if (events[k] && alive) cudaEventDestroy(events[k]);
    gpu_unshare(c->pinned, alive);
}

ks_plugin_status gpu_put_block(ks_gpu *gpu, double *to, const double *from, size_t rows, size_t cols,
                               size_t ld) {
    const size_t all = rows * cols;
    blocks *c = &gpu->copies;
    ks_plugin_status st = open_blocks(gpu);
    if (!st) st = gpu_check(gpu, cudaStreamWaitEvent(c->stream, c->before, 0));
    const bool direct = is_direct(gpu, from, rows, cols, ld);
    if (direct && !st)
        st = copy_direct(gpu, to, cols, from, ld, rows, cols, cudaMemcpyHostToDevice, c->stream);
    for (size_t a = 0, b, k = 0; a < all && !direct && !st; a = b, k ^= 1) {
        double *half = c->pinned + k * HALF;
        b = end_of(a, all);
        st = gpu_check(gpu, cudaEventSynchronize(c->half_free[k]));
        if (st) break;
        copy_in_parallel({half, (double *)from, cols, ld, a, b, 0});
        st = gpu_check(
            gpu, cudaMemcpyAsync(to + a, half, (b - a) * sizeof *to, cudaMemcpyHostToDevice, c->stream));
        if (!st) st = gpu_check(gpu, cudaEventRecord(c->half_free[k], c->stream));
    }
    return st ? st : gpu_check(gpu, cudaEventRecord(c->arrived, c->stream));
}

ks_plugin_status gpu_get_block(ks_gpu *gpu, double *to, size_t ld, const double *from, size_t rows,
                               size_t cols) {
    const size_t all = rows * cols;
    blocks *c = &gpu->copies;
    ks_plugin_status st = open_blocks(gpu);
    if (!st) st = gpu_blocks_arrive(gpu);
    if (!st && is_direct(gpu, to, rows, cols, ld)) {
        st = copy_direct(gpu, to, ld, from, cols, rows, cols, cudaMemcpyDeviceToHost, gpu->stream);
        return st ? st : gpu_wait(gpu);
    }
    if (!st) st = gpu_blocks_wait(gpu); // the halves are free
    // the half that was filled last is emptied while the next one is filled
    size_t last = 0;
    for (size_t a = 0, b = 0, k = 0; (a < all || last < a) && !st; k ^= 1) {
        if (a < all) {
            b = end_of(a, all);
            st = gpu_check(gpu, cudaMemcpyAsync(c->pinned + k * HALF, from + a, (b - a) * sizeof *to,
                                                cudaMemcpyDeviceToHost, gpu->stream));
            if (!st) st = gpu_check(gpu, cudaEventRecord(c->half_free[k], gpu->stream));
        }
        if (a > last && !st) {
            st = gpu_check(gpu, cudaEventSynchronize(c->half_free[k ^ 1]));
            if (!st) copy_in_parallel({c->pinned + (k ^ 1) * HALF, to, cols, ld, last, a, 1});
        }
        last = a;
        a = b;
    }
    return st ? st : gpu_wait(gpu);
}
