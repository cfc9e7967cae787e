/* Computes the eigenvalues of the sample matrix. */
#include "spectrum/sample.h"

#include "base/error.h"
#include "device/product.h"
#include "linalg/eigen.h"
#include "linalg/linalg.h"
#include "moments/trials.h"

#include <math.h>

kspec_status ks_sample_eigenvalues(const ks_run *run, const kspec_matrix *phi, size_t ntrials,
                                   const kspec_moments_opts *how, double *values, kspec_error *err) {
    ks_trials t = ks_trials_of(phi, ntrials, how);
    size_t P = t.P, Q = t.Q, n = P < Q ? P : Q;
    kspec_status st = ks_trials_init(&t, err);
    if (!st) st = ks_trials_scale(&t, 2, err);
    if (st) return st;
    ks_arena arena = {0};
    double *mean = ks_arena_alloc(&arena, Q, sizeof *mean);
    double *M = ks_arena_alloc(&arena, ks_size(P, Q), sizeof *M);
    double *G = ks_arena_alloc(&arena, ks_size(n, n), sizeof *G);
    if (arena.failed) {
        st = ks_nomem(err, "the sample's Gram matrix", arena.failed);
    } else if (!(st = ks_blas_enter(run->threads, err))) {
        ks_trials_mean(&t, mean, M);
        st = ks_gram_of_host(run, P, Q, 1 / ((double)P * (double)Q), M, G, "the sample's Gram matrix", err);
        if (!st) st = ks_eigen_of_host(run, 0, n, G, values, 0, NULL, err);
        ks_blas_exit();
    }
    ks_arena_free(&arena);
    if (st) return st;
    ks_reverse(n, values);
    /* negative values are rounding */
    for (size_t i = 0; i < n; i++) values[i] = ldexp(fmax(0, values[i]), 2 * t.exponent);
    return KSPEC_OK;
}
