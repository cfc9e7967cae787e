/* Computes the QR factorisation with LAPACK. */
#include "linalg/qr.h"

#include "base/error.h"
#include "base/memory.h"
#include "linalg/blas.h"
#include "linalg/linalg.h"

kspec_status ks_qr(size_t m, size_t n, double *A, kspec_error *err) {
    enum { BLOCK = 64, MOST = 2147483647 / BLOCK };
    if (m > MOST || n > MOST)
        return ks_fail(err, KSPEC_E_ARG, "a matrix of %zu x %zu exceeds %d", m, n, MOST);
    const size_t least = m < n ? m : n, room = ks_size(n, BLOCK);
    double *tau = ks_alloc(least + room, sizeof *tau);
    if (!tau) return ks_nomem(err, "a QR factorisation", ks_size(room, sizeof *tau));
    kspec_status st = ks_lapack_reserve(err);
    if (!st) {
        ks_blas_begin();
        int info =
            LAPACKE_dgeqrf_work(LAPACK_COL_MAJOR, (int)m, (int)n, A, (int)m, tau, tau + least, (int)room);
        ks_blas_end();
        if (info) st = ks_fail(err, KSPEC_E_NUMERIC, "the QR factorisation fails at column %d", info);
    }
    ks_free(tau);
    return st;
}
