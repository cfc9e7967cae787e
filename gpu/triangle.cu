// Diagonal blocks of a Cholesky factor, and substitution with them: the operations that are not products.
#include "gpu.cuh"

namespace {

enum { T = KS_TRIANGLE, FACTORS = 256, COLUMNS = 64 };

__global__ void shift(size_t n, double c, double *X) {
    const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) X[i * n + i] += c;
}

// One block of threads. Computes row k of U, then subtracts it from the rows below; each thread has one
// column of four stretches of rows.
__global__ void factor(int n, double *A, size_t lda) {
    __shared__ double a[T][T + 1];
    const int t = threadIdx.x, j = t % T;
    for (int i = t / T; i < n; i += FACTORS / T)
        if (j >= i && j < n) a[i][j] = A[i * lda + j];
    __syncthreads();
    for (int k = 0; k < n; k++) {
        const double pivot = a[k][k], d = pivot > 0 ? sqrt(pivot) : nan("");
        __syncthreads(); // all threads have read the pivot
        if (t < T && j >= k && j < n) a[k][j] = j == k ? d : a[k][j] / d;
        __syncthreads();
        for (int i = k + 1 + t / T; i < n; i += FACTORS / T)
            if (j >= i && j < n) a[i][j] -= a[k][i] * a[k][j];
        __syncthreads();
    }
    for (int i = t / T; i < n; i += FACTORS / T)
        if (j >= i && j < n) A[i * lda + j] = a[i][j];
}

// A thread has one column of X in registers; rows beyond n are rows of the identity.
__global__ void solve(int n, const double *U, size_t ldu, size_t m, double *X, size_t ldx) {
    __shared__ double u[T][T];
    for (int k = threadIdx.x; k < T * T; k += COLUMNS) {
        const int i = k / T, j = k % T;
        u[i][j] = i < n && j < n && i <= j ? U[i * ldu + j] : i == j;
    }
    __syncthreads();
    const size_t j = blockIdx.x * (size_t)COLUMNS + threadIdx.x;
    if (j >= m) return;
    double x[T];
#pragma unroll
    for (int i = 0; i < T; i++) x[i] = i < n ? X[i * ldx + j] : 0;
#pragma unroll
    for (int i = 0; i < T; i++) {
        x[i] /= u[i][i];
#pragma unroll
        for (int k = i + 1; k < T; k++) x[k] -= u[i][k] * x[i];
    }
#pragma unroll
    for (int i = 0; i < T; i++)
        if (i < n) X[i * ldx + j] = x[i];
}

} // namespace

ks_plugin_status gpu_shift(ks_gpu *gpu, size_t n, double c, double *X) {
    ks_plugin_status st = gpu_enter(gpu);
    if (st) return st;
    shift<<<(unsigned)((n + 127) / 128), 128, 0, gpu->stream>>>(n, c, X);
    return gpu_check(gpu, cudaGetLastError());
}

ks_plugin_status gpu_factor(ks_gpu *gpu, size_t n, double *A, size_t lda) {
    ks_plugin_status st = gpu_enter(gpu);
    if (st) return st;
    factor<<<1, FACTORS, 0, gpu->stream>>>((int)n, A, lda);
    return gpu_check(gpu, cudaGetLastError());
}

ks_plugin_status gpu_solve(ks_gpu *gpu, size_t n, const double *U, size_t ldu, size_t m, double *X,
                           size_t ldx) {
    ks_plugin_status st = gpu_enter(gpu);
    if (st) return st;
    solve<<<(unsigned)((m + COLUMNS - 1) / COLUMNS), COLUMNS, 0, gpu->stream>>>((int)n, U, ldu, m, X, ldx);
    return gpu_check(gpu, cudaGetLastError());
}
