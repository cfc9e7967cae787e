/* Inverses, pseudo-inverses and norms of complex matrices. */
#include "linalg/complex.h"

#include "base/error.h"
#include "base/memory.h"
#include "linalg/linalg.h"

#define lapack_complex_double ks_cplx /* ks_cplx has the layout of C99's complex type: two doubles */
#define lapack_complex_float  float
#include "linalg/blas.h"

kspec_status ks_pinv_conj(size_t N, size_t p, ks_cplx *A, kspec_error *err) {
    if (N > 2147483647 / 64)
        return ks_fail(err, KSPEC_E_ARG, "a complex matrix of %zu rows exceeds %d", N, 2147483647 / 64);
    const ks_cplx one = {1, 0};
    int n = (int)N, m = (int)p, size = m * 64;
    ks_cplx *tau = ks_alloc(p, sizeof *tau), *work = ks_alloc((size_t)size, sizeof *work),
            *R = ks_alloc(ks_size(p, p), sizeof *R);
    kspec_status st = KSPEC_OK;
    if (!tau || !work || !R) {
        st = ks_nomem(err, "a complex QR factorisation", ks_size(ks_size(p, p), sizeof *R));
        goto done;
    }
    ks_blas_begin();
    int info = LAPACKE_zgeqrf_work(LAPACK_COL_MAJOR, n, m, A, n, tau, work, size);
    for (size_t k = 0; k < p && !info; k++)
        for (size_t i = 0; i <= k; i++) R[k * p + i] = A[k * N + i];
    for (size_t k = 0; k < p && !info; k++) info = !(ks_cabs2(R[k * p + k]) > 0);
    if (!info) info = LAPACKE_zungqr_work(LAPACK_COL_MAJOR, n, m, m, A, n, tau, work, size);
    if (info)
        st = ks_fail(err, KSPEC_E_NUMERIC, "the weighted features are linearly dependent");
    else
        cblas_ztrsm(CblasColMajor, CblasRight, CblasUpper, CblasConjTrans, CblasNonUnit, n, m, &one, R, m, A,
                    n);
    ks_blas_end();
done:
    ks_free(tau);
    ks_free(work);
    ks_free(R);
    return st;
}

void ks_gram_norms(size_t N, size_t p, const ks_cplx *B, ks_cplx *scratch, double *hermitian,
                   double *symmetric) {
    const ks_cplx one = {1, 0}, zero = {0, 0};
    double *to[2] = {hermitian, symmetric};
    for (int t = 0; t < 2; t++) {
        ks_blas_begin();
        cblas_zgemm(CblasColMajor, t ? CblasTrans : CblasConjTrans, CblasNoTrans, (int)p, (int)p, (int)N,
                    &one, B, (int)N, B, (int)N, &zero, scratch, (int)p);
        ks_blas_end();
        *to[t] = 0;
        for (size_t i = 0; i < p * p; i++) *to[t] += ks_cabs2(scratch[i]);
    }
}

kspec_status ks_invert_cplx(size_t n, ks_cplx *A, kspec_error *err) {
    if (n > 32000) return ks_fail(err, KSPEC_E_ARG, "a complex matrix of order %zu exceeds 32000", n);
    const lapack_int order = (lapack_int)n, size = order * 64;
    lapack_int *pivots = ks_alloc(n, sizeof *pivots), info = 0;
    ks_cplx *work = ks_alloc(ks_size(n, 64), sizeof *work);
    kspec_status st = KSPEC_OK;
    if (!pivots || !work) st = ks_nomem(err, "a complex inverse", ks_size(ks_size(n, 64), sizeof *work));
    if (!st && !(st = ks_lapack_reserve(err))) {
        ks_blas_begin();
        info = LAPACKE_zgetrf_work(LAPACK_COL_MAJOR, order, order, A, order, pivots);
        if (!info) info = LAPACKE_zgetri_work(LAPACK_COL_MAJOR, order, A, order, pivots, work, size);
        ks_blas_end();
    }
    if (!st && info) st = ks_fail(err, KSPEC_E_NUMERIC, "a complex matrix of order %zu is singular", n);
    ks_free(pivots);
    ks_free(work);
    return st;
}
