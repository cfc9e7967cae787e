/* Computes the largest eigenvalue with LAPACK. */
#include "linalg/top.h"

#include "base/error.h"
#include "base/memory.h"
#include "linalg/blas.h"
#include "linalg/linalg.h"

kspec_status ks_top_eigenpair(size_t n, double *A, double *w, double *v, kspec_error *err) {
    if (n > 32000) return ks_fail(err, KSPEC_E_ARG, "an eigenproblem of order %zu exceeds 32000", n);
    lapack_int N = (lapack_int)n, found = 0, support[2], isize = 0, info;
    double size = 0;
    ks_arena arena = {0};
    double *values = ks_arena_alloc(&arena, n, sizeof *values);
    if (arena.failed) return ks_nomem(err, "an eigenproblem", arena.failed);
    /*
     * the row-major lower triangle is the column-major upper one. Computes only the last of n eigenpairs: the
     * reduction to a tridiagonal matrix takes most of the time, and all eigenpairs need it
     */
    LAPACKE_dsyevr_work(LAPACK_COL_MAJOR, 'V', 'I', 'U', N, A, N, 0, 0, N, N, 0, &found, values, v, N,
                        support, &size, -1, &isize, -1);
    double *work = ks_arena_alloc(&arena, (size_t)size, sizeof *work);
    lapack_int *iwork = ks_arena_alloc(&arena, (size_t)isize, sizeof *iwork);
    kspec_status st = arena.failed ? ks_nomem(err, "an eigenproblem", arena.failed) : ks_lapack_reserve(err);
    if (!st) {
        ks_blas_begin();
        info = LAPACKE_dsyevr_work(LAPACK_COL_MAJOR, 'V', 'I', 'U', N, A, N, 0, 0, N, N, 0, &found, values, v,
                                   N, support, work, (lapack_int)size, iwork, isize);
        ks_blas_end();
        if (info || found != 1)
            st = ks_fail(err, KSPEC_E_NUMERIC, "the eigenvalue iteration did not converge (order %zu)", n);
        *w = values[0];
    }
    ks_arena_free(&arena);
    return st;
}
