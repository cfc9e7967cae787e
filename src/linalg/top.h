/* The largest eigenvalue of a symmetric matrix, with its vector. */
#ifndef KS_LINALG_TOP_H
#define KS_LINALG_TOP_H

#include "kspec/base.h"

/* A (n x n, row-major, lower triangle read) is destroyed; *w the largest eigenvalue, v its unit vector. n <= 32000. */
kspec_status ks_top_eigenpair(size_t n, double *A, double *w, double *v, kspec_error *err);

#endif
