/* Computes cross-validated eigenvalues from two halves of the trials. */
#include "spectrum/cvpca.h"

#include "base/memory.h"
#include "linalg/eigen.h"
#include "linalg/linalg.h"

void ks_cvpca_alloc(ks_cvpca_room *room, size_t P, size_t Q, ks_arena *arena) {
    size_t n = P < Q ? P : Q, square = ks_size(n, n);
    room->gram = ks_arena_alloc(arena, square, sizeof(double));
    room->cross = ks_arena_alloc(arena, square, sizeof(double));
    room->product = ks_arena_alloc(arena, square, sizeof(double));
    room->values = ks_arena_alloc(arena, n, sizeof(double));
}

/*
 * Let A = U S V^T. Then (A v_k).(B v_k) = v_k^T A^T B v_k = u_k^T B A^T u_k. So the eigenproblem of the
 * shorter side suffices, without dividing by a singular value that may be zero.
 */
kspec_status ks_cvpca(const double *A, const double *B, size_t P, size_t Q, ks_cvpca_room *room,
                      double *lambda, kspec_error *err) {
    int columns = Q <= P;
    size_t n = columns ? Q : P, longer = columns ? P : Q;
    ks_gemm(columns, !columns, n, n, longer, 1, A, Q, A, Q, 0, room->gram, n);
    ks_gemm(columns, !columns, n, n, longer, 1 / ((double)P * (double)Q), B, Q, A, Q, 0, room->cross, n);
    kspec_status st = ks_syevd(1, n, room->gram, n, room->values, err);
    if (st) return st;
    /* the rows of gram are the eigenvectors, starting with the smallest eigenvalue */
    ks_gemm(0, 0, n, n, n, 1, room->gram, n, room->cross, n, 0, room->product, n);
    for (size_t k = 0; k < n; k++)
        lambda[k] = ks_dot(n, room->product + (n - 1 - k) * n, room->gram + (n - 1 - k) * n);
    return KSPEC_OK;
}
