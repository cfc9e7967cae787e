/*
 * The linear-programming solver: minimise c.x subject to A x = b, x >= 0. Only one file names the library of
 * the solver. Another solver needs another file with kspec_lp_solver() and ks_lp_solve().
 */
#pragma once

#include "kspec/spectrum.h"

typedef struct {
    size_t rows, cols;
    /* stored by columns: entry (i,j) is A[j*rows + i] */
    const double *A;
    const double *b, *c;
} ks_lp;

/*
 * Writes a solution at a vertex (at most `rows` nonzero entries) to x (cols), and the dual solution to y
 * (rows): y^T A <= c and y.b = c.x, to about 1e-9 in a well scaled problem. Fails with KSPEC_E_NUMERIC if
 * there is no optimum.
 */
kspec_status ks_lp_solve(const ks_lp *lp, double *x, double *y, int *iterations, kspec_error *err);
