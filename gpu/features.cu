// Random Fourier features from their phases. The cosine does the same operations as src/simd/cos_turns.c, so
// that the same phase gives the same bits.
#include "gpu.cuh"

namespace {

// sin(2 pi s)/s in powers of s^2 on [0, 1/16], minimax
__constant__ double C[] = {6.2831853071795864753,  -41.341702240399756229,  81.605249276073406093,
                           -76.705859752798497458, 42.058693923785235852,   -15.09464162050996145,
                           3.8199270504789338467,  -0.71772358015544981943, 0.10085633077354055854};

__device__ __forceinline__ double cos_turns(double t) {
    const double s = 0.25 - fabs(t - rint(t)), u = __dmul_rn(s, s);
    double p = C[8];
#pragma unroll
    for (int k = 7; k >= 0; k--) p = fma(p, u, C[k]);
    return __dmul_rn(p, s);
}

// A thread computes one column, and every gridDim.y-th row.
__global__ void cosines(size_t rows, size_t cols, const double *b, double scale, double *Z) {
    const size_t j = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (j >= cols) return;
    const double phase = b[j];
    for (size_t i = blockIdx.y; i < rows; i += gridDim.y) {
        double *z = Z + i * cols + j;
        *z = __dmul_rn(scale, cos_turns(__dadd_rn(*z, phase)));
    }
}

} // namespace

ks_plugin_status gpu_cosines(ks_gpu *gpu, size_t rows, size_t cols, const double *b, double scale,
                             double *Z) {
    const unsigned wide = (unsigned)((cols + 127) / 128), high = rows > 8192 ? 8192 : (unsigned)rows;
    ks_plugin_status st = gpu_enter(gpu);
    if (st) return st;
    cosines<<<dim3(wide, high), 128, 0, gpu->stream>>>(rows, cols, b, scale, Z);
    gpu->queued += 60 * (double)rows * (double)cols;
    return gpu_check(gpu, cudaGetLastError());
}
