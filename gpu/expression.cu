// Elementwise expressions and their sums (ks_expression), in tiles of 32 x 32. Every tile and every sum has a
// fixed place, regardless of the order of the blocks, so that each run gives the same bits.
#include "gpu.cuh"

enum { T = 32, LINES = 8, EACH = T / LINES };
// a block of sums processes this many tiles one after the other
enum { CHAIN = 16 };

struct parameters {
    ks_expression e;
    double *out;
};

__device__ __forceinline__ double power(double x, int k) {
    double y = x;
    for (int i = 1; i < k; i++) y *= x;
    return y;
}

// v[r] = X[i0 + y + r LINES, j0 + x] for this thread (x, y); 0 outside. Needs barriers only for a transposed
// factor.
__device__ __forceinline__ void tile(const ks_expression &e, size_t i0, size_t j0, double (*turned)[T + 1],
                                     double v[EACH]) {
    const int x = threadIdx.x, y = threadIdx.y;
    const size_t j = j0 + x;
    const double c = j < e.n && e.col ? e.col[j] : 1;
#pragma unroll
    for (int r = 0; r < EACH; r++) {
        const size_t i = i0 + y + r * LINES;
        v[r] = i < e.m && j < e.n ? e.alpha * (e.row ? e.row[i] : 1) * c : 0;
    }
    for (int k = 0; k < e.count; k++) {
        const ks_factor f = e.factor[k];
        if (f.transposed) {
            __syncthreads();
#pragma unroll
            for (int r = 0; r < EACH; r++) { // line j0 + y ... of the n x m matrix, its column i0 + x
                const size_t line = j0 + y + r * LINES, at = i0 + x;
                turned[y + r * LINES][x] = line < e.n && at < e.m ? f.x[line * e.m + at] : 0;
            }
            __syncthreads();
        }
#pragma unroll
        for (int r = 0; r < EACH; r++) {
            const size_t i = i0 + y + r * LINES;
            if (i < e.m && j < e.n)
                v[r] *= power(f.transposed ? turned[x][y + r * LINES] : f.x[i * e.n + j], f.power);
        }
    }
}

__global__ void store(const parameters p, int add) {
    __shared__ double turned[T][T + 1];
    const ks_expression &e = p.e;
    const size_t j0 = (size_t)blockIdx.x * T;
    for (size_t i0 = (size_t)blockIdx.y * T; i0 < e.m; i0 += (size_t)gridDim.y * T) {
        double v[EACH];
        tile(e, i0, j0, turned, v);
#pragma unroll
        for (int r = 0; r < EACH; r++) {
            const size_t i = i0 + threadIdx.y + r * LINES, j = j0 + threadIdx.x;
            if (i < e.m && j < e.n) p.out[i * e.n + j] = add ? p.out[i * e.n + j] + v[r] : v[r];
        }
    }
}

// out[chain * m + i] = the sum of X[i, j] over the columns of the chain
__global__ void row_sums(const parameters p) {
    __shared__ double turned[T][T + 1];
    const ks_expression &e = p.e;
    const size_t first = (size_t)blockIdx.x * CHAIN * T;
    for (size_t i0 = (size_t)blockIdx.y * T; i0 < e.m; i0 += (size_t)gridDim.y * T) {
        double sum[EACH] = {0};
        for (size_t j0 = first; j0 < e.n && j0 < first + CHAIN * T; j0 += T) {
            double v[EACH];
            tile(e, i0, j0, turned, v);
#pragma unroll
            for (int r = 0; r < EACH; r++) sum[r] += v[r];
        }
#pragma unroll
        for (int r = 0; r < EACH; r++) {
            for (int o = 16; o; o /= 2) sum[r] += __shfl_xor_sync(~0u, sum[r], o);
            const size_t i = i0 + threadIdx.y + r * LINES;
            if (threadIdx.x == 0 && i < e.m) p.out[blockIdx.x * e.m + i] = sum[r];
        }
    }
}

// out[chain * n + j] = the sum of X[i, j] over the rows of the chain
__global__ void col_sums(const parameters p) {
    __shared__ double turned[T][T + 1];
    const ks_expression &e = p.e;
    const size_t j0 = (size_t)blockIdx.x * T;
    for (size_t chain = blockIdx.y; chain * CHAIN * T < e.m; chain += gridDim.y) {
        const size_t first = chain * CHAIN * T;
        double sum = 0;
        for (size_t i0 = first; i0 < e.m && i0 < first + CHAIN * T; i0 += T) {
            double v[EACH];
            tile(e, i0, j0, turned, v);
#pragma unroll
            for (int r = 0; r < EACH; r++) sum += v[r];
        }
        __syncthreads();
        turned[threadIdx.y][threadIdx.x] = sum;
        __syncthreads();
        const size_t j = j0 + threadIdx.x;
        if (threadIdx.y == 0 && j < e.n) {
            for (int y = 1; y < LINES; y++) sum += turned[y][threadIdx.x];
            p.out[chain * e.n + j] = sum;
        }
        __syncthreads();
    }
}

__global__ void add_chains(const double *part, size_t chains, size_t count, double *out) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count;
         i += (size_t)gridDim.x * blockDim.x) {
        double sum = part[i];
        for (size_t c = 1; c < chains; c++) sum += part[c * count + i];
        out[i] = sum;
    }
}

// X[i,j] and X[j,i] of two tiles at once; mirror: the upper tile is copied, else both become their sum
__global__ void symmetric_tiles(size_t n, size_t ld, double *X, int mirror) {
    __shared__ double low[T][T + 1], high[T][T + 1];
    const int x = threadIdx.x;
    const size_t j0 = (size_t)blockIdx.x * T;
    for (size_t i0 = (size_t)blockIdx.y * T; i0 < n; i0 += (size_t)gridDim.y * T) {
        if (j0 > i0) continue;
        for (int y = threadIdx.y; y < T; y += LINES) {
            low[y][x] = i0 + y < n && j0 + x < n ? X[(i0 + y) * ld + j0 + x] : 0;
            high[y][x] = j0 + y < n && i0 + x < n ? X[(j0 + y) * ld + i0 + x] : 0;
        }
        __syncthreads();
        for (int y = threadIdx.y; y < T; y += LINES) {
            if (!mirror && i0 + y < n && j0 + x < n) X[(i0 + y) * ld + j0 + x] = low[y][x] + high[x][y];
            // on the diagonal both tiles are the same
            if (j0 + y < n && i0 + x < n && (i0 > j0 || (mirror && x > y)))
                X[(j0 + y) * ld + i0 + x] = mirror ? low[x][y] : low[x][y] + high[y][x];
        }
        __syncthreads();
    }
}

static unsigned tiles(size_t n) { return (unsigned)((n + T - 1) / T); }
static unsigned at_most(size_t n) { return n > 65535 ? 65535 : (unsigned)n; } // of a grid's second side

static ks_plugin_status square(ks_gpu *gpu, size_t n, size_t ld, double *X, int mirror) {
    ks_plugin_status st = gpu_enter(gpu);
    if (st) return st;
    symmetric_tiles<<<dim3(tiles(n), at_most(tiles(n))), dim3(T, LINES), 0, gpu->stream>>>(n, ld, X, mirror);
    return gpu_check(gpu, cudaGetLastError());
}

ks_plugin_status gpu_symmetrise(ks_gpu *gpu, size_t n, double *X) { return square(gpu, n, n, X, 0); }
ks_plugin_status gpu_mirror(ks_gpu *gpu, size_t n, double *X, size_t ld) { return square(gpu, n, ld, X, 1); }

// Copies a vector from the host to `to`; NULL stays
static ks_plugin_status copy_in(ks_gpu *gpu, const double **v, size_t count, double *to) {
    if (!*v) return KS_PLUGIN_OK;
    ks_plugin_status st =
        gpu_check(gpu, cudaMemcpyAsync(to, *v, count * sizeof *to, cudaMemcpyHostToDevice, gpu->stream));
    *v = to;
    return st;
}

ks_plugin_status gpu_expression(ks_gpu *gpu, const ks_expression *e, ks_tile_result what, double *out) {
    parameters p = {*e, out};
    const size_t m = e->m, n = e->n, chain = (size_t)CHAIN * T;
    const int sums = what == KS_TILE_ROW_SUMS || what == KS_TILE_COL_SUMS;
    const size_t count = what == KS_TILE_ROW_SUMS ? m : n, length = what == KS_TILE_ROW_SUMS ? n : m;
    const size_t chains = (length + chain - 1) / chain;
    const dim3 block(T, LINES);
    ks_plugin_status st = gpu_enter(gpu);
    // row, col, the sums, and the chains' sums
    if (!st) st = gpu_stage(gpu, m + n + (sums ? count * (1 + chains) : 0));
    if (!st && !e->vectors_on_device) st = copy_in(gpu, &p.e.row, m, gpu->staging);
    if (!st && !e->vectors_on_device) st = copy_in(gpu, &p.e.col, n, gpu->staging + m);
    if (st) return st;
    double *sum = gpu->staging + m + n, *part = sum + count;
    if (sums) p.out = part;
    if (what == KS_TILE_ROW_SUMS)
        row_sums<<<dim3((unsigned)chains, at_most(tiles(m))), block, 0, gpu->stream>>>(p);
    else if (what == KS_TILE_COL_SUMS)
        col_sums<<<dim3(tiles(n), at_most(chains)), block, 0, gpu->stream>>>(p);
    else
        store<<<dim3(tiles(n), at_most(tiles(m))), block, 0, gpu->stream>>>(p, what == KS_TILE_ADD);
    if ((st = gpu_check(gpu, cudaGetLastError()))) return st;
    gpu->queued += 60 * (double)m * (double)n * (e->count + 1);
    if (!sums) return KS_PLUGIN_OK;
    double *to = e->vectors_on_device ? out : sum;
    add_chains<<<at_most((count + 255) / 256), 256, 0, gpu->stream>>>(part, chains, count, to);
    st = gpu_check(gpu, cudaGetLastError());
    if (!st && !e->vectors_on_device) {
        st = gpu_check(gpu,
                       cudaMemcpyAsync(out, sum, count * sizeof *out, cudaMemcpyDeviceToHost, gpu->stream));
        if (!st) st = gpu_wait(gpu);
    }
    return st;
}
