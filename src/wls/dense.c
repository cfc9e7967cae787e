/*
 * Computes the fit for p < N by QR, if the weights span too many decades for normal equations. QR of
 * W^(1/2) A. The rows with the largest weights come first, so that small rows do not disturb large ones.
 */
#include "base/error.h"
#include "wls/grid.h"

#include <math.h>

kspec_status ks_wls_dense_map(size_t N, size_t p, const double *w, ks_arena *arena, ks_cplx **map,
                              double *accuracy, kspec_error *err) {
    double work = (double)N * (double)p * (double)p;
    if (work > 1e11)
        return ks_fail(
            err, KSPEC_E_NUMERIC,
            "the weights span a factor of %.2g, too much for normal equations, and QR would take N p^2 = "
            "%.2g above 1e+11; lower alpha",
            fmax(w[0] / w[N - 1], w[N - 1] / w[0]), work);
    size_t bytes = ks_size(ks_size(ks_size_add(N, p), p), sizeof(ks_cplx));
    kspec_status st = ks_check_memory(err, bytes, "QR of %zu x %zu complex numbers", N, p);
    if (st) return st;
    ks_cplx *B = ks_arena_alloc(arena, ks_size(N, p), sizeof *B), *grid = NULL;
    ks_fft *fft = NULL;
    st = ks_fft_make(N, &fft, err);
    if (!st) grid = ks_arena_alloc(arena, ks_size_add(N, ks_fft_scratch(fft)), sizeof *grid);
    if (!st && arena->failed) st = ks_nomem(err, "a QR factorisation", arena->failed);
    /* Returns the rows in decreasing order of weight, which is the given order or its reverse. */
    int falling = w[0] >= w[N - 1];
    /* Column k is the transform of a unit vector. */
    for (size_t k = 0; k < p && !st; k++) {
        for (size_t j = 0; j < N; j++) grid[j] = (ks_cplx){j == k, 0};
        ks_fft_run(fft, 1, grid, grid + N);
        for (size_t j = 0; j < N; j++) {
            double root = sqrt(w[j]);
            B[k * N + (falling ? j : N - 1 - j)] = (ks_cplx){root * grid[j].re, root * grid[j].im};
        }
    }
    if (!st) st = ks_pinv_conj(N, p, B, err);
    *accuracy = 0;
    /* Computes M* = W^(1/2) (W^(1/2)A)^+*; the rows of MA are transforms of the columns of M*. */
    for (size_t k = 0; k < p && !st; k++) {
        ks_cplx *b = B + k * N;
        for (size_t j = 0; j < N / 2 && !falling; j++) {
            ks_cplx swap = b[j];
            b[j] = b[N - 1 - j], b[N - 1 - j] = swap;
        }
        for (size_t j = 0; j < N; j++) {
            double root = sqrt(w[j]);
            b[j].re *= root, b[j].im *= root;
            grid[j] = ks_conj(b[j]);
        }
        ks_fft_run(fft, 1, grid, grid + N);
        for (size_t l = 0; l < p; l++)
            *accuracy = fmax(*accuracy, sqrt(ks_cabs2((ks_cplx){grid[l].re - (l == k), grid[l].im})));
    }
    ks_fft_free(fft);
    if (!st && !(*accuracy < 1e-6))
        st = ks_fail(err, KSPEC_E_NUMERIC,
                     "the weights span a factor of %.2g, too much even for QR (accuracy %.2g); lower alpha",
                     fmax(w[0] / w[N - 1], w[N - 1] / w[0]), *accuracy);
    *map = B;
    return st;
}
