/* Runs the computations of order n^3 of a prediction on a GPU. */
#include "ridge/device.h"

#include "base/error.h"
#include "device/cholesky.h"

#include <float.h>
#include <math.h>

static const ks_backend *const at = &ks_gpu_backend;

size_t ks_ridge_device_bytes(const kspec_ridge *r) {
    const size_t n = r->n, nt = r->nt, square = ks_size(4, ks_size(n, n)), cross = ks_size(4, ks_size(nt, n));
    const size_t targets = ks_size(ks_size_add(ks_size(3, n), nt), r->m);
    /* This counts the vectors, and a partial sum for each 512 columns. */
    const size_t sums = ks_size(n > nt ? n : nt, n / 512 + 2);
    return ks_size(ks_size_add(ks_size_add(square, cross), ks_size_add(targets, sums)), sizeof(double));
}

kspec_status ks_ridge_device_open(ks_ridge_device *t, kspec_ridge *r, const ks_run *run, kspec_error *err) {
    static const char *const kernels = "the kernel matrices", *const targets = "the targets";
    const size_t n = r->n, nt = r->nt, m = r->m;
    *t = (ks_ridge_device){0};
    r->on_device = t;
    t->row = ks_alloc(n > nt ? n : nt, sizeof *t->row);
    kspec_status st = t->row ? KSPEC_OK : ks_nomem(err, "traces", ks_size(n > nt ? n : nt, sizeof *t->row));
    for (int a = COS; a <= SIN && !st; a++) {
        st = at->copy_in(run, r->K[a], n, n, kernels, &t->K[a], err);
        if (!st && nt) st = at->copy_in(run, r->Kt[a], nt, n, kernels, &t->Kt[a], err);
    }
    if (!st) st = at->copy_in(run, r->Y, n, m, targets, &t->Y, err);
    if (!st) st = at->hold(run, n, n, "the resolvent", &t->Q, err);
    if (!st) st = at->hold(run, n, n, "the resolvent", &t->work, err);
    if (!st) st = at->hold(run, n, m, targets, &t->V, err);
    if (!st) st = at->hold(run, n, m, targets, &t->Z, err);
    if (!st && nt) st = at->hold(run, nt, n, "the test error", &t->phi, err);
    if (!st && nt) st = at->hold(run, nt, n, "the test error", &t->H, err);
    if (!st && nt) st = at->hold(run, nt, m, targets, &t->fit, err);
    return st;
}

void ks_ridge_device_close(kspec_ridge *r, const ks_run *run) {
    ks_ridge_device *t = r->on_device;
    ks_mat *const held[] = {t->fit, t->H, t->phi, t->Z, t->V, t->work, t->Q};
    for (size_t k = 0; k < sizeof held / sizeof *held; k++) at->drop(run, held[k]);
    at->release(run, t->Y);
    for (int a = COS; a <= SIN; a++) at->release(run, t->K[a]), at->release(run, t->Kt[a]);
    ks_free(t->row);
    r->on_device = NULL;
}

/* ---- operations ---- */

/* Computes C (m x n) = alpha op(A) B + beta C for dense matrices; op(A) is m x k. */
static kspec_status multiply(const ks_run *run, int ta, size_t m, size_t n, size_t k, double alpha,
                             const ks_mat *A, const ks_mat *B, double beta, ks_mat *C, kspec_error *err) {
    const ks_mat_product p = {ta, 0, m, n, k, alpha, A, ta ? m : k, B, n, beta, C, n, ta && A == B};
    return at->product(run, &p, err);
}

/* Sets out to k_0 X_0 + k_1 X_1 (rows x cols). */
static kspec_status combine(const ks_run *run, size_t rows, size_t cols, const double k[2],
                            const ks_mat *const X[2], ks_mat *out, kspec_error *err) {
    kspec_status st = KSPEC_OK;
    for (int a = 0; a < 2 && !st; a++) {
        const ks_mat_expression e = {
            .m = rows, .n = cols, .alpha = k[a], .count = 1, .factor = {{X[a], 0, 1}}};
        st = at->expression(run, &e, a ? KS_TILE_ADD : KS_TILE_STORE, out, NULL, err);
    }
    return st;
}

/* Returns the sum of x_ij y_ij, or of x_ij y_ji. */
static kspec_status inner(const ks_ridge_device *t, const ks_run *run, size_t rows, size_t cols,
                          const ks_mat *x, const ks_mat *y, int turned, double *sum, kspec_error *err) {
    const ks_mat_expression e = {
        .m = rows, .n = cols, .alpha = 1, .count = 2, .factor = {{x, 0, 1}, {y, turned, 1}}};
    kspec_status st = at->expression(run, &e, KS_TILE_ROW_SUMS, NULL, t->row, err);
    *sum = 0;
    for (size_t i = 0; i < rows && !st; i++) *sum += t->row[i];
    return st;
}

/*
 * Factors A = k_cos K_cos + k_sin K_sin + ridge I into A = U^T U and writes U to Q. The header explains
 * *top and *bad.
 */
static kspec_status factor(const kspec_ridge *r, const ks_run *run, const double k[2], double ridge,
                           double *top, size_t *bad, kspec_error *err) {
    const ks_ridge_device *t = r->on_device;
    const size_t n = r->n;
    kspec_status st = combine(run, n, n, k, t->K, t->Q, err);
    if (!st) st = ks_device_shift(run, n, ridge, t->Q, err);
    if (!st) st = at->diagonal(run, t->row, t->Q, n, err);
    *top = 0, *bad = 0;
    for (size_t i = 0; i < n && !st; i++) *top = fmax(*top, t->row[i]);
    if (!st) st = ks_device_factor(run, n, t->Q, t->row, err);
    const double least = ridge == 0 ? (double)n * DBL_EPSILON * *top : 0;
    for (size_t i = 0; i < n && !st && !*bad; i++)
        if (!(t->row[i] * t->row[i] > least)) *bad = i + 1;
    return st;
}

/* ---- the resolvent ---- */

kspec_status ks_ridge_device_invert(kspec_ridge *r, const ks_run *run, const double k[2], double ridge,
                                    double *top, size_t *bad, kspec_error *err) {
    const ks_ridge_device *t = r->on_device;
    const size_t n = r->n;
    kspec_status st = factor(r, run, k, ridge, top, bad, err);
    if (st || *bad) return st;
    st = ks_device_triangle(run, n, t->Q, t->work, err);
    return st ? st : multiply(run, 1, n, n, n, 1, t->work, t->work, 0, t->Q, err); /* U^-1 U^-T */
}

kspec_status ks_ridge_device_sums(kspec_ridge *r, const ks_run *run, int second, double sum[SUMS],
                                  kspec_error *err) {
    const ks_ridge_device *t = r->on_device;
    const size_t n = r->n;
    kspec_status st = inner(t, run, n, n, t->Q, t->K[COS], 0, &sum[QC], err);
    if (!st) st = inner(t, run, n, n, t->Q, t->K[SIN], 0, &sum[QS], err);
    if (!st) st = inner(t, run, n, n, t->Q, t->Q, 0, &sum[QQ], err);
    if (!st) st = at->diagonal(run, t->row, t->Q, n, err);
    for (size_t i = 0; i < n && !st; i++) sum[TQ] += t->row[i];
    if (st || !second) return st;
    st = multiply(run, 0, n, n, n, 1, t->Q, t->K[COS], 0, t->work, err);
    if (!st) st = inner(t, run, n, n, t->work, t->Q, 0, &sum[MQ], err);
    return st ? st : inner(t, run, n, n, t->work, t->work, 1, &sum[MM], err);
}

/* ---- errors ---- */

/* Computes H, the traces of H, and the predictions fit = c H Y. */
static kspec_status test(const kspec_ridge *r, const ks_run *run, const double k[2], double c, double *fit,
                         double cross[2], double square[2], kspec_error *err) {
    const ks_ridge_device *t = r->on_device;
    const size_t n = r->n, nt = r->nt, m = r->m;
    kspec_status st = combine(run, nt, n, k, t->Kt, t->phi, err);
    if (!st) st = multiply(run, 0, nt, n, n, 1, t->phi, t->Q, 0, t->H, err);
    if (!st) st = multiply(run, 1, n, n, nt, 1, t->H, t->H, 0, t->work, err);
    for (int a = COS; a <= SIN && !st; a++) {
        st = inner(t, run, nt, n, t->H, t->Kt[a], 0, &cross[a], err);
        if (!st) st = inner(t, run, n, n, t->work, t->K[a], 0, &square[a], err);
    }
    if (!st) st = multiply(run, 0, nt, m, n, c, t->H, t->Y, 0, t->fit, err);
    return st ? st : at->get(run, fit, t->fit, nt * m, 1, err);
}

kspec_status ks_ridge_device_errors(kspec_ridge *r, const ks_run *run, const double k[2], double c, double *V,
                                    double *const Z[2], double *fit, double cross[2], double square[2],
                                    kspec_error *err) {
    const ks_ridge_device *t = r->on_device;
    const size_t n = r->n, m = r->m;
    kspec_status st = multiply(run, 0, n, m, n, 1, t->Q, t->Y, 0, t->V, err);
    if (!st) st = at->get(run, V, t->V, n * m, 1, err);
    for (int a = COS; a <= SIN && !st; a++) {
        st = multiply(run, 0, n, m, n, 1, t->K[a], t->V, 0, t->Z, err);
        if (!st) st = at->get(run, Z[a], t->Z, n * m, 1, err);
    }
    return st || !r->nt ? st : test(r, run, k, c, fit, cross, square, err);
}

kspec_status ks_ridge_device_kernel(kspec_ridge *r, const ks_run *run, double c, double lambda, size_t *bad,
                                    double *V, double *fit, kspec_error *err) {
    const ks_ridge_device *t = r->on_device;
    const size_t n = r->n, nt = r->nt, m = r->m;
    const double k[2] = {c, c};
    double top;
    kspec_status st = factor(r, run, k, lambda, &top, bad, err);
    if (st || *bad) return st;
    st = ks_device_triangle(run, n, t->Q, t->work, err);
    if (!st) st = multiply(run, 0, n, m, n, 1, t->work, t->Y, 0, t->Z, err);
    if (!st) st = multiply(run, 1, n, m, n, 1, t->work, t->Z, 0, t->V, err);
    if (!st) st = at->get(run, V, t->V, n * m, 1, err);
    for (int a = COS; a <= SIN && nt && !st; a++)
        st = multiply(run, 0, nt, m, n, c, t->Kt[a], t->V, a, t->fit, err);
    return st || !nt ? st : at->get(run, fit, t->fit, nt * m, 1, err);
}
