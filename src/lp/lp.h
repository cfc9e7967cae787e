/*
 * The linear-programming solver: minimise c.x subject to A x = b, x >= 0. One file names the solver's
 * library; another solver is another file with kspec_lp_solver() and ks_lp_solve().
 */
#pragma once

#include "kspec/spectrum.h"

typedef struct {
    size_t rows, cols;
    /* by columns: entry (i,j) is A[j*rows + i] */
    const double *A;
    const double *b, *c;
} ks_lp;

/*
 * x (cols) receives a solution that is a vertex (at most `rows` entries are not zero), y (rows) the dual one:
 * y^T A <= c and y.b = c.x, to about 1e-9 in a well scaled problem. Fails with KSPEC_E_NUMERIC where there is
 * no optimum.
 */
kspec_status ks_lp_solve(const ks_lp *lp, double *x, double *y, int *iterations, kspec_error *err);
