/*
 * Solves T d = s by conjugate gradients. A product with T is two transforms of length N: A*(W(A d)). The
 * preconditioner uses the inverse weights: A* W^-1 A / N^2. For p = N it is the inverse of T. For smaller
 * p the preconditioner differs from the inverse by a matrix of low numerical rank. So 5 to 80 iterations
 * suffice for weights that span up to 1e12.
 *
 * The normal equations alone would lose as many digits as the weights span. So they only supply
 * corrections: the residual y - A theta of the data refines theta. Rounding errors of this residual act
 * like rounding errors of y, and so cost no more digits than noise in y would.
 */
#include "wls/toeplitz.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 12, STEPS = 300 };

size_t ks_toeplitz_scratch(const ks_toeplitz *t) { return t->N + ks_fft_scratch(t->fft) + 4 * t->p; }

void ks_synthesis(const ks_fft *fft, size_t N, const ks_cplx *c, size_t n, ks_cplx *grid, ks_cplx *scratch) {
    memcpy(grid, c, n * sizeof *c);
    memset(grid + n, 0, (N - n) * sizeof *grid);
    ks_fft_run(fft, 1, grid, scratch);
}

/* Computes out = A* W A v, or out = A* W^-1 A v / N^2. */
static void product(const ks_toeplitz *t, int inverse, const ks_cplx *v, ks_cplx *out, ks_cplx *grid,
                    ks_cplx *scratch) {
    double N = (double)t->N;
    ks_synthesis(t->fft, t->N, v, t->p, grid, scratch);
    for (size_t j = 0; j < t->N; j++) {
        double w = inverse ? 1 / (t->w[j] * N * N) : t->w[j];
        grid[j].re *= w, grid[j].im *= w;
    }
    ks_fft_run(t->fft, -1, grid, scratch);
    memcpy(out, grid, t->p * sizeof *out);
}

static double dot(const ks_cplx *a, const ks_cplx *b, size_t n) { /* Returns the real part of conj(a) b. */
    double sum = 0;
    for (size_t k = 0; k < n; k++) sum += a[k].re * b[k].re + a[k].im * b[k].im;
    return sum;
}

static void axpy(double c, const ks_cplx *x, ks_cplx *y, size_t n) {
    for (size_t k = 0; k < n; k++) y[k].re += c * x[k].re, y[k].im += c * x[k].im;
}

/*
 * Computes d = T^-1 r to about 1e-10, and overwrites r. It adds the steps it takes to the caller's number
 * of steps. It returns 0 if the call was cancelled.
 */
static int conjugate_gradients(const ks_toeplitz *t, ks_cplx *r, ks_cplx *d, ks_cplx *scratch, int *done) {
    size_t p = t->p;
    ks_cplx *z = scratch, *q = z + p, *grid = q + p, *more = grid + t->N;
    memset(d, 0, p * sizeof *d);
    product(t, 1, r, z, grid, more);
    memcpy(q, z, p * sizeof *q);
    double rz = dot(r, z, p), first = rz;
    int steps = 0;
    while (steps < STEPS && rz > 1e-20 * first) {
        product(t, 0, q, z, grid, more); /* z holds T q until the next line. */
        double curvature = dot(q, z, p), before = rz;
        if (!(curvature > 0)) break;
        axpy(rz / curvature, q, d, p);
        axpy(-rz / curvature, z, r, p);
        product(t, 1, r, z, grid, more);
        rz = dot(r, z, p);
        for (size_t k = 0; k < p; k++) {
            q[k].re = z[k].re + rz / before * q[k].re;
            q[k].im = z[k].im + rz / before * q[k].im;
        }
        steps++, ++*done;
        /* The number of steps is unknown in advance, so this fraction is a guess. */
        if (t->run && ks_run_report(t->run, *done / (*done + 40.0))) return 0;
    }
    return 1;
}

int ks_toeplitz_solve(const ks_toeplitz *t, const ks_cplx *y, ks_cplx *theta, ks_cplx *scratch) {
    size_t N = t->N, p = t->p;
    ks_cplx *s = scratch, *d = s + p, *rest = d + p, *grid = rest + 2 * p, *more = grid + N;
    /* This is |theta| if A contains all modes of y. */
    double scale = sqrt(dot(y, y, N) / (double)N), last = INFINITY;
    int steps = 0;
    memset(theta, 0, p * sizeof *theta);
    for (int round = 0; round < ROUNDS; round++) {
        ks_synthesis(t->fft, N, theta, p, grid, more);
        for (size_t j = 0; j < N; j++)
            grid[j] = (ks_cplx){t->w[j] * (y[j].re - grid[j].re), t->w[j] * (y[j].im - grid[j].im)};
        ks_fft_run(t->fft, -1, grid, more);
        memcpy(s, grid, p * sizeof *s);
        if (!conjugate_gradients(t, s, d, rest, &steps)) return KS_CANCELLED;
        double size = sqrt(dot(d, d, p)), shrink = round ? size / last : 1;
        if (!(size < 0.5 * last)) /* The result is as close as rounding errors allow. */
            return last <= 1e-9 * scale ? steps : KS_STEEP;
        axpy(1, d, theta, p);
        scale = fmax(scale, sqrt(dot(theta, theta, p)));
        /* The next correction would have about the size `size * shrink`. */
        if (size <= 1e-15 * scale || size * shrink <= 1e-17 * scale) return steps;
        last = size;
    }
    return last <= 1e-9 * scale ? steps : KS_STEEP;
}
