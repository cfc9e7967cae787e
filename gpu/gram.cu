// Products with the Gram matrix of a kernel, whose entries are made from the rows when they are needed and never
// held: tiles of 64 x 64, 4 x 4 to a thread, distances from differences of coordinates.
#include "gpu.cuh"

enum { TILE = 64, DEPTH = 16, THREADS = 256 };
static const size_t CHAIN = 8192;  // columns that a block adds up
static const double LAUNCH = 2e12; // operations of a launch: about a third of a second

enum { GAUSSIAN, LAPLACE, CAUCHY };

// part[chain][row - from] = the sum over the chain's columns j of k(x_row, x_j) v_j
template <int METRIC>
__global__ void __launch_bounds__(THREADS)
    times(const double *X, size_t n, int p, size_t from, size_t rows, const double *v, double *part) {
    __shared__ double a[DEPTH][TILE + 2], b[DEPTH][TILE + 2];
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    const size_t i0 = from + (size_t)blockIdx.x * TILE, first = blockIdx.y * CHAIN;
    double sum[4] = {0};
    for (size_t j0 = first; j0 < n && j0 < first + CHAIN; j0 += TILE) {
        double s[4][4];
#pragma unroll
        for (int r = 0; r < 4; r++)
#pragma unroll
            for (int c = 0; c < 4; c++) s[r][c] = METRIC == CAUCHY ? 1 : 0;
        for (int k0 = 0; k0 < p; k0 += DEPTH) {
            const int depth = p - k0 < DEPTH ? p - k0 : DEPTH;
            __syncthreads();
            for (int t = threadIdx.x; t < DEPTH * TILE; t += THREADS) {
                const int k = t % DEPTH, r = t / DEPTH;
                a[k][r] = k < depth && i0 + r < n ? X[(i0 + r) * p + k0 + k] : 0;
                b[k][r] = k < depth && j0 + r < n ? X[(j0 + r) * p + k0 + k] : 0;
            }
            __syncthreads();
            for (int k = 0; k < depth; k++) {
                double x[4], y[4];
#pragma unroll
                for (int r = 0; r < 4; r++) x[r] = a[k][4 * ty + r], y[r] = b[k][tx + 16 * r];
#pragma unroll
                for (int r = 0; r < 4; r++)
#pragma unroll
                    for (int c = 0; c < 4; c++) {
                        const double d = x[r] - y[c];
                        if (METRIC == GAUSSIAN) s[r][c] = fma(d, d, s[r][c]);
                        if (METRIC == LAPLACE) s[r][c] += fabs(d);
                        if (METRIC == CAUCHY) s[r][c] *= fma(d, d, 1.0);
                    }
            }
        }
#pragma unroll
        for (int c = 0; c < 4; c++) {
            const size_t j = j0 + tx + 16 * c;
            const double w = j < n ? v[j] : 0;
#pragma unroll
            for (int r = 0; r < 4; r++) {
                const double k = METRIC == CAUCHY     ? 1 / s[r][c]
                                 : METRIC == GAUSSIAN ? exp(-0.5 * s[r][c])
                                                      : exp(-s[r][c]);
                sum[r] = fma(k, w, sum[r]);
            }
        }
    }
#pragma unroll
    for (int r = 0; r < 4; r++) {
        for (int o = 8; o; o /= 2) sum[r] += __shfl_xor_sync(~0u, sum[r], o);
        const size_t i = (size_t)blockIdx.x * TILE + 4 * ty + r;
        if (tx == 0 && i < rows) part[blockIdx.y * rows + i] = sum[r];
    }
}

static __global__ void add_chains(const double *part, size_t chains, size_t count, double *out) {
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    double sum = 0;
    for (size_t c = 0; c < chains && i < count; c++) sum += part[c * count + i];
    if (i < count) out[i] = sum;
}

ks_plugin_status gpu_gram_times(ks_gpu *gpu, int metric, const double *X, size_t n, size_t p, const double *x,
                                double *y, const ks_plugin_progress *progress) {
    const size_t chains = (n + CHAIN - 1) / CHAIN;
    size_t rows = (size_t)(LAUNCH / ((double)n * (2.0 * (double)p + 40))) / TILE * TILE;
    rows = rows < TILE ? TILE : rows > n ? n : rows;
    void *held[3] = {0};
    const size_t bytes[3] = {n * sizeof(double), n * sizeof(double), rows * chains * sizeof(double)};
    ks_plugin_status st = KS_PLUGIN_OK;
    cudaSetDevice(gpu->device);
    for (int k = 0; k < 3 && !st; k++) st = gpu_alloc(gpu, bytes[k], &held[k]);
    double *v = (double *)held[0], *out = (double *)held[1], *part = (double *)held[2];
    if (!st) st = gpu_check(gpu, cudaMemcpyAsync(v, x, bytes[0], cudaMemcpyHostToDevice, gpu->stream));
    for (size_t from = 0; from < n && !st; from += rows) {
        const size_t count = n - from < rows ? n - from : rows;
        const dim3 grid((unsigned)((count + TILE - 1) / TILE), (unsigned)chains);
        if (progress->report(progress->ctx, (double)from / (double)n)) st = KS_PLUGIN_STOPPED;
        if (st) break;
        if (metric == GAUSSIAN)
            times<GAUSSIAN><<<grid, THREADS, 0, gpu->stream>>>(X, n, (int)p, from, count, v, part);
        else if (metric == LAPLACE)
            times<LAPLACE><<<grid, THREADS, 0, gpu->stream>>>(X, n, (int)p, from, count, v, part);
        else
            times<CAUCHY><<<grid, THREADS, 0, gpu->stream>>>(X, n, (int)p, from, count, v, part);
        add_chains<<<(unsigned)((count + 255) / 256), 256, 0, gpu->stream>>>(part, chains, count, out + from);
        st = gpu_check(gpu, cudaGetLastError());
        if (!st) st = gpu_wait(gpu);
    }
    if (!st) st = gpu_check(gpu, cudaMemcpyAsync(y, out, bytes[1], cudaMemcpyDeviceToHost, gpu->stream));
    if (!st) st = gpu_wait(gpu);
    for (int k = 0; k < 3; k++) gpu_release(gpu, held[k]);
    return st;
}
