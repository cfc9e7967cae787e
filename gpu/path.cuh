// path on a GPU. A warp is one start row h. Its lanes hold A[2...N] of C columns each in registers while they
// walk down the rows, one step apart, and R of a row passes from lane to lane; at the edge of a panel it goes
// through memory. The warps of a block walk together and share the slabs, which are prefetched.
#pragma once

#include "slabs.cuh"

namespace path {

// The shape of a block: its warps, the steps between barriers, and the number of such batches in shared
// memory
template <int W, int B, int S> struct how { static constexpr int WARPS = W, BATCH = B, STAGES = S; };

__device__ __forceinline__ void fetch16(void *s, const void *g) {
    const uint32_t a = (uint32_t)__cvta_generic_to_shared(s);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(a), "l"(g));
}
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;"); }
template <int K> __device__ __forceinline__ void wait() { asm volatile("cp.async.wait_group %0;" ::"n"(K)); }

// One column: A[k] is the sum of order k+2, R[k] the sum of order k+1. The loop goes from the highest order
// down, so that each value is read just before it is overwritten and nothing is copied.
template <int N, int C>
__device__ __forceinline__ void column(int c, double (&A)[N - 1][C], double A1, double (&R)[N - 1], double x,
                                       double y) {
#pragma unroll
    for (int k = N - 2; k >= 0; k--) {
        A[k][c] = fma(R[k], x, A[k][c]);
        if (k > 0) R[k] = fma(A[k - 1][c], y, R[k]);
    }
    R[0] = fma(A1, y, R[0]);
}

// A lane's columns of one row. x and y are the first pair; on return they are the first pair of the next slab
// (nx, ny).
template <int N, int C, bool TWO, bool MASK>
__device__ __forceinline__ void step(double (&A)[N - 1][C], const double (&A1)[C], double (&R)[N - 1],
                                     double2 &x, double2 &y, const double2 *xs, const double2 *ys,
                                     const double2 *nx, const double2 *ny, bool on, int lane) {
#pragma unroll
    for (int j = 0; j < C / 2; j++) {
        double2 u = j + 1 < C / 2 ? xs[(j + 1) * 32 + lane] : nx[lane], v;
        if (TWO) v = j + 1 < C / 2 ? ys[(j + 1) * 32 + lane] : ny[lane];
        double2 xx = x, yy = TWO ? y : x;
        if (MASK && !on) xx.x = xx.y = yy.x = yy.y = 0;
        column<N, C>(2 * j, A, A1[2 * j], R, xx.x, yy.x);
        column<N, C>(2 * j + 1, A, A1[2 * j + 1], R, xx.y, yy.y);
        x = u;
        if (TWO) y = v;
    }
}

// The layout of R in memory: pairs, for 16 bytes at a time
template <int N> __host__ __device__ constexpr int record() { return N & ~1; }

// One panel: start row h, rows from `first` on. total[k] += the cycles that close in it, by lane 0.
template <int N, int C, bool TWO, class H>
__device__ __forceinline__ void panel(const double *gx, const double *gy, int P, int h, int hmax, int first,
                                      int batches, bool leftmost, bool rightmost, double *slab, double *rin,
                                      double *rout, double *R_mine, double *total) {
    constexpr int WARPS = H::WARPS, BATCH = H::BATCH, STAGES = H::STAGES, PER = 32 * C, K = N - 1,
                  KP = record<N>(), RB = BATCH * KP, RI = RB + KP;
    const int lane = threadIdx.x % 32;
    auto fetch = [&](int b) {
        if (b < batches) {
            const int st = b % STAGES, s = first + b * BATCH;
            double *to = slab + st * (1 + TWO) * BATCH * PER;
            for (int i = threadIdx.x; i < BATCH * PER / 2; i += 32 * WARPS) {
                fetch16(to + 2 * i, gx + (size_t)s * PER + 2 * i);
                if (TWO) fetch16(to + BATCH * PER + 2 * i, gy + (size_t)s * PER + 2 * i);
            }
            if (!leftmost)
                for (int i = lane; i < RI / 2; i += 32)
                    fetch16(rin + st * RI + 2 * i, R_mine + (size_t)s * KP + 2 * i);
            else
                for (int i = lane; i < RI; i += 32) rin[st * RI + i] = 0;
        }
        commit();
    };
    double A[K][C], A1[C], R[K];
#pragma unroll
    for (int c = 0; c < C; c++) { // row h of lane l is in slab h+l
        A1[c] = h < P ? gx[(size_t)(h + lane) * PER + in_slab(c, lane)] : 0;
#pragma unroll
        for (int k = 0; k < K; k++) A[k][c] = 0;
    }
#pragma unroll
    for (int k = 0; k < K; k++) R[k] = 0; // row `first` <= h: no sums come in
    __syncthreads();                      // the stages are free, and R_mine is written
    for (int b = 0; b < STAGES - 1; b++) fetch(b);
    for (int b = 0; b < batches; b++) {
        wait<STAGES - 2>();
        __syncthreads();
        fetch(b + STAGES - 1);
        const int st = b % STAGES, s0 = first + b * BATCH;
        const double2 *xs = (const double2 *)(slab + st * (1 + TWO) * BATCH * PER);
        const double2 *ys = xs + BATCH * PER / 2;
        const double *ri = rin + st * RI;
        double2 x = xs[lane], y;
        if (TWO) y = ys[lane];
        auto incoming = [&](int t, double(&r)[KP]) {
#pragma unroll
            for (int k = 0; k < KP; k += 2) {
                const double2 v = *(const double2 *)(ri + (t + 1) * KP + k);
                r[k] = v.x, r[k + 1] = v.y;
            }
        };
        auto pass = [&](int t,
                        const double(&r)[KP]) { // lane 31 passes its row on, lane 0 receives the next one
            const uint32_t to = (uint32_t)__cvta_generic_to_shared(rout + t * KP);
#pragma unroll
            for (int k = 0; k < K; k += 2)
                asm volatile(
                    "{ .reg .pred p; setp.eq.s32 p, %3, 31; @p st.shared.v2.f64 [%0], {%1, %2}; }" ::"r"(
                        to + 8 * k),
                    "d"(R[k]), "d"(k + 1 < K ? R[k + 1 < K ? k + 1 : k] : 0.0), "r"(lane)
                    : "memory");
#pragma unroll
            for (int k = 0; k < K; k++) {
                const double v = __shfl_up_sync(~0u, R[k], 1);
                R[k] = lane ? v : r[k];
            }
        };
        const bool early = s0 <= hmax + 32; // some lanes have not yet passed row h
#pragma unroll 1
        for (int t = 0; t < BATCH && early; t++) {
            const double2 *xt = xs + t * PER / 2, *yt = ys + t * PER / 2;
            const double2 *xn = t + 1 < BATCH ? xt + PER / 2 : xt, *yn = t + 1 < BATCH ? yt + PER / 2 : yt;
            step<N, C, TWO, true>(A, A1, R, x, y, xt, yt, xn, yn, s0 + t - lane > h, lane);
            double r[KP];
            incoming(t, r);
            if (s0 + t + 1 <= h)
#pragma unroll
                for (int k = 0; k < KP; k++) r[k] = 0;
            pass(t, r);
        }
#pragma unroll 1
        for (int t = 0; t < BATCH && !early; t++) {
            const double2 *xt = xs + t * PER / 2, *yt = ys + t * PER / 2;
            const double2 *xn = t + 1 < BATCH ? xt + PER / 2 : xt, *yn = t + 1 < BATCH ? yt + PER / 2 : yt;
            double r[KP];
            incoming(t, r);
            step<N, C, TWO, false>(A, A1, R, x, y, xt, yt, xn, yn, true, lane);
            pass(t, r);
        }
        __syncwarp();
        if (!rightmost)
            for (int i = lane; i < RB / 2; i += 32) {
                const int row = s0 - 31 + 2 * i / KP;
                if (row >= 0)
                    *(double2 *)(R_mine + (size_t)row * KP + 2 * i % KP) = *(const double2 *)(rout + 2 * i);
            }
        __syncwarp();
    }
    wait<0>();
    __threadfence_block();
    double sum[N]; // not carried through the panel, which uses all registers
#pragma unroll
    for (int k = 0; k < N; k++) sum[k] = 0;
#pragma unroll
    for (int c = 0; c < C; c++) {
        const double *from = TWO ? gy : gx;
        const double close = h < P ? from[(size_t)(h + lane) * PER + in_slab(c, lane)] : 0;
        sum[0] = fma(A1[c], close, sum[0]);
#pragma unroll
        for (int k = 0; k < K; k++) sum[k + 1] = fma(A[k][c], close, sum[k + 1]);
    }
#pragma unroll
    for (int k = 0; k < N; k++) {
        double v = sum[k];
#pragma unroll
        for (int o = 16; o; o /= 2) v += __shfl_xor_sync(~0u, v, o);
        if (lane == 0) total[k] += v;
    }
}

// The start rows of a list of parts, in their order, and a few beyond the last
__host__ __device__ inline int starts_of(const part_list &l, int P) {
    return (P + l.parts - 1) / l.parts * l.count;
}
__device__ __forceinline__ int start_row(const part_list &l, int i) {
    return i / l.count * l.parts + l.at[i % l.count];
}

// control[0]: stop; control[1]: groups begun; both are in host memory. Blocks take the next group of WARPS
// start rows, the longest first; each writes the sums of its own rows.
template <int N, int C, int NARROW, bool TWO, class H>
__global__ void __launch_bounds__(32 * H::WARPS, 8 / H::WARPS)
    kernel(const double *px, const double *py, slabs s, part_list list, double *R, unsigned *next,
           volatile int *control, double *sums) {
    constexpr int WARPS = H::WARPS, BATCH = H::BATCH, STAGES = H::STAGES;
    constexpr int RB = BATCH * record<N>(), RI = RB + record<N>();
    extern __shared__ __align__(16) double room[];
    __shared__ unsigned got;
    __shared__ double totals[WARPS][N];
    double *slab = room;                                      // STAGES x (1+TWO) x BATCH x 32 C
    double *rin = slab + STAGES * (1 + TWO) * BATCH * 32 * C; // WARPS x STAGES x RI
    double *rout = rin + WARPS * STAGES * RI;                 // WARPS x RB
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, P = s.P;
    double *R_mine = R + ((size_t)blockIdx.x * WARPS + warp) * s.steps * record<N>();
    rin += warp * STAGES * RI, rout += warp * RB;
    const int groups = (starts_of(list, P) + WARPS - 1) / WARPS;
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0) {
            got = control[0] ? (unsigned)groups : atomicAdd(next, 1u);
            if (got < (unsigned)groups) control[1] = (int)got;
        }
        __syncthreads();
        const int g = (int)got;
        if (g >= groups) return;
        const int h = start_row(list, g * WARPS + warp), hmax = start_row(list, g * WARPS + WARPS - 1);
        const int first = (start_row(list, g * WARPS) + 1) / BATCH * BATCH;
        const int batches = (P + 31 - first + BATCH - 1) / BATCH; // rows first ... P-1 through all lanes
        double *total = totals[warp];
        if (lane == 0)
            for (int k = 0; k < N; k++) total[k] = 0;
        for (int p = 0; p < s.full; p++)
            panel<N, C, TWO, H>(px + s.at(p), py + s.at(p), P, h, hmax, first, batches, p == 0,
                                p + 1 == s.panels(), slab, rin, rout, R_mine, total);
        if (s.last_C)
            panel<N, NARROW, TWO, H>(px + s.at(s.full), py + s.at(s.full), P, h, hmax, first, batches,
                                     s.full == 0, true, slab, rin, rout, R_mine, total);
        if (h < P && lane == 0)
            for (int k = 0; k < N; k++) sums[(size_t)h * N + k] = total[k];
    }
}

// The functions for a call, by order
struct shape {
    int N, C, narrow, warps, batch;
    size_t record, shared;
    void (*launch)(int blocks, size_t shared, cudaStream_t stream, const double *px, const double *py,
                   slabs s, const part_list &list, double *R, unsigned *next, volatile int *control,
                   double *sums);
    // allows that much shared memory; returns how many blocks then fit on a multiprocessor
    cudaError_t (*prepare)(size_t shared, int *blocks);
};

template <int N, int C, int NARROW, bool TWO, class H>
void launch(int blocks, size_t shared, cudaStream_t stream, const double *px, const double *py, slabs s,
            const part_list &list, double *R, unsigned *next, volatile int *control, double *sums) {
    kernel<N, C, NARROW, TWO, H>
        <<<blocks, 32 * H::WARPS, shared, stream>>>(px, py, s, list, R, next, control, sums);
}
template <int N, int C, int NARROW, bool TWO, class H> cudaError_t prepare(size_t shared, int *blocks) {
    const auto k = kernel<N, C, NARROW, TWO, H>;
    const cudaError_t e = cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    return e ? e : cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, k, 32 * H::WARPS, shared);
}
// The shared memory of a block, in bytes
template <int N, int C, bool TWO, class H> constexpr size_t shared_of() {
    const size_t in = (H::BATCH + 1) * (size_t)record<N>(), out = H::BATCH * (size_t)record<N>(),
                 slab = (size_t)(1 + TWO) * H::BATCH * 32 * C;
    return sizeof(double) * (H::STAGES * slab + H::WARPS * (H::STAGES * in + out));
}
template <int N, int C, int NARROW, bool TWO, class H = how<8, 8, 3>> shape make_shape() {
    return {N,
            C,
            NARROW,
            H::WARPS,
            H::BATCH,
            (size_t)record<N>(),
            shared_of<N, C, TWO, H>(),
            launch<N, C, NARROW, TWO, H>,
            prepare<N, C, NARROW, TWO, H>};
}

// The shared memory of a block beyond shared_of(), at most: `got` and `totals`
enum { STATIC = 2048 };

// The shape for orders up to nmax, for blocks with this much shared memory. path_one.cu and path_two.cu
// define it, because they take long to compile
shape shape_one(int nmax, size_t shared);
shape shape_two(int nmax, size_t shared);

} // namespace path
