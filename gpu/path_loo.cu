// Leave-one-out estimates of path on a GPU. A warp is one start row h, with lanes and slabs as in path.cuh.
// It walks back from the last row and column, and stores C after every stretch of rows and T after every
// stretch of columns. Then it walks forward with A and R, removes rows and columns from C and T again, and
// adds up the cycles through each column (V) and row (W). The number of a start row determines its part and,
// within a part, its warp, so that every sum has a fixed order. Each warp prefetches its slabs separately:
// there is six times as much arithmetic for each entry as without V and W.
#include "path_loo.cuh"

#include <stdlib.h>
#include <string.h>

namespace {

enum { WARPS = 8 };

// Memory of the warps, one after the other: rows x record doubles each
struct buffers {
    double *R, *W; // for a row: orders 1 ... N-1
    double *T;     // col_stretches x rows: the same
    double *C;     // row_stretches x 32-lane columns x record
    double *V;     // columns x record: orders 1 ... N
    size_t rows, columns;
    int row_stretch, row_stretches, col_panels, col_stretches;
};

template <int N> __host__ __device__ constexpr int row_record() { return N & ~1; }
template <int N> __host__ __device__ constexpr int col_record() { return (N + 1) & ~1; }

template <int K> __device__ __forceinline__ void load(const double *p, double (&v)[K]) {
#pragma unroll
    for (int k = 0; k < K; k += 2) {
        const double2 x = *(const double2 *)(p + k);
        v[k] = x.x;
        if (k + 1 < K) v[k + 1 < K ? k + 1 : k] = x.y;
    }
}
template <int K> __device__ __forceinline__ void save(double *p, const double (&v)[K]) {
#pragma unroll
    for (int k = 0; k < K; k += 2)
        *(double2 *)(p + k) = make_double2(v[k], k + 1 < K ? v[k + 1 < K ? k + 1 : k] : 0);
}

__device__ __forceinline__ void fetch16(double *to, const double *from, bool on) { // zeros unless `on`
    const uint32_t a = (uint32_t)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(a), "l"(from), "r"(on ? 16 : 0));
}
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;"); }
template <int K> __device__ __forceinline__ void wait() { asm volatile("cp.async.wait_group %0;" ::"n"(K)); }

// The data that a warp prefetches for BATCH steps: slabs of A (and B), and R, T, W of the rows that come in
template <int N, int C, bool TWO, int BATCH> struct stage {
    static constexpr int STAGES = TWO || C > 2 ? 2 : 3, SLAB = 32 * C, ROWS = 3 * row_record<N>();
    double x[BATCH][SLAB], y[TWO ? BATCH : 1][TWO ? SLAB : 2], in[BATCH][ROWS];
};

template <int N, int C, bool TWO, int BATCH> struct walker {
    static constexpr int K = N - 1, PER = 32 * C, RR = row_record<N>(), CR = col_record<N>();
    static constexpr int STAGES = stage<N, C, TWO, BATCH>::STAGES;
    const double *px, *py;
    slabs s;
    buffers b;
    int h, lane;
    stage<N, C, TWO, BATCH> *stages;

    __device__ double *column(double *base, int p, int c) const {
        return base + ((size_t)p * PER + lane * C + c) * CR;
    }

    // Batch i of the steps first, first + by, ...: its slabs, and the data that come in with row step - skew
    __device__ __forceinline__ void fetch(int i, int batches, int first, int by, int skew, const double *gx,
                                          const double *gy, const double *R, const double *T,
                                          const double *W) const {
        if (i < batches) {
            stage<N, C, TWO, BATCH> &to = stages[i % STAGES];
            const int steps = (int)s.steps;
#pragma unroll 1
            for (int t = 0; t < BATCH; t++) {
                const int step = first + by * (i * BATCH + t), row = step - skew;
                const bool on = step >= 0 && step<steps, in = row> h && row < s.P;
                const size_t at = on ? (size_t)step * PER : 0, line = in ? (size_t)row * RR : 0;
                for (int k = lane; k < PER / 2; k += 32) {
                    fetch16(&to.x[t][2 * k], gx + at + 2 * k, on);
                    if (TWO) fetch16(&to.y[TWO ? t : 0][2 * k], gy + at + 2 * k, on);
                }
                if (lane < RR / 2) {
                    fetch16(&to.in[t][2 * lane], R ? R + line + 2 * lane : gx, R && in);
                    fetch16(&to.in[t][RR + 2 * lane], T ? T + line + 2 * lane : gx, T && in);
                    fetch16(&to.in[t][2 * RR + 2 * lane], W ? W + line + 2 * lane : gx, W && in);
                }
            }
        }
        commit();
    }

    __device__ __forceinline__ void entries(const stage<N, C, TWO, BATCH> &from, int t, bool on,
                                            double (&x)[C], double (&y)[C]) const {
#pragma unroll
        for (int j = 0; j < C / 2; j++) {
            const double2 v = *((const double2 *)from.x[t] + j * 32 + lane);
            x[2 * j] = on ? v.x : 0, x[2 * j + 1] = on ? v.y : 0;
            const double2 w = TWO ? *((const double2 *)from.y[TWO ? t : 0] + j * 32 + lane) : v;
            y[2 * j] = on ? w.x : 0, y[2 * j + 1] = on ? w.y : 0;
        }
    }

    // The value that comes in at lane `at`; the other lanes get v from their neighbours
    __device__ __forceinline__ void enter(const double *in, int at, double (&v)[K]) const {
#pragma unroll
        for (int k = 0; k < K; k++) {
            const double u = in[k];
            v[k] = lane == at ? u : v[k];
        }
    }

    // C (here D) and T of panel p, for all rows after h
    __device__ void back(int p) const {
        const double *gx = px + s.at(p), *gy = py + s.at(p);
        const int P = s.P, top = P - 1 + 31, count = top - h, batches = (count + BATCH - 1) / BATCH;
        const double *T_in =
            p + 1 == s.panels() ? NULL : b.T + (size_t)((p + 1) / b.col_panels) * b.rows * RR;
        double *T_out = b.T + (size_t)(p / b.col_panels) * b.rows * RR;
        double D[C][K], T[K];
        int mark = (P - 1) / b.row_stretch;
#pragma unroll
        for (int k = 0; k < K; k++) T[k] = 0;
#pragma unroll
        for (int c = 0; c < C; c++) {
            const double close = (TWO ? gy : gx)[(size_t)(h + lane) * PER + in_slab(c, lane)];
#pragma unroll
            for (int k = 0; k < K; k++) D[c][k] = k ? 0 : close;
        }
        for (int i = 0; i < STAGES - 1; i++) fetch(i, batches, top, -1, 31, gx, gy, NULL, T_in, NULL);
        for (int i = 0; i < batches; i++) {
            wait<STAGES - 2>();
            __syncwarp();
            fetch(i + STAGES - 1, batches, top, -1, 31, gx, gy, NULL, T_in, NULL);
            const stage<N, C, TWO, BATCH> &from = stages[i % STAGES];
#pragma unroll 1
            for (int t = 0; t < BATCH; t++) {
                const int step = top - i * BATCH - t, row = step - lane;
                const bool on = row > h;
                double x[C], y[C];
                entries(from, t, on, x, y);
                enter(from.in[t] + RR, 31, T);
#pragma unroll
                for (int c = C - 1; c >= 0; c--) { // C[j+1] += T[j] B, T[j] += C[j] A, from the highest down
#pragma unroll
                    for (int j = K - 1; j >= 0; j--) {
                        if (j + 1 < K)
                            D[c][j + 1 < K ? j + 1 : j] = fma(T[j], y[c], D[c][j + 1 < K ? j + 1 : j]);
                        T[j] = fma(D[c][j], x[c], T[j]);
                    }
                }
                if (on && row == mark * b.row_stretch) {
#pragma unroll
                    for (int c = 0; c < C; c++)
                        save<K>(column(b.C, p, c) + (size_t)mark * b.columns * CR, D[c]);
                    mark--;
                }
                if (lane == 0 && on && row < P) save<K>(T_out + (size_t)row * RR, T);
#pragma unroll
                for (int k = 0; k < K; k++) T[k] = __shfl_down_sync(~0u, T[k], 1);
            }
            __syncwarp();
        }
        wait<0>();
#pragma unroll
        for (int c = 0; c < C; c++)
            save<K>(column(b.C, p, c) + (size_t)((h + 1) / b.row_stretch) * b.columns * CR, D[c]);
        __threadfence_block();
        __syncwarp();
    }

    // D of a stretch
    __device__ void take(int p, int mark, double (&D)[C][K]) const {
#pragma unroll
        for (int c = 0; c < C; c++) load<K>(column(b.C, p, c) + (size_t)mark * b.columns * CR, D[c]);
    }

    // One column of the walk forward
    static __device__ __forceinline__ void cross(double x, double y, double (&A)[N], double (&D)[K],
                                                 double (&V)[N], double (&R)[K], double (&T)[K],
                                                 double (&W)[K]) {
        double v[K];
#pragma unroll
        for (int j = 0; j < K; j++) {
            T[j] = fma(-x, D[j], T[j]);
            if (j + 1 < K) D[j + 1 < K ? j + 1 : j] = fma(-y, T[j], D[j + 1 < K ? j + 1 : j]);
        }
        A[K] = fma(R[K - 1], x, A[K]);
#pragma unroll
        for (int k = K - 1; k >= 0; k--) {
            const double old = A[k];
            v[k] = old * T[0];
#pragma unroll
            for (int i = k + 1; i < K; i++) v[i] = fma(old, T[i - k], v[i]);
            R[k] = fma(old, y, R[k]);
            if (k > 0) A[k] = fma(R[k > 0 ? k - 1 : 0], x, old);
        }
#pragma unroll
        for (int i = 0; i < K; i++) {
            W[i] = fma(y, v[i], W[i]);
            V[i + 1] = fma(y, v[i], V[i + 1]);
        }
    }

    __device__ void forth(int p, double (&sum)[N]) const {
        const double *gx = px + s.at(p), *gy = py + s.at(p);
        const int P = s.P, first = h + 1, batches = (P + 31 - first + BATCH - 1) / BATCH;
        const double *R_in = p ? b.R : NULL;
        double *T_mine = b.T + (size_t)(p / b.col_panels) * b.rows * RR;
        double A[C][N], D[C][K], V[C][N], R[K], T[K], W[K];
        int mark = (h + 1) / b.row_stretch;
        take(p, mark, D);
#pragma unroll
        for (int k = 0; k < K; k++) R[k] = T[k] = W[k] = 0;
#pragma unroll
        for (int c = 0; c < C; c++) {
            load<N>(column(b.V, p, c), V[c]);
#pragma unroll
            for (int k = 0; k < N; k++) A[c][k] = k ? 0 : gx[(size_t)(h + lane) * PER + in_slab(c, lane)];
        }
        for (int i = 0; i < STAGES - 1; i++) fetch(i, batches, first, 1, 0, gx, gy, R_in, T_mine, b.W);
        for (int i = 0; i < batches; i++) {
            wait<STAGES - 2>();
            __syncwarp();
            fetch(i + STAGES - 1, batches, first, 1, 0, gx, gy, R_in, T_mine, b.W);
            const stage<N, C, TWO, BATCH> &from = stages[i % STAGES];
#pragma unroll 1
            for (int t = 0; t < BATCH; t++) {
                const int row = first + i * BATCH + t - lane;
                const bool on = row > h;
                double x[C], y[C];
                entries(from, t, on, x, y);
                enter(from.in[t], 0, R);
                enter(from.in[t] + RR, 0, T);
                enter(from.in[t] + 2 * RR, 0, W);
                if (on && row == (mark + 1) * b.row_stretch && row < P) take(p, ++mark, D);
#pragma unroll
                for (int c = 0; c < C; c++) cross(x[c], y[c], A[c], D[c], V[c], R, T, W);
                if (lane == 31 && on && row < P) {
                    if (p + 1 < s.panels()) {
                        save<K>(b.R + (size_t)row * RR, R);
                        save<K>(T_mine + (size_t)row * RR, T);
                    }
                    save<K>(b.W + (size_t)row * RR, W);
                }
#pragma unroll
                for (int k = 0; k < K; k++) {
                    R[k] = __shfl_up_sync(~0u, R[k], 1);
                    T[k] = __shfl_up_sync(~0u, T[k], 1);
                    W[k] = __shfl_up_sync(~0u, W[k], 1);
                }
            }
            __syncwarp();
        }
        wait<0>();
#pragma unroll
        for (int c = 0; c < C; c++) {
            const double close = (TWO ? gy : gx)[(size_t)(h + lane) * PER + in_slab(c, lane)];
#pragma unroll
            for (int k = 0; k < N; k++) { // closes each cycle at its last column
                sum[k] = fma(A[c][k], close, sum[k]);
                V[c][k] = fma(A[c][k], close, V[c][k]);
            }
            save<N>(column(b.V, p, c), V[c]);
        }
        __threadfence_block();
        __syncwarp();
    }
};

// Start row k of a part, for warp `slot` of `slots`: back and forth, so that all warps get equally many long
// ones
__device__ __forceinline__ int start_row(int k, int slot, int slots) {
    return k * slots + (k & 1 ? slots - 1 - slot : slot);
}

template <int N, int C, bool TWO, int BATCH>
__global__ void __launch_bounds__(32 * WARPS, 1)
    walk(const double *px, const double *py, slabs s, int part, int parts, buffers b, volatile int *control,
         double *sums) {
    const int slots = gridDim.x * WARPS, slot = blockIdx.x * WARPS + threadIdx.x / 32,
              lane = threadIdx.x % 32;
    b.R += (size_t)slot * b.rows * row_record<N>();
    b.W += (size_t)slot * b.rows * row_record<N>();
    b.T += (size_t)slot * b.col_stretches * b.rows * row_record<N>();
    b.C += (size_t)slot * b.row_stretches * b.columns * col_record<N>();
    b.V += (size_t)slot * b.columns * col_record<N>();
    extern __shared__ __align__(16) unsigned char room[];
    typedef stage<N, C, TWO, BATCH> batch;
    batch *stages = (batch *)room + threadIdx.x / 32 * batch::STAGES;
    const int every = 1 + 65536 / s.P; // panels
    for (int k = 0; k * slots * parts < s.P; k++) {
        const int h = part + parts * start_row(k, slot, slots);
        if (h >= s.P) continue;
        if (slot == 0 && lane == 0) control[1] = k;
        const walker<N, C, TWO, BATCH> w = {px, py, s, b, h, lane, stages};
        double sum[N];
#pragma unroll
        for (int i = 0; i < N; i++) sum[i] = 0;
        for (int p = 0; p < 2 * s.panels(); p++) { // host memory is slow to reach: about every 30 ms
            if (p % every == 0 && __shfl_sync(~0u, lane ? 0 : control[0], 0)) return;
            if (p < s.panels())
                w.back(s.panels() - 1 - p);
            else
                w.forth(p - s.panels(), sum);
        }
#pragma unroll
        for (int i = 0; i < N; i++) {
            double v = sum[i];
#pragma unroll
            for (int o = 16; o; o /= 2) v += __shfl_xor_sync(~0u, v, o);
            if (lane == 0) sums[(size_t)h * N + i] = v;
        }
    }
}

// out[i] = the sum over slots of x[slot * count + i], in their order
__global__ void add_slots(const double *x, int slots, size_t count, double *out) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count;
         i += (size_t)gridDim.x * blockDim.x) {
        double sum = 0;
        for (int k = 0; k < slots; k++) sum += x[(size_t)k * count + i];
        out[i] = sum;
    }
}

struct shape {
    int N, C, row, col;
    cudaError_t (*launch)(int blocks, cudaStream_t stream, const double *px, const double *py, slabs s,
                          int part, int parts, buffers b, volatile int *control, double *sums);
};
template <int N, int C, bool TWO, int BATCH> constexpr size_t shared_of() {
    return WARPS * stage<N, C, TWO, BATCH>::STAGES * sizeof(stage<N, C, TWO, BATCH>);
}
template <int N, int C, bool TWO, int BATCH>
cudaError_t launch(int blocks, cudaStream_t stream, const double *px, const double *py, slabs s, int part,
                   int parts, buffers b, volatile int *control, double *sums) {
    const size_t shared = shared_of<N, C, TWO, BATCH>();
    cudaError_t e = cudaFuncSetAttribute(walk<N, C, TWO, BATCH>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                         (int)shared);
    if (e != cudaSuccess) return e;
    walk<N, C, TWO, BATCH><<<blocks, 32 * WARPS, shared, stream>>>(px, py, s, part, parts, b, control, sums);
    return cudaGetLastError();
}
// USUAL rows ahead, or SMALL for GPUs with less shared memory
enum { USUAL = 8, SMALL = 4 };
template <int N, int C, bool TWO> shape make(size_t shared) {
    static_assert(shared_of<N, C, TWO, SMALL>() <= GPU_LEAST_SHARED);
    return {N, C, row_record<N>(), col_record<N>(),
            shared_of<N, C, TWO, USUAL>() > shared ? launch<N, C, TWO, SMALL> : launch<N, C, TWO, USUAL>};
}
template <bool TWO> shape shape_for(int nmax, size_t shared) {
    switch (nmax) {
    case 1:
    case 2: return make<2, (TWO ? 2 : 4), TWO>(shared);
    case 3: return make<3, (TWO ? 2 : 4), TWO>(shared);
    case 4: return make<4, (TWO ? 2 : 4), TWO>(shared);
    case 5: return make<5, 2, TWO>(shared);
    case 6: return make<6, 2, TWO>(shared);
    case 7: return make<7, 2, TWO>(shared);
    }
    return make<8, 2, TWO>(shared);
}
shape shape_of(const ks_gpu *gpu, const ks_path_job *job) {
    return job->B == job->A ? shape_for<false>(job->nmax, gpu->shared)
                            : shape_for<true>(job->nmax, gpu->shared);
}

struct layout {
    slabs s;
    buffers b;
    int blocks, slots;
    size_t R, T, C, V; // doubles of all slots
};

layout layout_of(const ks_gpu *gpu, const ks_path_job *job, const shape &k) {
    layout l = {};
    const size_t P = job->P, parts = job->part.parts ? job->part.parts : 1, starts = (P + parts - 1) / parts,
                 groups = (starts + WARPS - 1) / WARPS, wide = 32 * (size_t)k.C;
    l.s = slabs_of(P, job->Q, k.C, 0, P + 32);
    l.blocks = groups < (size_t)gpu->processors ? (int)groups : gpu->processors;
    l.slots = l.blocks * WARPS;
    l.b.rows = P + 1;
    l.b.columns = l.s.panels() * wide;
    l.b.row_stretch = job->row_stretch ? (int)job->row_stretch : (int)P;
    l.b.row_stretches = (int)(P / l.b.row_stretch) + 1;
    const size_t panels = job->col_stretch / wide;
    l.b.col_panels = job->col_stretch == 0 ? l.s.panels() : panels ? (int)panels : 1;
    l.b.col_stretches = (l.s.panels() + l.b.col_panels - 1) / l.b.col_panels + 1;
    l.R = l.slots * l.b.rows * k.row;
    l.T = l.R * l.b.col_stretches;
    l.V = l.slots * l.b.columns * k.col;
    l.C = l.V * l.b.row_stretches;
    return l;
}

} // namespace

size_t path_loo_memory(ks_gpu *gpu, const ks_path_job *job) {
    ks_path_job j = *job;
    const shape k = shape_of(gpu, job);
    // stretches are chosen later: at high orders there are about three
    if (!j.row_stretch) j.row_stretch = job->P / 3 + 1, j.col_stretch = job->Q / 3 + 1;
    const layout l = layout_of(gpu, &j, k);
    const size_t trials = job->B == job->A ? 1 : 2;
    return sizeof(double) * (trials * l.s.count() + 2 * l.R + l.T + l.C + l.V + job->P * k.N);
}

// The number of start rows that gives every warp two of them, a long one and a short one; eight parts or a
// multiple of eight if there are that many, since machines often have eight GPUs
size_t gpu_path_parts(ks_gpu *gpu, const ks_path_job *job) {
    const size_t all = job->P / (2 * WARPS * (size_t)gpu->processors), parts = all > 64 ? 64 : all;
    return parts >= 8 ? parts / 8 * 8 : parts >= 4 ? 4 : parts ? parts : 1;
}

namespace {

// The device memory of a call; W to SUMS are zero at the beginning of a part, because rows of other parts
// also have sums
enum { R, W, T, C, V, SUMS, ROWS, COLS, HELD };

struct call {
    ks_gpu *gpu;
    const ks_path_job *job;
    shape k;
    layout l;
    double *px, *py, *host;
    void *held[2 + HELD];
    size_t size[HELD];
    double *at(int what) const { return (double *)held[2 + what]; }
};

ks_plugin_status run_part(const call &c, size_t part, double from, double to,
                          const ks_plugin_progress *progress) {
    ks_gpu *gpu = c.gpu;
    const ks_path_job *job = c.job;
    const size_t P = job->P, Q = job->Q, n = (size_t)job->nmax, parts = job->part.parts;
    const int slots = c.l.slots;
    ks_plugin_status st = KS_PLUGIN_OK;
    for (int i = W; i <= SUMS && !st; i++)
        st = gpu_check(gpu, cudaMemsetAsync(c.at(i), 0, c.size[i], gpu->stream));
    gpu->control[1] = 0;
    if (!st)
        st = gpu_check(gpu, c.k.launch(c.l.blocks, gpu->stream, c.px, c.py, c.l.s, (int)part, (int)parts,
                                       c.l.b, gpu->control_on_device, c.at(SUMS)));
    if (!st) {
        const size_t d = sizeof(double);
        add_slots<<<4 * gpu->processors, 256, 0, gpu->stream>>>(c.at(W), slots, c.size[ROWS] / d, c.at(ROWS));
        add_slots<<<4 * gpu->processors, 256, 0, gpu->stream>>>(c.at(V), slots, c.size[COLS] / d, c.at(COLS));
        st = gpu_check(gpu, cudaGetLastError());
    }
    const size_t rounds = (P + parts * slots - 1) / (parts * slots);
    if (!st) st = path_watch(gpu, (int)rounds, from, to, progress);
    double *host[3] = {c.host, c.host + P * c.k.N, c.host + P * c.k.N + c.size[ROWS] / sizeof(double)};
    for (int i = 0; i < 3 && !st; i++)
        st = gpu_check(gpu, cudaMemcpyAsync(host[i], c.at(SUMS + i), c.size[SUMS + i], cudaMemcpyDeviceToHost,
                                            gpu->stream));
    if (!st) st = gpu_wait(gpu);
    for (size_t i = 0; i < n && !st; i++) {
        double *rows = job->rows + (part * n + i) * P, *cols = job->cols + (part * n + i) * Q;
        for (size_t h = 0; h < P; h++) {
            const double start = h % parts == part ? host[0][h * c.k.N + i] : 0;
            if (h % parts == part) job->sums[h * n + i] = start;
            rows[h] = start + (i ? host[1][h * c.k.row + i - 1] : 0);
        }
        for (size_t a = 0; a < Q; a++) cols[a] = host[2][a * c.k.col + i];
    }
    return st;
}

} // namespace

ks_plugin_status path_loo(ks_gpu *gpu, const ks_path_job *job, const ks_plugin_progress *progress) {
    call c = {gpu, job, shape_of(gpu, job)};
    c.l = layout_of(gpu, job, c.k);
    const size_t d = sizeof(double), per_row = c.l.b.rows * c.k.row, per_col = c.l.b.columns * c.k.col;
    const size_t sizes[HELD] = {c.l.R * d, c.l.R * d,          c.l.T * d,   c.l.C * d,
                                c.l.V * d, job->P * c.k.N * d, per_row * d, per_col * d};
    memcpy(c.size, sizes, sizeof sizes);
    c.host = (double *)malloc(sizes[SUMS] + sizes[ROWS] + sizes[COLS]);
    ks_plugin_status st = c.host ? path_begin(gpu, job, c.l.s, &c.px, &c.py, c.held) : KS_PLUGIN_NOMEM;
    for (int i = 0; i < HELD && !st; i++) st = gpu_alloc(gpu, sizes[i], &c.held[2 + i]);
    double **to[] = {&c.l.b.R, &c.l.b.W, &c.l.b.T, &c.l.b.C, &c.l.b.V};
    for (int i = R; i <= V; i++) *to[i] = c.at(i);
    const part_list list = parts_of(job->part);
    for (int k = 0; k < list.count && !st; k++)
        st = run_part(c, list.at[k], (double)k / list.count, (k + 1.0) / list.count, progress);
    for (int i = 0; i < 2 + HELD; i++) gpu_release(gpu, c.held[i]);
    free(c.host);
    return st;
}
