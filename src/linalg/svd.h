/* Singular values. */
#pragma once

#include "kspec/base.h"

/*
 * A (m x n, row-major, destroyed) = U diag(s) Vt with r = min(m,n): U is m x r, Vt is r x n, both row-major
 * and dense; s decreases. Allocates its workspace.
 */
kspec_status ks_svd(size_t m, size_t n, double *A, double *U, double *s, double *Vt, kspec_error *err);
