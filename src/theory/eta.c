/* Computes the eta of the RBF kernel's closed form from two covariance matrices: Sx v = eta S v. */
#include "base/error.h"
#include "base/matrix.h"
#include "base/memory.h"
#include "linalg/covariance.h"
#include "linalg/eigen.h"
#include "linalg/linalg.h"
#include "kspec/theory.h"

#include <float.h>

kspec_status kspec_theory_rbf_eta(const kspec_matrix *S, const kspec_matrix *Sx, double *eta, size_t *count,
                                  kspec_error *err) {
    ks_clear(err);
    kspec_status st = ks_check_pointer(err, count, "count");
    if (st) return st;
    *count = 0;
    if (!S && !Sx) return ks_fail(err, KSPEC_E_ARG, "Sigma and Sigma_x are both missing (NULL)");
    if ((st = ks_check_pointer(err, eta, "eta"))) return st;
    if ((st = ks_matrix_check(S ? S : Sx, S ? "Sigma" : "Sigma_x", err))) return st;
    size_t d = S ? S->rows : Sx->rows;
    ks_arena arena = {0};
    double *M = ks_arena_alloc(&arena, ks_size(d, d), sizeof *M),
           *C = ks_arena_alloc(&arena, ks_size(d, d), sizeof *C);
    st = arena.failed ? ks_nomem(err, "a covariance matrix", arena.failed)
                      : ks_relative_factor(S, Sx, d, M, err);
    if (!st && !(st = ks_blas_enter(1, err))) {
        ks_gemm(1, 0, d, d, d, 1, M, d, M, d, 0, C, d); /* M^T M = L^-1 Sx L^-T */
        st = ks_syevd(0, d, C, d, eta, err);
        ks_blas_exit();
    }
    ks_arena_free(&arena);
    if (st) return st;
    ks_reverse(d, eta);
    while (*count < d && eta[*count] > 4 * (double)d * DBL_EPSILON * eta[0]) ++*count;
    if (!(eta[0] <= DBL_MAX)) {
        *count = 0;
        return ks_fail(err, KSPEC_E_DATA,
                       "Sigma is too small beside Sigma_x: eta exceeds the largest double");
    }
    if (*count == 0) return ks_fail(err, KSPEC_E_DATA, "Sigma_x is zero: the inputs do not vary");
    return KSPEC_OK;
}
