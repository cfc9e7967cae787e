/* Factors a pair of covariance matrices. */
#include "linalg/covariance.h"

#include "base/error.h"
#include "base/matrix.h"
#include "base/memory.h"
#include "linalg/blas.h"
#include "linalg/eigen.h"
#include "linalg/linalg.h"

#include <float.h>
#include <math.h>
#include <string.h>

/*
 * Entries that differ by more than this, in units of the variances, are unequal: rounding differs far less.
 */
static const double asymmetry = 1e-10;

/* Sets A to the symmetric part of S; fails unless S is dim x dim, finite and symmetric. */
static kspec_status take(const char *name, const kspec_matrix *S, size_t dim, double *A, kspec_error *err) {
    kspec_status st = ks_matrix_check(S, name, err);
    if (st) return st;
    if (S->rows != dim || S->cols != dim)
        return ks_fail(err, KSPEC_E_ARG, "%s is %zu x %zu, not %zu x %zu", name, S->rows, S->cols, dim, dim);
    if ((st = ks_matrix_copy(S, 0, dim, name, A, err))) return st;
    for (size_t k = 0; k < dim * dim; k++)
        if (fabs(A[k]) > 1e300)
            return ks_fail(err, KSPEC_E_DATA, "%s: entry (%zu,%zu) (from 0), %g, is not within +-1e300", name,
                           k / dim, k % dim, A[k]);
    for (size_t i = 0; i < dim; i++)
        for (size_t j = 0; j < i; j++) {
            double a = A[i * dim + j], b = A[j * dim + i];
            double size =
                fmax(sqrt(fabs(A[i * dim + i])) * sqrt(fabs(A[j * dim + j])), fmax(fabs(a), fabs(b)));
            if (fabs(a - b) > asymmetry * size)
                return ks_fail(err, KSPEC_E_DATA,
                               "%s is not symmetric: entry (%zu,%zu) (from 0) is %.9g and (%zu,%zu) is %.9g",
                               name, i, j, a, j, i, b);
            A[i * dim + j] = A[j * dim + i] = a / 2 + b / 2;
        }
    return KSPEC_OK;
}

static kspec_status not_definite(const char *name, const char *what, size_t dim, const double *w,
                                 kspec_error *err) {
    return ks_fail(err, KSPEC_E_DATA,
                   "%s is not positive %s: the smallest of its %zu eigenvalues is %.6g, the largest %.6g",
                   name, what, dim, w[0], w[dim - 1]);
}

/*
 * Computes L with S = L L^T in the lower triangle. Cholesky's method does not depend on the scale of rows and
 * columns. So a pivot is compared with its diagonal entry: below 4 dim roundings of that entry, the pivot is
 * rounding error.
 */
static kspec_status factor_S(const kspec_matrix *S, size_t dim, double *L, double *w, kspec_error *err) {
    kspec_status st = take("Sigma", S, dim, L, err);
    if (st) return st;
    for (size_t i = 0; i < dim; i++) w[i] = L[i * dim + i];
    int definite = ks_potrf(dim, L, dim) == 0;
    for (size_t i = 0; i < dim && definite; i++)
        definite = L[i * dim + i] * L[i * dim + i] > 4 * (double)dim * DBL_EPSILON * w[i];
    if (definite) return KSPEC_OK;
    take("Sigma", S, dim, L, err); /* for the message */
    st = ks_syevd(0, dim, L, dim, w, err);
    return st ? st : not_definite("Sigma", "definite", dim, w, err);
}

/*
 * Computes A^T with Sx = A A^T. Row i of A^T is the i-th eigenvector times the root of the i-th eigenvalue.
 */
static kspec_status factor_Sx(const kspec_matrix *Sx, size_t dim, double *At, double *w, kspec_error *err) {
    kspec_status st = take("Sigma_x", Sx, dim, At, err);
    if (!st) st = ks_syevd(1, dim, At, dim, w, err);
    if (st) return st;
    double rounding = 4 * (double)dim * DBL_EPSILON * fmax(fabs(w[0]), fabs(w[dim - 1]));
    if (w[0] < -rounding) return not_definite("Sigma_x", "semidefinite", dim, w, err);
    for (size_t i = 0; i < dim; i++) {
        double root = w[i] > rounding ? sqrt(w[i]) : 0;
        for (size_t j = 0; j < dim; j++) At[i * dim + j] *= root;
    }
    return KSPEC_OK;
}

kspec_status ks_relative_factor(const kspec_matrix *S, const kspec_matrix *Sx, size_t dim, double *M,
                                kspec_error *err) {
    /* M, L and the workspace of the eigenproblem */
    kspec_status st = ks_check_memory(err, ks_size(ks_size(dim, dim), 4 * sizeof(double)),
                                      "a pair of covariances of dimension %zu", dim);
    if (st) return st;
    ks_arena arena = {0};
    double *w = ks_arena_alloc(&arena, dim, sizeof *w), *L = NULL;
    if (S) L = ks_arena_alloc(&arena, ks_size(dim, dim), sizeof *L);
    if (arena.failed) {
        st = ks_nomem(err, "a covariance matrix", arena.failed);
        goto done;
    }
    if ((st = ks_blas_enter(1, err))) goto done;
    if (Sx) {
        st = factor_Sx(Sx, dim, M, w, err);
    } else {
        memset(M, 0, dim * dim * sizeof *M);
        for (size_t i = 0; i < dim; i++) M[i * dim + i] = 1;
    }
    if (!st && L) st = factor_S(S, dim, L, w, err);
    if (!st && L) { /* M <- M L^-T */
        ks_blas_begin();
        cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)dim, (int)dim, 1, L,
                    (int)dim, M, (int)dim);
        ks_blas_end();
    }
    ks_blas_exit();
done:
    ks_arena_free(&arena);
    return st;
}
