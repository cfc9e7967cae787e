/*
 * The CPU backend stores matrices in host memory, uses the BLAS for products, and computes expressions tile
 * by tile.
 */
#include "base/error.h"
#include "base/memory.h"
#include "device/backend.h"
#include "device/tile.h"
#include "linalg/linalg.h"

#include <string.h>

static int suits(const ks_run *run, ks_holding how, double work) {
    (void)run, (void)how, (void)work;
    return 1;
}

static kspec_status hold(const ks_run *run, size_t rows, size_t cols, const char *what, ks_mat **out,
                         kspec_error *err) {
    (void)run;
    const size_t count = ks_size(rows, cols);
    double *p = ks_alloc(count, sizeof *p);
    *out = ks_mat_of(p);
    return p ? KSPEC_OK : ks_nomem(err, what, ks_size(count, sizeof *p));
}

static void drop(const ks_run *run, ks_mat *p) {
    (void)run;
    ks_free(p);
}

static kspec_status copy_in(const ks_run *run, const double *host, size_t rows, size_t cols, const char *what,
                            const ks_mat **out, kspec_error *err) {
    (void)run, (void)rows, (void)cols, (void)what, (void)err;
    *out = ks_mat_of(host);
    return KSPEC_OK;
}

static void release(const ks_run *run, const ks_mat *p) { (void)run, (void)p; }

static kspec_status put(const ks_run *run, ks_mat *to, const double *from, size_t count, kspec_error *err) {
    (void)run, (void)err;
    memcpy(ks_mat_address(to), from, count * sizeof *from);
    return KSPEC_OK;
}

static kspec_status get(const ks_run *run, double *to, const ks_mat *from, size_t count, size_t step,
                        kspec_error *err) {
    (void)run, (void)err;
    const double *x = ks_mat_address(from);
    for (size_t i = 0; i < count; i++) to[i] = x[i * step];
    return KSPEC_OK;
}

static kspec_status diagonal(const ks_run *run, double *to, const ks_mat *from, size_t n, kspec_error *err) {
    return get(run, to, from, n, n + 1, err);
}

static kspec_status product(const ks_run *run, const ks_mat_product *of, kspec_error *err) {
    const ks_matmul p = ks_mat_plain(of);
    if (p.symmetric && p.beta == 0)
        return ks_gemm_symmetric_tiled(run, p.ta, p.tb, p.n, p.k, p.alpha, p.A, p.lda, p.B, p.ldb, p.C, p.ldc,
                                       err);
    return ks_gemm_tiled(run, p.ta, p.tb, p.m, p.n, p.k, p.alpha, p.A, p.lda, p.B, p.ldb, p.beta, p.C, p.ldc,
                         err);
}

static kspec_status expression(const ks_run *run, const ks_mat_expression *of, ks_tile_result what,
                               ks_mat *out, double *sums, kspec_error *err) {
    const ks_expression e = ks_mat_plain_expression(of);
    return ks_tile_run(run, &e, what, out ? ks_mat_address(out) : sums, err);
}

static kspec_status symmetrise(const ks_run *run, size_t n, ks_mat *X, kspec_error *err) {
    return ks_tile_symmetrise(run, n, ks_mat_address(X), err);
}

static kspec_status triangle(const ks_run *run, size_t n, ks_mat *X, kspec_error *err) {
    double *x = ks_mat_address(X);
    (void)run, (void)err;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) x[i * n + j] = i < j;
    return KSPEC_OK;
}

const ks_backend ks_cpu_backend = {KS_BACKEND_OF_ADDRESSES, .host = ks_mat_address};
