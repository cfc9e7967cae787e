/* COIN-OR Clp behind a wall: it throws where it is out of memory, and what is thrown must not reach C. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* minimise cost.x subject to A x = b, x >= 0: the entries of A column by column, from start[j] on */
typedef struct {
    int rows, cols;
    const int *start, *index;
    const double *value, *lower, *cost, *b;
} ks_clp_problem;

/* How to solve it */
typedef struct {
    double tolerance;
    /* Clp's scaling mode; the dual simplex method in place of the primal one */
    int scaling, dual;
} ks_clp_method;

typedef enum { KS_CLP_OPTIMAL, KS_CLP_NOT_SOLVED, KS_CLP_NO_MEMORY } ks_clp_outcome;

/* x (cols) and y (rows) receive Clp's answer, unless it is out of memory; adds to *iterations. */
ks_clp_outcome ks_clp_solve(const ks_clp_problem *p, const ks_clp_method *how, double *x, double *y,
                            int *iterations);

#ifdef __cplusplus
}
#endif
