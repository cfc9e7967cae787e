/* Solves x = G(x) for (delta_cos, delta_sin), or for (theta_cos, theta_sin); resolvent.h defines them. */
#pragma once

#include "ridge/resolvent.h"

typedef struct {
    double x[2];
    ks_ridge_traces t; /* the traces at x, where r->Q holds the resolvent */
    int iterations;
    double residual, error;
    kspec_ridge_state state;
} ks_ridge_solution;

/* Holds a solved point of a path of lambda for one N; the next point starts from it. Zero-initialise. */
typedef struct {
    double lambda, x[2], slope[2]; /* slope holds d log x_a / d log lambda. */
} ks_ridge_solved;

/*
 * Finds a start for lambda > 0, extrapolated from `count` solved points, and an upper bound of the solution.
 */
void ks_ridge_start(const kspec_ridge *r, double lambda, const ks_ridge_solved *solved, size_t count,
                    double start[2], double upper[2]);

/* Returns the entry of a solution for the list of solved points. */
ks_ridge_solved ks_ridge_remember(double lambda, const ks_ridge_solution *s);

/* Computes y = (I - D)^-1 b = Omega b. Returns 0 and does not set y if I - D is not an M-matrix. */
int ks_ridge_omega(const ks_ridge_traces *t, const double b[2], double y[2]);

/* Solves from start. A system without a ridge ignores start and upper. */
kspec_status ks_ridge_solve(kspec_ridge *r, const ks_run *run, const ks_ridge_system *sys,
                            const double start[2], const double upper[2], ks_ridge_solution *s,
                            kspec_error *err);
