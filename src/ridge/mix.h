/*
 * Predicts errors for features of several kinds, with one fixed point for each kind.
 *
 * A frequency of a Matern kernel is normal once its scale s is given. Features of similar scale form one
 * kind, and their kernel is the Gaussian kernel of rows times s. The shares p_h of the N frequencies and the
 * scales s_h come from ks_matern_rule(); cosines and sines are separate kinds:
 *
 *     Q = (sum_h k_h K_h + ridge I)^-1, k_h = (N/n) p_h/(shift + x_h), to solve: x_h = G_h(x) = tr(K_h Q)/n
 *
 * with shift and ridge as in resolvent.h. The proof in solve.c that Newton's method converges holds for any
 * number of kinds.
 */
#pragma once

#include "ridge/plan.h"

enum { KS_MIX_MOST = 12 }; /* kinds */

typedef struct ks_mix {
    size_t count;
    double share[KS_MIX_MOST];
    int sine[KS_MIX_MOST]; /* 1 for sines; 0 for cosines, or for all features of a frequency */
    /* for each kind: the kernels K, Kt and own, as in the plan (plan.h) */
    double *K[KS_MIX_MOST], *Kt[KS_MIX_MOST], *own[KS_MIX_MOST];
    double trace[KS_MIX_MOST], trace_t[KS_MIX_MOST];
    double *M[KS_MIX_MOST];    /* n x n: Q K_h */
    double *Q, *work, *H, *HK; /* scratch matrices; Q and work are n x n, H and HK are nt x n */
} ks_mix;

typedef struct {
    double N, lambda, shift, ridge;
    double x[KS_MIX_MOST], G[KS_MIX_MOST], t0[KS_MIX_MOST]; /* t0: tr(Q K_h Q)/n */
    double D[KS_MIX_MOST][KS_MIX_MOST];                     /* dG_g/dx_h */
    double residual, error;
    int iterations;
    kspec_ridge_state state;
} ks_mix_solution;

/*
 * Returns the number of doubles for the matrices of a plan with this kernel and activation; the second
 * function allocates them.
 */
size_t ks_mix_size(const kspec_ridge *r);
void ks_mix_alloc(kspec_ridge *r);

/* Computes the kernels of all kinds from r->X and r->Xt. */
kspec_status ks_mix_make(kspec_ridge *r, const ks_run *run, kspec_error *err);

/*
 * Solves the fixed points for N frequencies. Afterwards r->mix->Q is the resolvent, unless lambda = 0 has
 * no limit.
 */
kspec_status ks_mix_solve(kspec_ridge *r, const ks_run *run, double N, double lambda, ks_mix_solution *s,
                          kspec_error *err);

/* Computes only Q, for the given x. */
kspec_status ks_mix_resolvent(kspec_ridge *r, const ks_run *run, ks_mix_solution *s, int second,
                              kspec_error *err);

/* Computes the `count` numbers y = (I - D)^-1 b. Returns 0 if I - D is not an M-matrix. */
int ks_mix_omega(const ks_mix *m, const ks_mix_solution *s, const double *b, double *y);

/* Computes a point of kspec_ridge_predict(). */
kspec_status ks_mix_point(kspec_ridge *r, const ks_run *run, double N, double lambda, kspec_ridge_point *p,
                          kspec_error *err);
