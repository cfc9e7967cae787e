/*
 * Solves weighted least squares with the first p of N Fourier modes, p < N: theta minimises sum_j w_j |y_j
 * - (A theta)_j|^2, where A_jk = e^{2 pi i jk/N}. The normal matrix T = A*WA is Hermitian and Toeplitz.
 */
#pragma once

#include "base/parallel.h"
#include "wls/fft.h"

typedef struct {
    size_t N, p;
    /* the N weights, all positive */
    const double *w;
    const ks_fft *fft;
    /* receives the progress after every step if this thread owns the run; otherwise NULL */
    const ks_run *run;
} ks_toeplitz;

/* Returns how many numbers of scratch ks_toeplitz_solve() needs. */
size_t ks_toeplitz_scratch(const ks_toeplitz *t);

/* Computes grid = A c for n <= N coefficients c: the N values of sum_k c_k e^{ikx} on the grid. */
void ks_synthesis(const ks_fft *fft, size_t N, const ks_cplx *c, size_t n, ks_cplx *grid, ks_cplx *scratch);

/*
 * Computes theta (p numbers) from y (N numbers). Returns the number of iterations, or KS_CANCELLED. If the
 * iteration cannot find theta to 1e-9 of its size, it returns KS_STEEP: the largest and the smallest
 * weight are too far apart for normal equations.
 */
enum { KS_STEEP = -1, KS_CANCELLED = -2 };
int ks_toeplitz_solve(const ks_toeplitz *t, const ks_cplx *y, ks_cplx *theta, ks_cplx *scratch);
