// Products with the Gram matrix of a kernel, whose entries are computed from the rows when needed and never
// stored. The matrix is cut into squares, one block each; only squares on and above the diagonal are
// computed, and the ones above the diagonal also serve as their mirror images. A square goes by tiles of 64 x
// 64, 4 x 4 entries to a thread. Row i has a sum for each square in its line, part[square][i]: above the
// diagonal from the square itself, below it from the mirror images. Squares, counted line by line, make up
// the parts of a job: the code sums row i part by part, then sums these.
#include "gpu.cuh"

namespace {

enum { TILE = 64, DEPTH = 16, THREADS = 256, WARPS = THREADS / 32 };
const size_t LONG = 4096, FEWEST = 64, MOST = 256; // rows of a square, with 64 to 256 squares in a line
const double LAUNCH = 3e12;                        // operations of a launch: about a third of a second

// GAUSSIAN uses differences of coordinates; DOT uses inner products, where their squares are accurate enough
enum { GAUSSIAN, LAPLACE, CAUCHY, DOT };

struct gram {
    const double *X, *h, *v;
    size_t n, side, squares; // rows, rows of a square, squares in a line
    int p;
    double *part;
    part_list list;
    __host__ __device__ size_t all() const { return squares * (squares + 1) / 2; }
    // the first square of part k
    __host__ __device__ size_t first(size_t k) const { return (k * all() + list.parts - 1) / list.parts; }
};

// Square t of the upper triangle, counted line by line
__device__ void locate(size_t squares, size_t t, size_t *I, size_t *J) {
    size_t line = squares;
    for (*I = 0; t >= line; ++*I) t -= line--;
    *J = *I + t;
}

// Square k of the squares in the list's parts
__device__ size_t listed(const gram &g, size_t k) {
    for (int l = 0;; l++) {
        const size_t first = g.first(g.list.at[l]), count = g.first(g.list.at[l] + 1) - first;
        if (k < count) return first + k;
        k -= count;
    }
}

// Computes one tile: the entries at rows i0 + 4 ty ..., columns j0 + tx + 16 c
template <int METRIC>
__device__ __forceinline__ void tile(const gram &g, size_t i0, size_t j0, double (*a)[TILE + 2],
                                     double (*b)[TILE + 2], double (&s)[4][4]) {
    const int tx = threadIdx.x % 16, ty = threadIdx.x / 16;
#pragma unroll
    for (int r = 0; r < 4; r++)
#pragma unroll
        for (int c = 0; c < 4; c++) {
            const size_t i = i0 + 4 * ty + r, j = j0 + tx + 16 * c;
            s[r][c] = METRIC == CAUCHY ? 1 : 0;
            if (METRIC == DOT) s[r][c] = -((i < g.n ? g.h[i] : 0) + (j < g.n ? g.h[j] : 0));
        }
    for (int k0 = 0; k0 < g.p; k0 += DEPTH) {
        const int depth = g.p - k0 < DEPTH ? g.p - k0 : DEPTH;
        __syncthreads();
        for (int t = threadIdx.x; t < DEPTH * TILE; t += THREADS) {
            const int k = t % DEPTH, r = t / DEPTH;
            a[k][r] = k < depth && i0 + r < g.n ? g.X[(i0 + r) * g.p + k0 + k] : 0;
            b[k][r] = k < depth && j0 + r < g.n ? g.X[(j0 + r) * g.p + k0 + k] : 0;
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
                    if (METRIC == DOT) s[r][c] = fma(x[r], y[c], s[r][c]);
                }
        }
    }
#pragma unroll
    for (int r = 0; r < 4; r++)
#pragma unroll
        for (int c = 0; c < 4; c++)
            s[r][c] = METRIC == CAUCHY     ? 1 / s[r][c]
                      : METRIC == GAUSSIAN ? exp(-0.5 * s[r][c])
                      : METRIC == LAPLACE  ? exp(-s[r][c])
                                           : exp(s[r][c]);
}

// Computes a square, and for one above the diagonal also the sums of its columns. Their parts wait in
// `columns` until the next tile, so that they need no extra barrier.
template <int METRIC> __global__ void __launch_bounds__(THREADS, 2) times(const gram g, size_t from) {
    __shared__ double a[DEPTH][TILE + 2], b[DEPTH][TILE + 2], columns[2][WARPS][TILE];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, tx = threadIdx.x % 16, ty = threadIdx.x / 16;
    size_t I, J;
    locate(g.squares, listed(g, from + blockIdx.x), &I, &J);
    const size_t i_end = (I + 1) * g.side < g.n ? (I + 1) * g.side : g.n;
    const size_t j_end = (J + 1) * g.side < g.n ? (J + 1) * g.side : g.n;
    double *rows = g.part + J * g.n, *mirrored = g.part + I * g.n;
    for (size_t i0 = I * g.side; i0 < i_end; i0 += TILE) {
        double sum[4] = {0}, u[4];
#pragma unroll
        for (int r = 0; r < 4; r++) u[r] = i0 + 4 * ty + r < i_end ? g.v[i0 + 4 * ty + r] : 0;
        int at = 0;
        auto add_columns = [&](size_t j0) {
            if (threadIdx.x >= TILE || j0 + threadIdx.x >= j_end) return;
            double more = 0;
#pragma unroll
            for (int w = 0; w < WARPS; w++) more += columns[at ^ 1][w][threadIdx.x];
            double *to = mirrored + j0 + threadIdx.x;
            *to = i0 == I * g.side ? more : *to + more;
        };
        for (size_t j0 = J * g.side; j0 < j_end; j0 += TILE, at ^= 1) {
            double s[4][4];
            tile<METRIC>(g, i0, j0, a, b, s);
            if (I != J && j0 > J * g.side) add_columns(j0 - TILE);
#pragma unroll
            for (int c = 0; c < 4; c++) {
                const size_t j = j0 + tx + 16 * c;
                const double w = j < j_end ? g.v[j] : 0;
                double column = 0;
#pragma unroll
                for (int r = 0; r < 4; r++) {
                    sum[r] = fma(s[r][c], w, sum[r]);
                    column = fma(s[r][c], u[r], column);
                }
                column += __shfl_xor_sync(~0u, column, 16);
                if (lane < 16) columns[at][warp][tx + 16 * c] = column;
            }
        }
        __syncthreads();
        if (I != J) add_columns(J * g.side + (j_end - J * g.side - 1) / TILE * TILE);
#pragma unroll
        for (int r = 0; r < 4; r++) {
            for (int o = 8; o; o /= 2) sum[r] += __shfl_xor_sync(~0u, sum[r], o);
            const size_t i = i0 + 4 * ty + r;
            if (tx == 0 && i < i_end) rows[i] = sum[r];
        }
    }
}

// out = the sum over all parts, or over the list's parts one after the other. Along row i the squares go from
// part to part in order: first the squares of column I down to the diagonal, then the squares of line I.
__global__ void add_squares(const gram g, double *out) {
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x, I = i / g.side;
    if (i >= g.n) return;
    const bool whole = g.list.count == g.list.parts;
    double total = 0;
    size_t c = 0;
    for (int l = 0; l < g.list.count; l++) {
        const size_t first = g.first(g.list.at[l]), end = g.first(g.list.at[l] + 1);
        double sum = 0;
        for (; c < g.squares; c++) {
            const size_t line = c < I ? c : I,
                         t = line * g.squares - line * (line - 1) / 2 + (c < I ? I : c) - line;
            if (t >= end) break;
            if (t >= first) sum += g.part[c * g.n + i];
        }
        if (whole)
            total += sum;
        else
            out[l * g.n + i] = sum;
    }
    if (whole) out[i] = total;
}

void launch(int metric, const gram &g, size_t from, size_t count, cudaStream_t stream) {
    const unsigned blocks = (unsigned)count;
    if (metric == GAUSSIAN && g.h)
        times<DOT><<<blocks, THREADS, 0, stream>>>(g, from);
    else if (metric == GAUSSIAN)
        times<GAUSSIAN><<<blocks, THREADS, 0, stream>>>(g, from);
    else if (metric == LAPLACE)
        times<LAPLACE><<<blocks, THREADS, 0, stream>>>(g, from);
    else
        times<CAUCHY><<<blocks, THREADS, 0, stream>>>(g, from);
}

} // namespace

ks_plugin_status gpu_gram_times(ks_gpu *gpu, const ks_gram_job *job, const double *x, double *y,
                                const ks_plugin_progress *progress) {
    const size_t n = job->n, wanted = n / LONG,
                 lines = wanted < FEWEST ? FEWEST
                         : wanted > MOST ? MOST
                                         : wanted;
    gram g = {job->X, NULL,        NULL, n, ((n + lines - 1) / lines + TILE - 1) / TILE * TILE,
              0,      (int)job->p, NULL};
    g.squares = (n + g.side - 1) / g.side;
    g.list = parts_of(job->part);
    const size_t vectors = g.list.count == g.list.parts ? 1 : (size_t)g.list.count;
    size_t all = 0;
    for (int l = 0; l < g.list.count; l++) all += g.first(g.list.at[l] + 1) - g.first(g.list.at[l]);
    size_t each = (size_t)(LAUNCH / ((double)g.side * (double)g.side * (2.0 * (double)job->p + 40)));
    each = each < 1 ? 1 : each > all ? all : each;
    const size_t vector = n * sizeof(double);
    void *held[4] = {0};
    ks_plugin_status st = gpu_enter(gpu);
    for (int k = 0; k < 4 && !st; k++)
        if (k < 3 || job->h)
            st = gpu_alloc(gpu, (k == 2 ? g.squares : k == 1 ? vectors : 1) * vector, &held[k]);
    double *v = (double *)held[0], *out = (double *)held[1], *h = (double *)held[3];
    g.v = v, g.part = (double *)held[2], g.h = h;
    if (!st) st = gpu_check(gpu, cudaMemcpyAsync(v, x, vector, cudaMemcpyHostToDevice, gpu->stream));
    if (!st && h)
        st = gpu_check(gpu, cudaMemcpyAsync(h, job->h, vector, cudaMemcpyHostToDevice, gpu->stream));
    for (size_t from = 0; from < all && !st; from += each) {
        if (progress->report(progress->ctx, (double)from / (double)all)) st = KS_PLUGIN_STOPPED;
        if (!st) st = gpu_enter(gpu);
        if (st) break;
        launch(job->metric, g, from, all - from < each ? all - from : each, gpu->stream);
        st = gpu_check(gpu, cudaGetLastError());
        if (!st) st = gpu_wait(gpu);
    }
    if (!st) {
        add_squares<<<(unsigned)((n + 255) / 256), 256, 0, gpu->stream>>>(g, out);
        st = gpu_check(gpu, cudaGetLastError());
    }
    for (size_t k = 0; k < vectors && !st; k++)
        st = gpu_check(gpu, cudaMemcpyAsync(y + k * job->stride, out + k * n, vector, cudaMemcpyDeviceToHost,
                                            gpu->stream));
    if (!st) st = gpu_wait(gpu);
    for (int k = 0; k < 4; k++) gpu_release(gpu, held[k]);
    return st;
}
