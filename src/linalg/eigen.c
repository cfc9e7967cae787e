/* Solves symmetric eigenproblems with LAPACK. */
#include "linalg/eigen.h"

#include "base/error.h"
#include "base/memory.h"
#include "linalg/blas.h"
#include "linalg/linalg.h"

#include <string.h>

kspec_status ks_syevd(int vectors, size_t n, double *A, size_t lda, double *w, kspec_error *err) {
    /* 1 + 6n + 2n^2 doubles of workspace and int arguments: past 32,000 LAPACK's 32-bit integers overflow */
    if (n > 32000) return ks_fail(err, KSPEC_E_ARG, "an eigenproblem of order %zu exceeds 32000", n);
    if (n == 0) return KSPEC_OK;
    char job = vectors ? 'V' : 'N';
    double size;
    lapack_int isize;
    /* the row-major lower triangle is the column-major upper one, and columns of vectors become our rows */
    LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, job, 'U', (int)n, A, (int)lda, w, &size, -1, &isize, -1);
    double *work = ks_alloc((size_t)size, sizeof *work);
    lapack_int *iwork = ks_alloc((size_t)isize, sizeof *iwork), info = -1;
    kspec_status st = KSPEC_OK;
    if (!work || !iwork) st = ks_nomem(err, "an eigenproblem", ks_size((size_t)size, sizeof *work));
    if (!st && !(st = ks_lapack_reserve(err))) {
        ks_blas_begin();
        info = LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, job, 'U', (int)n, A, (int)lda, w, work, (lapack_int)size,
                                   iwork, isize);
        ks_blas_end();
    }
    ks_free(work);
    ks_free(iwork);
    if (!st && info)
        st = ks_fail(err, KSPEC_E_NUMERIC, "the eigenvalue iteration did not converge (order %zu)", n);
    return st;
}

/*
 * Reduces A to tridiagonal form, and computes all eigenvalues and the eigenvectors of the last `top`. Returns
 * LAPACK's info.
 */
static lapack_int solve_top(lapack_int n, double *A, lapack_int lda, double *w, lapack_int top, double *Z,
                            double *real, lapack_int *whole, double *work, lapack_int size) {
    double *d = real, *e = d + n, *tau = e + n, *copy = tau + n, *values = copy + n;
    lapack_int *support = whole, *iwork = support + 2 * top, found = 0, trying = 1;
    lapack_int info = LAPACKE_dsytrd_work(LAPACK_COL_MAJOR, 'U', n, A, lda, d, e, tau, work, size);
    if (info) return info;
    memcpy(w, d, (size_t)n * sizeof *w);
    memcpy(copy, e, (size_t)n * sizeof *copy);
    if ((info = LAPACKE_dsterf(n, w, copy))) return info;
    info = LAPACKE_dstemr_work(LAPACK_COL_MAJOR, 'V', 'I', n, d, e, 0, 0, n - top + 1, n, &found, values, Z,
                               n, top, support, &trying, work, size, iwork, 10 * n);
    if (info || found != top) return info ? info : 1;
    return LAPACKE_dormtr_work(LAPACK_COL_MAJOR, 'L', 'U', 'N', n, top, A, lda, tau, Z, n, work, size);
}

kspec_status ks_syev_top(size_t n, double *A, size_t lda, double *w, size_t top, double *Z,
                         kspec_error *err) {
    if (n > 32000) return ks_fail(err, KSPEC_E_ARG, "an eigenproblem of order %zu exceeds 32000", n);
    if (n == 0 || top == 0 || top > n)
        return ks_fail(err, KSPEC_E_ARG, "%zu vectors of an eigenproblem of order %zu", top, n);
    /* LAPACK works best with blocks of 32; dstemr needs 18 n */
    size_t size = ks_size(n + top, 32), wholes = 2 * top + 10 * n;
    ks_arena arena = {0};
    double *real = ks_arena_zalloc(&arena, ks_size(5, n), sizeof *real);
    double *work = ks_arena_alloc(&arena, size, sizeof *work);
    lapack_int *whole = ks_arena_alloc(&arena, wholes, sizeof *whole), info = 0;
    kspec_status st = arena.failed ? ks_nomem(err, "an eigenproblem", arena.failed) : ks_lapack_reserve(err);
    if (!st) {
        ks_blas_begin();
        info = solve_top((lapack_int)n, A, (lapack_int)lda, w, (lapack_int)top, Z, real, whole, work,
                         (lapack_int)size);
        ks_blas_end();
    }
    ks_arena_free(&arena);
    if (!st && info)
        st = ks_fail(err, KSPEC_E_NUMERIC, "the eigenvalue iteration did not converge (order %zu)", n);
    return st;
}
