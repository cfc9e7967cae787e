/*
 * Computes features of the linearised two-layer network of equations (63) and (64), f(x) = sum_m a_m
 * max(w_m.x, 0)/sqrt(M), which learns w. The features are the derivatives with respect to w at the start,
 * a_m [w_m.x > 0] x_k/sqrt(M).
 */
#include "base/error.h"
#include "base/matrix.h"
#include "base/memory.h"
#include "base/streams.h"
#include "linalg/linalg.h"
#include "kspec/wls.h"

#include <math.h>

static kspec_status check(const kspec_matrix *x, size_t neurons, double scale, const double *psi,
                          const double *start, kspec_error *err) {
    kspec_status st = ks_matrix_check(x, "the matrix of rows", err);
    if (!st) st = ks_check_pointer(err, psi, "psi");
    if (!st) st = ks_check_pointer(err, start, "start");
    if (!st && neurons == 0) st = ks_fail(err, KSPEC_E_ARG, "neurons 0 is below 1");
    if (!st && !(scale > 0 && scale <= 1e100))
        st = ks_fail(err, KSPEC_E_ARG, "scale %g is not above 0 and at most 1e100", scale);
    return st;
}

kspec_status kspec_wls_ntk(const kspec_matrix *x, size_t neurons, double scale, uint64_t seed, double *psi,
                           double *start, kspec_error *err) {
    ks_clear(err);
    kspec_status st = check(x, neurons, scale, psi, start, err);
    if (st) return st;
    const size_t n = x->rows, d = x->cols;
    ks_arena scratch = {0};
    double *rows = ks_arena_alloc(&scratch, ks_size(n, d), sizeof *rows);
    double *w = ks_arena_alloc(&scratch, ks_size(neurons, d), sizeof *w);
    double *a = ks_arena_alloc(&scratch, neurons, sizeof *a);
    if (scratch.failed) st = ks_nomem(err, "the weights of a network", scratch.failed);
    if (!st) st = ks_matrix_copy(x, 0, n, "the matrix of rows", rows, err);
    if (!st) {
        kspec_random_normal(seed, ks_stream(KS_STREAM_WLS_NTK, 0), 0, neurons * d, w);
        kspec_random_uniform(seed, ks_stream(KS_STREAM_WLS_NTK, 1), 0, neurons, a);
    }
    for (size_t i = 0; i < n && !st; i++) {
        const double *r = rows + i * d;
        start[i] = 0;
        for (size_t m = 0; m < neurons; m++) {
            const double t = scale * ks_dot(d, w + m * d, r);
            const double c = t > 0 ? (2 * a[m] - 1) / sqrt((double)neurons) : 0;
            for (size_t k = 0; k < d; k++) psi[(i * neurons + m) * d + k] = c * r[k];
            start[i] += c * t;
        }
    }
    ks_arena_free(&scratch);
    return st;
}
