#include "linalg/eigen.h"

#include "base/error.h"
#include "base/memory.h"
#include "linalg/linalg.h"

#include <lapacke.h>

kspec_status ks_syevd(int vectors, size_t n, double *A, size_t lda, double *w, kspec_error *err) {
    /* 1 + 6n + 2n^2 doubles of workspace and int arguments: past 32,000 LAPACK's 32-bit integers overflow */
    if (n > 32000) return ks_fail(err, KSPEC_E_ARG, "an eigenproblem of order %zu exceeds 32000", n);
    if (n == 0) return KSPEC_OK;
    char job = vectors ? 'V' : 'N';
    double size;
    lapack_int isize;
    /* the row-major lower triangle is the column-major upper one, and columns of vectors are our rows */
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
