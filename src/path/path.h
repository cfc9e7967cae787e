/*
 * The `path` estimator: the mean value of all C(P,n) C(Q,n) cycles with increasing rows i_1 < ... < i_n and
 * increasing columns a_1 < ... < a_n. Time: (nmax-1) P^2 Q multiply-adds. Memory beyond the matrix: O(nmax
 * (P+Q)) vector registers a thread.
 */
#pragma once

#include "simd/simd.h"
#include "device/pair.h"
#include "base/groups.h"

/* Needs 1 <= nmax <= min(P,Q). KSPEC_E_NUMERIC if the sums of some order would exceed a double's range. */
kspec_status ks_path(const ks_run *run, const ks_pair *p, const ks_moments_out *out, kspec_error *err);

/*
 * Computes path with any trial on any edge (the paper's Algorithm A2). Edge 2l-1 is the step from i_l to a_l,
 * and edge 2l the step from a_l to i_{l+1}. Edge e = 1 ... 2nmax-1 uses trials[t[e-1]], and the edge that
 * closes a cycle of order n uses trials[close[n-1]]. m[n-1] receives the mean at order n.
 */
kspec_status ks_path_assigned(const ks_run *run, const double *const *trials, size_t P, size_t Q, int nmax,
                              const int *t, const int *close, double *m, kspec_error *err);

/* ---- shared with path_loo.c and path_groups.c ---- */

/*
 * Describes how the computation is divided and scaled. A block has `lanes` start rows. `together` blocks
 * go through the same band of rows and tile of columns one after the other, while the cache holds the
 * entries. The division does not change a bit of the result.
 */
typedef struct {
    const ks_simd *k;
    size_t P, Q, lanes, blocks, together, tile, band;
    int nmax;
    /* entries are multiplied by scale = 2^log2_scale */
    int log2_scale;
    double scale;
} ks_path_plan;
kspec_status ks_path_plan_make(ks_path_plan *plan, size_t P, size_t Q, int nmax, const ks_run *run,
                               kspec_error *err);

/* Like ks_path_plan_make(), for counts[n] cycles of order n = 1 ... nmax instead of C(P,n) C(Q,n). */
kspec_status ks_path_plan_count(ks_path_plan *plan, size_t P, size_t Q, int nmax, const ks_wide *counts,
                                const ks_run *run, kspec_error *err);

/*
 * Returns the factor f 2^e that turns a sum over cycles of order n in P x Q into a mean, for entries
 * scaled as planned.
 */
typedef struct {
    double f;
    int e;
} ks_path_factor;
ks_path_factor ks_path_mean(const ks_path_plan *plan, size_t P, size_t Q, int n);

/* Sets panel[b][l] to 2^log2_scale M[h0+l, b] for all columns b, or to 0 if row h0+l does not exist. */
void ks_path_panel(const ks_path_plan *plan, const double *M, size_t h0, double *panel);

/*
 * Adds lane l of the panel of start entries to A[1] of columns b0 ... b0+cols-1: lane l sees only rows after
 * h0+l.
 */
void ks_path_start(const ks_path_plan *plan, const double *panel, size_t l, size_t b0, size_t cols,
                   double *A);

/* Sets sums[n-1] to the sum of sum[n-1][l] over the lanes l, in their order. */
void ks_path_lane_sums(const ks_path_plan *plan, const double *sum, double *sums);

/* Computes the leave-one-out part of ks_path(), which calls it if out->rows and out->cols are given. */
kspec_status ks_path_loo(const ks_run *run, const ks_pair *p, const ks_moments_out *out, kspec_error *err);
