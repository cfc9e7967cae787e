/* Factors one covariance matrix relative to another one. */
#pragma once

#include "kspec/base.h"

/*
 * Computes M = A^T L^-T (dim x dim, row-major), where L L^T = S and A A^T = Sx. Let z and v be standard
 * normal. Then x = A z ~ N(0, Sx) and w = L^-T v ~ N(0, S^-1) have x.w = z^T M v. The eigenvalues of M^T M
 * are the eigenvalues of Sx S^-1. NULL stands for the identity. S must be symmetric positive definite, Sx
 * symmetric positive semidefinite; otherwise KSPEC_E_DATA, with the entries or the eigenvalue in the message.
 */
kspec_status ks_relative_factor(const kspec_matrix *S, const kspec_matrix *Sx, size_t dim, double *M,
                                kspec_error *err);
