/* Computes Gauss's rule for the random scale of a Matern kernel's frequencies. */
#include "features/matern.h"

#include "base/error.h"
#include "base/memory.h"
#include "linalg/eigen.h"
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

/*
 * Holds the distribution of v = sqrt(u/(u+nu)) as points: u = nu e^t has the density exp(nu (t - e^t)) in
 * t.
 */
typedef struct {
    size_t points;
    double *v, *root; /* the points v, and the square roots of the weights, which sum to 1 */
} law;

static double log_density(double nu, double t) { return nu * (t - expm1(t)); }

/*
 * The trapezoidal rule in t converges exponentially. Below t = LEFT, frequencies are so high that every
 * kernel matrix is I. The first point has the mass of all these t, e^(nu t)/nu.
 */
static kspec_status make_law(double nu, ks_arena *a, law *out, kspec_error *err) {
    const double LEFT = -28, h = fmin(0.05, 0.2 / sqrt(nu));
    double low = 0, high = 0, sum = 0;
    while (low > LEFT && log_density(nu, low) > -40) low -= h;
    while (log_density(nu, high) > -40) high += h;
    const size_t points = out->points = (size_t)((high - low) / h) + 2;
    out->v = ks_arena_alloc(a, points, sizeof *out->v);
    out->root = ks_arena_alloc(a, points, sizeof *out->root);
    if (a->failed) return ks_nomem(err, "the scales of a kernel", a->failed);
    for (size_t k = 0; k < points; k++) {
        const double t = low + (double)k * h, density = exp(log_density(nu, t));
        out->v[k] = sqrt(1 / (1 + exp(-t)));
        out->root[k] = density * (k ? h : h / 2 + 1 / nu);
        sum += out->root[k];
    }
    for (size_t k = 0; k < points; k++) out->root[k] = sqrt(out->root[k] / sum);
    return KSPEC_OK;
}

/*
 * By Lanczos iteration. The nodes are the eigenvalues of the tridiagonal matrix. The first entries of its
 * eigenvectors are the square roots of the weights.
 */
kspec_status ks_matern_rule(double nu, size_t count, double *square, double *weight, kspec_error *err) {
    ks_arena scratch = {0};
    law l;
    kspec_status st = make_law(nu, &scratch, &l, err);
    double *T = ks_arena_zalloc(&scratch, ks_size(count, count), sizeof *T);
    double *basis = st ? NULL : ks_arena_alloc(&scratch, ks_size(count + 1, l.points), sizeof *basis);
    if (!st && scratch.failed) st = ks_nomem(err, "the scales of a kernel", scratch.failed);
    if (!st) memcpy(basis, l.root, l.points * sizeof *basis);
    for (size_t j = 0; j < count && !st; j++) {
        const double *q = basis + j * l.points;
        double *next = basis + (j + 1) * l.points;
        for (size_t k = 0; k < l.points; k++) next[k] = l.v[k] * q[k];
        T[j * count + j] = ks_dot(l.points, next, q);
        for (size_t pass = 0; pass < 2; pass++)
            for (size_t i = 0; i <= j; i++) {
                const double c = ks_dot(l.points, next, basis + i * l.points);
                for (size_t k = 0; k < l.points; k++) next[k] -= c * basis[i * l.points + k];
            }
        const double length = sqrt(ks_dot(l.points, next, next));
        if (j + 1 < count) T[(j + 1) * count + j] = length;
        for (size_t k = 0; k < l.points; k++) next[k] /= length;
    }
    if (!st) st = ks_syevd(1, count, T, count, square, err);
    for (size_t j = 0; j < count && !st; j++) {
        weight[j] = T[j * count] * T[j * count];
        square[j] = fmin(1e24, (1 - square[j] * square[j]) / (square[j] * square[j]));
    }
    ks_arena_free(&scratch);
    return st;
}
