/* A pair of covariance matrices, one relative to the other. */
#pragma once

#include "kspec/base.h"

/*
 * M (dim x dim, row-major) = A^T L^-T, where L L^T = S and A A^T = Sx. For standard normal z and v,
 *     x = A z ~ N(0, Sx) and w = L^-T v ~ N(0, S^-1) have x.w = z^T M v,
 * and the eigenvalues of M^T M are the eigenvalues of Sx S^-1. Either matrix may be NULL, the identity. S
 * must be symmetric positive definite, Sx symmetric positive semidefinite; otherwise KSPEC_E_DATA, with the
 * entries or the eigenvalue in the message.
 */
kspec_status ks_relative_factor(const kspec_matrix *S, const kspec_matrix *Sx, size_t dim, double *M,
                                kspec_error *err);
