/* The largest eigenvalue of a symmetric matrix, and its eigenvector. */
#pragma once

#include "kspec/base.h"

/*
 * *Computes the largest eigenvalue w of A and its unit eigenvector v. A is n x n, n <= 32000; only the lower
 * triangle is read, and A is overwritten.
 */
kspec_status ks_top_eigenpair(size_t n, double *A, double *w, double *v, kspec_error *err);
