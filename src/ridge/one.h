/*
 * Predicts errors by one fixed point, for features of a single kernel K. Everything is diagonal in K's
 * eigenvectors. After one eigendecomposition, a point (N, lambda) costs n x n_test multiply-adds:
 *
 *     q_i = 1/(k l_i + ridge),   k = (N/n)/(shift + x),   to solve: x = sum_i l_i q_i / n
 *
 * with shift, ridge and x as in resolvent.h, and N for 2N.
 */
#pragma once

#include "base/memory.h"
#include "ridge/activation.h"

typedef struct ks_one {
    size_t n, nt, m;
    ks_activation f;
    int intercept;  /* 1 to subtract the means over the training rows from the features */
    double trace_t; /* tr K(Xt,Xt) */
    double largest; /* the largest diagonal entry of K */
    double *kt;     /* nt: nt numbers: K(x,x) of the test rows */
    double *V;      /* the eigenvectors of K as rows, n x n */
    double *l;      /* n: the eigenvalues */
    double *w;      /* n x m: V Y */
    double *P;      /* nt x n: K(Xt,X) V^T */
    double *pp;     /* the squared lengths of the n columns of P */
    const double *Y, *Yt;
    double *scratch; /* nt x n */
} ks_one;

/*
 * Holds the rows x (n x p) and xt (nt x p) in units of sigma. For a kernel of differences, their mean is
 * subtracted.
 */
typedef struct {
    const double *x, *xt;
    size_t p;
} ks_one_rows;

/*
 * The first function returns the number of doubles that a basis needs; the second allocates them. The
 * caller sets the sizes, f, Y and Yt first.
 */
size_t ks_one_size(size_t n, size_t nt, size_t m, size_t p);
void ks_one_alloc(ks_one *b, ks_arena *a);

/* Computes the kernels of the rows and their eigenvectors, on this thread alone. */
kspec_status ks_one_make(ks_one *b, const ks_one_rows *rows, kspec_error *err);

/* Holds the solution for N > 0 and lambda > 0, or for the limit lambda = 0. */
typedef struct {
    double N, lambda, shift, ridge, x, k;
    double omega, t0; /* omega is 1/(1 - dG/dx), and t0 is sum_i l_i q_i^2 / n. */
    double residual, error;
    int iterations;
    kspec_ridge_state state;
} ks_one_solution;

/* Returns KSPEC_E_NUMERIC if lambda = 0 has no limit because K is singular. */
kspec_status ks_one_solve(const ks_one *b, double N, double lambda, double tolerance, int most,
                          ks_one_solution *s, kspec_error *err);

/* Over draws of W, the outputs have the covariance scale[t] form (m x m) in test row t. */
void ks_one_spread(const ks_one *b, const ks_one_solution *s, double *scale, double *form);

/*
 * Computes the errors of each column of y at `count` solutions. train and test have count x m numbers
 * each; test may be NULL. `scratch` has room for (n + nt) x m x count. For a single solution, the last nt
 * x m numbers of scratch are the mean outputs.
 */
void ks_one_errors(const ks_one *b, const ks_one_solution *s, size_t count, double *scratch, double *train,
                   double *test);
