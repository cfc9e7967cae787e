// A warp is one start row h, lanes and slabs as in path.cuh. It walks back from the last row and column and
// leaves C after every stretch of rows, T after every stretch of columns; then forward with A and R, taking
// rows and columns out of C and T again, and adds up the cycles through each column (V) and row (W). Start
// rows belong to warps by number, so that every sum has its order. A warp reads its slabs by itself: there is
// six times as much arithmetic for each entry as without V and W.
#include "path_loo.cuh"

#include <stdlib.h>
#include <string.h>

namespace {

enum { WARPS = 8 };

// Memory of the warps, one after the other: rows x record doubles each
struct buffers {
    double *R, *W;   // of a row: orders 1 ... N-1
    double *T;       // col_stretches x rows: the same
    double *C;       // row_stretches x 32-lane columns x record
    double *V;       // columns x record: orders 1 ... N
    size_t rows, columns;
    int row_stretch, row_stretches, col_panels, col_stretches;
};

template <int N> __host__ __device__ constexpr int row_record() { return N & ~1; }
template <int N> __host__ __device__ constexpr int col_record() { return (N + 1) & ~1; }

template <int K> __device__ __forceinline__ void load(const double *p, double (&v)[K], bool on) {
#pragma unroll
    for (int k = 0; k < K; k += 2) {
        double2 x = make_double2(0, 0);
        if (on) x = *(const double2 *)(p + k);
        v[k] = x.x;
        if (k + 1 < K) v[k + 1 < K ? k + 1 : k] = x.y;
    }
}
template <int K> __device__ __forceinline__ void save(double *p, const double (&v)[K]) {
#pragma unroll
    for (int k = 0; k < K; k += 2) *(double2 *)(p + k) = make_double2(v[k], k + 1 < K ? v[k + 1 < K ? k + 1 : k] : 0);
}

// The entries of one slab for this lane, 0 unless `on`
template <int C> __device__ __forceinline__ void entries(const double *slab, int lane, double (&x)[C]) {
#pragma unroll
    for (int j = 0; j < C / 2; j++) {
        const double2 v = __ldg((const double2 *)slab + j * 32 + lane);
        x[2 * j] = v.x, x[2 * j + 1] = v.y;
    }
}

template <int N, int C, bool TWO> struct walker {
    static constexpr int K = N - 1, PER = 32 * C, RR = row_record<N>(), CR = col_record<N>();
    const double *px, *py;
    slabs s;
    buffers b;
    int h, lane;

    __device__ double *column(double *base, int p, int c) const {
        return base + ((size_t)p * PER + lane * C + c) * CR;
    }

    // C (here D) and T of panel p, for all rows after h
    __device__ void back(int p) const {
        const double *gx = px + s.at(p), *gy = py + s.at(p);
        const int P = s.P, from = (p + 1) / b.col_panels, to = p / b.col_panels;
        const bool last = p + 1 == s.panels();
        const double *T_in = b.T + (size_t)from * b.rows * RR;
        double *T_out = b.T + (size_t)to * b.rows * RR;
        double D[C][K], T[K], close[C], x[C], y[C];
#pragma unroll
        for (int c = 0; c < C; c++) {
            close[c] = (TWO ? gy : gx)[(size_t)(h + lane) * PER + in_slab(c, lane)];
#pragma unroll
            for (int k = 0; k < K; k++) D[c][k] = k ? 0 : close[c];
        }
        // lane 31 begins with row P-1
        int step = P - 1 + 31, mark = (P - 1) / b.row_stretch;
        load<K>(T_in + (size_t)(P - 1) * RR, T, lane == 31 && !last);
        entries<C>(gx + (size_t)step * PER, lane, x);
        if (TWO) entries<C>(gy + (size_t)step * PER, lane, y);
        for (; step > h; step--) {
            const int row = step - lane;
            double next_x[C], next_y[C], T_next[K];
            entries<C>(gx + (size_t)(step - 1) * PER, lane, next_x); // step - 1 >= h >= 0
            if (TWO) entries<C>(gy + (size_t)(step - 1) * PER, lane, next_y);
            load<K>(T_in + (size_t)(row - 1) * RR, T_next, lane == 31 && !last && row - 1 > h);
            const bool on = row > h;
#pragma unroll
            for (int c = C - 1; c >= 0; c--) {
                const double a = on ? x[c] : 0, e = TWO ? (on ? y[c] : 0) : a;
                // C[j+1] += T[j] B, T[j] += C[j] A, from the highest down
#pragma unroll
                for (int j = K - 1; j >= 0; j--) {
                    if (j + 1 < K) D[c][j + 1 < K ? j + 1 : j] = fma(T[j], e, D[c][j + 1 < K ? j + 1 : j]);
                    T[j] = fma(D[c][j], a, T[j]);
                }
            }
            if (on && row == mark * b.row_stretch) {
#pragma unroll
                for (int c = 0; c < C; c++) save<K>(column(b.C, p, c) + (size_t)mark * b.columns * CR, D[c]);
                mark--;
            }
            if (lane == 0 && on && row < P) save<K>(T_out + (size_t)row * RR, T);
#pragma unroll
            for (int k = 0; k < K; k++) {
                const double v = __shfl_down_sync(~0u, T[k], 1);
                T[k] = lane == 31 ? T_next[k] : v;
            }
#pragma unroll
            for (int c = 0; c < C; c++) {
                x[c] = next_x[c];
                if (TWO) y[c] = next_y[c];
            }
        }
#pragma unroll
        for (int c = 0; c < C; c++)
            save<K>(column(b.C, p, c) + (size_t)((h + 1) / b.row_stretch) * b.columns * CR, D[c]);
        __syncwarp();
    }

    // D of a stretch
    __device__ void take(int p, int mark, double (&D)[C][K]) const {
#pragma unroll
        for (int c = 0; c < C; c++) load<K>(column(b.C, p, c) + (size_t)mark * b.columns * CR, D[c], true);
    }

    __device__ void forth(int p, double (&sum)[N]) const {
        const double *gx = px + s.at(p), *gy = py + s.at(p);
        const int P = s.P;
        double *T_mine = b.T + (size_t)(p / b.col_panels) * b.rows * RR;
        double A[C][N], D[C][K], V[C][N], R[K], T[K], W[K], x[C], y[C];
        int mark = (h + 1) / b.row_stretch;
        take(p, mark, D);
#pragma unroll
        for (int c = 0; c < C; c++) {
            load<N>(column(b.V, p, c), V[c], true);
#pragma unroll
            for (int k = 0; k < N; k++) A[c][k] = k ? 0 : gx[(size_t)(h + lane) * PER + in_slab(c, lane)];
        }
        const bool in = lane == 0 && h + 1 < P;
        load<K>(b.R + (size_t)(h + 1) * RR, R, in && p > 0);
        load<K>(T_mine + (size_t)(h + 1) * RR, T, in);
        load<K>(b.W + (size_t)(h + 1) * RR, W, in);
        entries<C>(gx + (size_t)(h + 1) * PER, lane, x);
        if (TWO) entries<C>(gy + (size_t)(h + 1) * PER, lane, y);
        for (int step = h + 1; step < P + 31; step++) {
            const int row = step - lane;
            const bool on = row > h, more = lane == 0 && step + 1 < P;
            double next_x[C], next_y[C], R_next[K], T_next[K], W_next[K];
            entries<C>(gx + (size_t)(step + 1) * PER, lane, next_x);
            if (TWO) entries<C>(gy + (size_t)(step + 1) * PER, lane, next_y);
            load<K>(b.R + (size_t)(step + 1) * RR, R_next, more && p > 0);
            load<K>(T_mine + (size_t)(step + 1) * RR, T_next, more);
            load<K>(b.W + (size_t)(step + 1) * RR, W_next, more);
            if (on && row == (mark + 1) * b.row_stretch && row < P) take(p, ++mark, D);
#pragma unroll
            for (int c = 0; c < C; c++) {
                const double a = on ? x[c] : 0, e = TWO ? (on ? y[c] : 0) : a;
                double v[K];
#pragma unroll
                for (int j = 0; j < K; j++) {
                    T[j] = fma(-a, D[c][j], T[j]);
                    if (j + 1 < K) D[c][j + 1 < K ? j + 1 : j] = fma(-e, T[j], D[c][j + 1 < K ? j + 1 : j]);
                }
                A[c][K] = fma(R[K - 1], a, A[c][K]);
#pragma unroll
                for (int k = K - 1; k >= 0; k--) {
                    const double old = A[c][k];
                    v[k] = old * T[0];
#pragma unroll
                    for (int i = k + 1; i < K; i++) v[i] = fma(old, T[i - k], v[i]);
                    R[k] = fma(old, e, R[k]);
                    if (k > 0) A[c][k] = fma(R[k > 0 ? k - 1 : 0], a, old);
                }
#pragma unroll
                for (int i = 0; i < K; i++) {
                    W[i] = fma(e, v[i], W[i]);
                    V[c][i + 1] = fma(e, v[i], V[c][i + 1]);
                }
            }
            if (lane == 31 && on && row < P) {
                if (p + 1 < s.panels()) {
                    save<K>(b.R + (size_t)row * RR, R);
                    save<K>(T_mine + (size_t)row * RR, T);
                }
                save<K>(b.W + (size_t)row * RR, W);
            }
#pragma unroll
            for (int k = 0; k < K; k++) {
                const double r = __shfl_up_sync(~0u, R[k], 1), t = __shfl_up_sync(~0u, T[k], 1),
                             w = __shfl_up_sync(~0u, W[k], 1);
                R[k] = lane ? r : R_next[k], T[k] = lane ? t : T_next[k], W[k] = lane ? w : W_next[k];
            }
#pragma unroll
            for (int c = 0; c < C; c++) {
                x[c] = next_x[c];
                if (TWO) y[c] = next_y[c];
            }
        }
#pragma unroll
        for (int c = 0; c < C; c++) {
            const double close = (TWO ? gy : gx)[(size_t)(h + lane) * PER + in_slab(c, lane)];
#pragma unroll
            for (int k = 0; k < N; k++) { // the last column of each cycle, from which the walk goes back to h
                sum[k] = fma(A[c][k], close, sum[k]);
                V[c][k] = fma(A[c][k], close, V[c][k]);
            }
            save<N>(column(b.V, p, c), V[c]);
        }
        __syncwarp();
    }
};

// Start row k of warp `slot` of `slots`: to and fro, so that all warps get as many long ones
__device__ __forceinline__ int start_row(int k, int slot, int slots) {
    return k * slots + (k & 1 ? slots - 1 - slot : slot);
}

template <int N, int C, bool TWO>
__global__ void __launch_bounds__(32 * WARPS, 1)
    walk(const double *px, const double *py, slabs s, buffers b, volatile int *control, double *sums) {
    const int slots = gridDim.x * WARPS, slot = blockIdx.x * WARPS + threadIdx.x / 32, lane = threadIdx.x % 32;
    b.R += (size_t)slot * b.rows * row_record<N>();
    b.W += (size_t)slot * b.rows * row_record<N>();
    b.T += (size_t)slot * b.col_stretches * b.rows * row_record<N>();
    b.C += (size_t)slot * b.row_stretches * b.columns * col_record<N>();
    b.V += (size_t)slot * b.columns * col_record<N>();
    for (int k = 0; k * slots < s.P; k++) {
        const int h = start_row(k, slot, slots);
        if (h >= s.P) continue;
        const int stop = __shfl_sync(~0u, control[0], 0);
        if (stop) return;
        if (slot == 0 && lane == 0) control[1] = k;
        const walker<N, C, TWO> w = {px, py, s, b, h, lane};
        double sum[N];
#pragma unroll
        for (int i = 0; i < N; i++) sum[i] = 0;
        for (int p = s.panels(); p-- > 0;) w.back(p);
        for (int p = 0; p < s.panels(); p++) w.forth(p, sum);
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
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x) {
        double sum = 0;
        for (int k = 0; k < slots; k++) sum += x[(size_t)k * count + i];
        out[i] = sum;
    }
}

struct shape {
    int N, C, row, col;
    void (*launch)(int blocks, cudaStream_t stream, const double *px, const double *py, slabs s, buffers b,
                   volatile int *control, double *sums);
};
template <int N, int C, bool TWO>
void launch(int blocks, cudaStream_t stream, const double *px, const double *py, slabs s, buffers b,
            volatile int *control, double *sums) {
    walk<N, C, TWO><<<blocks, 32 * WARPS, 0, stream>>>(px, py, s, b, control, sums);
}
template <int N, int C, bool TWO> shape make() {
    return {N, C, row_record<N>(), col_record<N>(), launch<N, C, TWO>};
}
template <bool TWO> shape shape_for(int nmax) {
    switch (nmax) {
    case 1:
    case 2: return make<2, 4, TWO>();
    case 3: return make<3, 4, TWO>();
    case 4: return make<4, 4, TWO>();
    case 5: return make<5, 2, TWO>();
    case 6: return make<6, 2, TWO>();
    case 7: return make<7, 2, TWO>();
    }
    return make<8, 2, TWO>();
}
shape shape_of(const ks_path_job *job) {
    return job->B == job->A ? shape_for<false>(job->nmax) : shape_for<true>(job->nmax);
}

struct layout {
    slabs s;
    buffers b;
    int blocks, slots;
    size_t R, T, C, V; // doubles of all slots
};

layout layout_of(const ks_gpu *gpu, const ks_path_job *job, const shape &k) {
    layout l = {};
    const size_t P = job->P, groups = (P + WARPS - 1) / WARPS, wide = 32 * (size_t)k.C;
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
    const shape k = shape_of(job);
    // stretches are chosen later: at high orders there are about three
    if (!j.row_stretch) j.row_stretch = job->P / 3 + 1, j.col_stretch = job->Q / 3 + 1;
    const layout l = layout_of(gpu, &j, k);
    const size_t trials = job->B == job->A ? 1 : 2;
    return sizeof(double) * (trials * l.s.count() + 2 * l.R + l.T + l.C + l.V + job->P * k.N);
}

ks_plugin_status path_loo(ks_gpu *gpu, const ks_path_job *job, const ks_plugin_progress *progress) {
    const shape k = shape_of(job);
    layout l = layout_of(gpu, job, k);
    const size_t P = job->P, Q = job->Q, n = (size_t)job->nmax, per_row = l.b.rows * k.row,
                 per_col = l.b.columns * k.col, d = sizeof(double);
    const size_t sizes[] = {l.R * d, l.R * d, l.T * d, l.C * d, l.V * d, P * k.N * d, per_row * d, per_col * d};
    void *held[10] = {0};
    double *px, *py, *host = (double *)malloc((P * k.N + per_row + per_col) * d);
    cudaSetDevice(gpu->device);
    ks_plugin_status st = host ? path_begin(gpu, job, l.s, &px, &py, held) : KS_PLUGIN_NOMEM;
    for (int i = 0; i < 8 && !st; i++) st = gpu_alloc(gpu, sizes[i], &held[2 + i]);
    double **to[] = {&l.b.R, &l.b.W, &l.b.T, &l.b.C, &l.b.V};
    for (int i = 0; i < 5; i++) *to[i] = (double *)held[2 + i];
    for (int i = 1; i < 5 && !st; i++) st = gpu_check(gpu, cudaMemsetAsync(held[2 + i], 0, sizes[i], gpu->stream));
    double *sums = (double *)held[7], *rows = (double *)held[8], *cols = (double *)held[9];
    if (!st) {
        k.launch(l.blocks, gpu->stream, px, py, l.s, l.b, gpu->control, sums);
        add_slots<<<4 * gpu->processors, 256, 0, gpu->stream>>>(l.b.W, l.slots, per_row, rows);
        add_slots<<<4 * gpu->processors, 256, 0, gpu->stream>>>(l.b.V, l.slots, per_col, cols);
        st = gpu_check(gpu, cudaGetLastError());
    }
    if (!st) st = path_watch(gpu, (int)((P + l.slots - 1) / l.slots), progress);
    if (!st) st = gpu_check(gpu, cudaMemcpyAsync(host, sums, P * k.N * d, cudaMemcpyDeviceToHost, gpu->stream));
    double *h_rows = host + P * k.N, *h_cols = h_rows + per_row;
    if (!st) st = gpu_check(gpu, cudaMemcpyAsync(h_rows, rows, per_row * d, cudaMemcpyDeviceToHost, gpu->stream));
    if (!st) st = gpu_check(gpu, cudaMemcpyAsync(h_cols, cols, per_col * d, cudaMemcpyDeviceToHost, gpu->stream));
    if (!st) st = gpu_wait(gpu);
    for (size_t i = 0; i < n && !st; i++) {
        for (size_t h = 0; h < P; h++) {
            const double start = host[h * k.N + i];
            job->sums[h * n + i] = start;
            job->rows[i * P + h] = start + (i ? h_rows[h * k.row + i - 1] : 0);
        }
        for (size_t a = 0; a < Q; a++) job->cols[i * Q + a] = h_cols[a * k.col + i];
    }
    for (int i = 0; i < 10; i++) gpu_release(gpu, held[i]);
    free(host);
    return st;
}
