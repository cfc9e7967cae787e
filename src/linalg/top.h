/* The largest eigenvalue of a symmetric matrix, with its vector. */
#pragma once

#include "kspec/base.h"

/* *w, v: the largest eigenvalue of A (n x n, n <= 32000, lower triangle read, destroyed) and unit vector. */
kspec_status ks_top_eigenpair(size_t n, double *A, double *w, double *v, kspec_error *err);
