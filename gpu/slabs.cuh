// The matrix as path reads it. A warp processes 32 C columns at a time, a panel. Lane l has C of them, in
// pairs, and at step s is at row s - l, so that sums over a row pass from lane to lane. Slab s of a panel
// holds the entries that the lanes read at step s, pair by pair, so that a warp reads it in one piece. The
// last panel may be narrower.
#pragma once

#include "gpu.cuh"

struct slabs {
    int P, Q, C, last_C, full; // `full` panels of C columns a lane, then one of last_C unless that is 0
    size_t steps;              // slabs in a panel
    __host__ __device__ int panels() const { return full + (last_C > 0); }
    // the beginning of panel p
    __host__ __device__ size_t at(int p) const { return (size_t)p * steps * 32 * C; }
    size_t count() const { return at(full) + steps * 32 * last_C; }
};

// narrow: the C allowed for the last panel
static inline slabs slabs_of(size_t P, size_t Q, int C, int narrow, size_t steps) {
    slabs s = {(int)P, (int)Q, C, 0, (int)(Q / (32 * (size_t)C)), steps};
    const size_t rest = Q - (size_t)s.full * 32 * C;
    if (rest > 32 * (size_t)narrow)
        s.full++;
    else if (rest)
        s.last_C = narrow;
    return s;
}

// out = the slabs of x, scaled; 0 beyond the matrix
static __global__ void pack_slabs(const double *x, slabs s, double scale, double *out) {
    const size_t whole = s.at(s.full), all = whole + s.steps * 32 * (size_t)s.last_C;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < all;
         i += (size_t)gridDim.x * blockDim.x) {
        const int last = i >= whole, C = last ? s.last_C : s.C;
        const size_t from = last ? i - whole : i, slab = from / (32 * C), in = from % (32 * C);
        const size_t p = last ? (size_t)s.full : slab / s.steps, step = slab % s.steps;
        const long j = (long)(in / 64), l = (long)(in % 64 / 2), e = (long)(in & 1);
        const long row = (long)step - l, col = (long)(p * 32 * s.C) + l * C + 2 * j + e;
        out[i] = row >= 0 && row < s.P && col < s.Q ? scale * x[(size_t)row * s.Q + col] : 0;
    }
}

// Entry c of lane l in a slab
__device__ __forceinline__ int in_slab(int c, int lane) { return c / 2 * 64 + lane * 2 + (c & 1); }
