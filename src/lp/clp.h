/*
 * C functions around COIN-OR Clp. Without memory Clp throws a C++ exception, which must not reach C.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Minimise cost.x subject to A x = b, x >= 0. Column j of A has the entries from start[j] on. */
typedef struct {
    int rows, cols;
    const int *start, *index;
    const double *value, *lower, *cost, *b;
} ks_clp_problem;

/* Settings of the solver */
typedef struct {
    double tolerance;
    /* scaling: Clp's mode of scaling. dual: 1 for the dual simplex method, 0 for the primal one */
    int scaling, dual;
} ks_clp_method;

typedef enum { KS_CLP_OPTIMAL, KS_CLP_NOT_SOLVED, KS_CLP_NO_MEMORY } ks_clp_outcome;

/* Writes Clp's solution to x (cols) and y (rows), unless Clp is out of memory; adds to *iterations. */
ks_clp_outcome ks_clp_solve(const ks_clp_problem *p, const ks_clp_method *how, double *x, double *y,
                            int *iterations);

#ifdef __cplusplus
}
#endif
