/* Computes the singular value decomposition with LAPACK. */
#include "linalg/svd.h"

#include "base/error.h"
#include "base/memory.h"
#include "linalg/blas.h"
#include "linalg/linalg.h"

kspec_status ks_svd(size_t m, size_t n, double *A, double *U, double *s, double *Vt, kspec_error *err) {
    size_t r = m < n ? m : n;
    /* LAPACK counts its workspace, about 4 r^2 + 7 r doubles, in int */
    if (m > 2147483647 / 8 || n > 2147483647 / 8 || r > 16000)
        return ks_fail(err, KSPEC_E_ARG,
                       "a singular value decomposition of %zu x %zu exceeds LAPACK's integers", m, n);
    double size;
    /* LAPACK reads the row-major A as its transpose, so left and right vectors change places */
    LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, 'S', (int)n, (int)m, A, (int)n, s, Vt, (int)n, U, (int)r, &size, -1,
                        NULL);
    double *work = ks_alloc((size_t)size, sizeof *work);
    lapack_int *iwork = ks_alloc(8 * r, sizeof *iwork), info = 0;
    kspec_status st = KSPEC_OK;
    if (!work || !iwork)
        st = ks_nomem(err, "a singular value decomposition", ks_size((size_t)size, sizeof *work));
    if (!st && !(st = ks_lapack_reserve(err))) {
        ks_blas_begin();
        info = LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, 'S', (int)n, (int)m, A, (int)n, s, Vt, (int)n, U, (int)r,
                                   work, (lapack_int)size, iwork);
        ks_blas_end();
    }
    if (!st && info)
        st = ks_fail(err, KSPEC_E_NUMERIC, "the singular value iteration did not converge (%zu x %zu)", m, n);
    ks_free(work);
    ks_free(iwork);
    return st;
}
