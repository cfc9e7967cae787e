// Computes batches of small matrices on the GPU. Every sum has a fixed order, so that each run gives the same
// bits.
#include "gpu.cuh"

#include <stdio.h>

namespace {

enum { THREADS = 256, WARPS = THREADS / 32 };

__device__ __forceinline__ double of_warp(double x) {
    for (int o = 16; o; o /= 2) x += __shfl_xor_sync(~0u, x, o);
    return x;
}

// Centres each column, as differences from its first entry
__global__ void centre(double *X, size_t P, size_t Q) {
    double *x = X + blockIdx.x * P * Q;
    for (size_t j = threadIdx.x; j < Q; j += THREADS) {
        const double first = x[j];
        double sum = 0;
        for (size_t i = 0; i < P; i++) sum += x[i * Q + j] - first;
        const double mean = sum / (double)P;
        for (size_t i = 0; i < P; i++) x[i * Q + j] = (x[i * Q + j] - first) - mean;
    }
}

// K: X X^T, or X^T X by columns; T = K X or X K; tx: count x Q of scratch
__global__ void lists(const double *X, const double *K, const double *T, size_t P, size_t Q, int by_columns,
                      double *tx, double *out) {
    const size_t b = blockIdx.x, n = by_columns ? Q : P;
    const double *x = X + b * P * Q, *t = T + b * P * Q, *k = K + b * n * n;
    double *u = out + b * (KS_BATCH_ROWS * P + KS_BATCH_COLS * Q), *form = u + P, *third = form + P,
           *fourth = third + P, *squares = fourth + P, *cubes = squares + P, *v = cubes + P, *c = v + Q,
           *S3 = c + Q, *S4 = S3 + Q, *d = S4 + Q, *w = tx + b * Q;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (size_t i = warp; i < P; i += WARPS) {
        double two = 0, four = 0, f = 0;
        for (size_t j = lane; j < Q; j += 32) {
            const double y = x[i * Q + j], square = y * y;
            two += square, four += square * square;
            if (by_columns) f += y * t[i * Q + j];
        }
        for (size_t j = lane; j < P && !by_columns; j += 32) f += k[i * P + j] * k[i * P + j];
        two = of_warp(two), four = of_warp(four), f = of_warp(f);
        if (lane == 0) u[i] = two, fourth[i] = four, form[i] = f;
    }
    for (size_t j = threadIdx.x; j < Q; j += THREADS) {
        double two = 0, three = 0, four = 0, f = 0;
        for (size_t i = 0; i < P; i++) {
            const double y = x[i * Q + j], square = y * y;
            two += square, three += square * y, four += square * square;
            if (!by_columns) f += y * t[i * Q + j];
        }
        for (size_t i = 0; i < Q && by_columns; i++) f += k[i * Q + j] * k[i * Q + j];
        v[j] = two, S3[j] = three, S4[j] = four, c[j] = f;
    }
    __syncthreads();
    for (size_t j = threadIdx.x; j < Q; j += THREADS) {
        double one = 0, two = 0;
        for (size_t i = 0; i < P; i++) {
            const double y = x[i * Q + j];
            one += u[i] * y, two += u[i] * (y * y);
        }
        w[j] = one, d[j] = two;
    }
    __syncthreads();
    for (size_t i = warp; i < P; i += WARPS) {
        double two = 0, three = 0, cross = 0;
        for (size_t j = lane; j < Q; j += 32) {
            const double y = x[i * Q + j];
            two += v[j] * (y * y), three += S3[j] * y, cross += w[j] * y;
        }
        two = of_warp(two), three = of_warp(three), cross = of_warp(cross);
        if (lane == 0) squares[i] = two, cubes[i] = three, third[i] = 2 * cross;
    }
}

// Y[i,j] = X[i,j] / (v_j / P)^(1/4); 0 in a column of zeros. Then again, Y becomes Y o Y.
__global__ void scale(const double *X, const double *list, size_t P, size_t Q, double *Y) {
    const size_t b = blockIdx.x;
    const double *v = list + b * (KS_BATCH_ROWS * P + KS_BATCH_COLS * Q) + KS_BATCH_ROWS * P;
    for (size_t k = threadIdx.x; k < P * Q; k += THREADS) {
        const double s = v[k % Q];
        Y[b * P * Q + k] = s > 0 ? X[b * P * Q + k] / sqrt(sqrt(s / (double)P)) : 0;
    }
}

__global__ void square(double *Y, size_t n) {
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t k = blockIdx.x * (size_t)blockDim.x + threadIdx.x; k < n; k += step) Y[k] *= Y[k];
}

// |K|^2, the sums of u^2, v^2 and x^4, and that of x^2
__global__ void totals(const double *X, const double *K, size_t P, size_t Q, size_t n, double *out) {
    __shared__ double part[KS_BATCH_TOTALS][THREADS];
    const size_t b = blockIdx.x;
    const double *x = X + b * P * Q, *k = K + b * n * n;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    double sum[KS_BATCH_TOTALS] = {0};
    for (size_t i = threadIdx.x; i < n * n; i += THREADS) sum[0] += k[i] * k[i];
    for (size_t i = warp; i < P; i += WARPS) {
        double two = 0;
        for (size_t j = lane; j < Q; j += 32) two += x[i * Q + j] * x[i * Q + j];
        two = of_warp(two);
        if (lane == 0) sum[1] += two * two, sum[4] += two;
    }
    for (size_t j = threadIdx.x; j < Q; j += THREADS) {
        double two = 0, four = 0;
        for (size_t i = 0; i < P; i++) {
            const double y = x[i * Q + j] * x[i * Q + j];
            two += y, four += y * y;
        }
        sum[2] += two * two, sum[3] += four;
    }
    for (int w = 0; w < KS_BATCH_TOTALS; w++) part[w][threadIdx.x] = sum[w];
    for (int half = THREADS / 2; half; half /= 2) {
        __syncthreads();
        for (int w = 0; w < KS_BATCH_TOTALS && threadIdx.x < half; w++)
            part[w][threadIdx.x] += part[w][threadIdx.x + half];
    }
    __syncthreads();
    if (threadIdx.x < KS_BATCH_TOTALS) out[b * KS_BATCH_TOTALS + threadIdx.x] = part[threadIdx.x][0];
}

struct memory {
    double *Y, *K, *T, *tx, *lists, *totals;
};

ks_plugin_status blas(ks_gpu *gpu, cublasStatus_t e) {
    if (e == CUBLAS_STATUS_SUCCESS) return KS_PLUGIN_OK;
    snprintf(gpu->message, sizeof gpu->message, "cuBLAS: %s", cublasGetStatusString(e));
    return e == CUBLAS_STATUS_ALLOC_FAILED ? KS_PLUGIN_NOMEM : KS_PLUGIN_BROKEN;
}

// K = X X^T or X^T X for each; column-major, X is Q x P
ks_plugin_status gram(ks_gpu *gpu, const ks_batch_job *j, const double *X, double *K) {
    const double one = 1, none = 0;
    const long long P = (long long)j->P, Q = (long long)j->Q, n = j->by_columns ? Q : P, k = P * Q / n;
    return blas(gpu,
                cublasDgemmStridedBatched_64(gpu->blas, j->by_columns ? CUBLAS_OP_N : CUBLAS_OP_T,
                                             j->by_columns ? CUBLAS_OP_T : CUBLAS_OP_N, n, n, k, &one, X, Q,
                                             P * Q, X, Q, P * Q, &none, K, n, n * n, (int64_t)j->count));
}

ks_plugin_status times(ks_gpu *gpu, const ks_batch_job *j, const double *X, const double *K, double *T) {
    const double one = 1, none = 0;
    const long long P = (long long)j->P, Q = (long long)j->Q, n = j->by_columns ? Q : P;
    return blas(gpu, cublasDgemmStridedBatched_64(gpu->blas, CUBLAS_OP_N, CUBLAS_OP_N, Q, P, n, &one,
                                                  j->by_columns ? K : X, Q, j->by_columns ? n * n : P * Q,
                                                  j->by_columns ? X : K, n, j->by_columns ? P * Q : n * n,
                                                  &none, T, Q, P * Q, (int64_t)j->count));
}

ks_plugin_status take(ks_gpu *gpu, size_t count, double **out) {
    return gpu_alloc(gpu, count * sizeof **out, (void **)out);
}

// Computes both for Y, the scaled columns, and for their squares
ks_plugin_status evidence(ks_gpu *gpu, const ks_batch_job *j, const memory *m, size_t n) {
    const unsigned count = (unsigned)j->count;
    ks_plugin_status st = KS_PLUGIN_OK;
    scale<<<count, THREADS, 0, gpu->stream>>>(j->X, m->lists, j->P, j->Q, m->T);
    for (int squared = 0; squared < 2 && !st; squared++) {
        if (squared) square<<<8 * gpu->processors, THREADS, 0, gpu->stream>>>(m->T, j->count * j->P * j->Q);
        st = gram(gpu, j, m->T, m->K);
        if (st) return st;
        totals<<<count, THREADS, 0, gpu->stream>>>(m->T, m->K, j->P, j->Q, n,
                                                   m->totals + squared * j->count * KS_BATCH_TOTALS);
        st = gpu_check(gpu, cudaGetLastError());
    }
    return st;
}

} // namespace

ks_plugin_status gpu_batch(ks_gpu *gpu, const ks_batch_job *j) {
    const size_t n = j->by_columns ? j->Q : j->P, entries = j->count * j->P * j->Q,
                 of_lists = j->count * (KS_BATCH_ROWS * j->P + KS_BATCH_COLS * j->Q),
                 of_totals = 2 * j->count * KS_BATCH_TOTALS;
    memory m = {};
    ks_plugin_status st = gpu_enter(gpu);
    if (!st) st = take(gpu, j->count * n * n, &m.K);
    if (!st) st = take(gpu, entries, &m.T);
    if (!st) st = take(gpu, j->count * j->Q, &m.tx);
    if (!st) st = take(gpu, of_lists, &m.lists);
    if (!st) st = take(gpu, of_totals, &m.totals);
    if (!st && j->centered) {
        centre<<<(unsigned)j->count, THREADS, 0, gpu->stream>>>(j->X, j->P, j->Q);
        st = gpu_check(gpu, cudaGetLastError());
    }
    if (!st) st = gram(gpu, j, j->X, m.K);
    if (!st) st = times(gpu, j, j->X, m.K, m.T);
    if (!st) {
        lists<<<(unsigned)j->count, THREADS, 0, gpu->stream>>>(j->X, m.K, m.T, j->P, j->Q, j->by_columns,
                                                               m.tx, m.lists);
        st = gpu_check(gpu, cudaGetLastError());
    }
    if (!st) st = evidence(gpu, j, &m, n);
    if (!st)
        st = gpu_check(gpu, cudaMemcpyAsync(j->lists, m.lists, of_lists * sizeof(double),
                                            cudaMemcpyDeviceToHost, gpu->stream));
    if (!st)
        st = gpu_check(gpu, cudaMemcpyAsync(j->totals, m.totals, of_totals * sizeof(double),
                                            cudaMemcpyDeviceToHost, gpu->stream));
    gpu_release(gpu, m.K), gpu_release(gpu, m.T), gpu_release(gpu, m.tx);
    gpu_release(gpu, m.lists), gpu_release(gpu, m.totals);
    return st ? st : gpu_wait(gpu);
}
