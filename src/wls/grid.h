/* What the computations on the Fourier grid share: checked options, and the parts they are made of. */
#ifndef KS_WLS_GRID_H
#define KS_WLS_GRID_H

#include "base/memory.h"
#include "base/parallel.h"
#include "wls/toeplitz.h"
#include "kspec/wls.h"

/*
 * Takes and checks the options and the list of p, 1 <= p <= P; P = 0 becomes max(N, largest p). t^(4 alpha), t^(4 beta)
 * and t^(2 gamma) must be within the range of doubles for all t that occur.
 */
kspec_status ks_wls_check(const kspec_wls_opts *theirs, const size_t *p, size_t count, kspec_wls_opts *ours,
                          kspec_error *err);

/* t^e with t = 1+k */
double ks_wls_power(size_t k, double e);

/* sum_{k<P} t_k^(-2 gamma) = 1/c */
double ks_wls_prior_sum(const kspec_wls_opts *o);

/* A value of p and its place in the caller's list */
typedef struct {
    size_t p, index;
} ks_wls_place;

/* The values below N (which = under) or the others, in increasing order, to `at`; returns how many. */
size_t ks_wls_sort(const size_t *p, size_t count, size_t N, kspec_wls_regime which, ks_wls_place *at);

/* The points with p >= N in one sweep, out[at[i].index] for i < count, count > 0. Memory: 7 N doubles. */
kspec_status ks_wls_over(const ks_run *run, const kspec_wls_opts *o, const ks_wls_place *at, size_t count,
                         kspec_wls_point *out, kspec_error *err);

/* The points with p < N, in parallel; `qr` as below. */
kspec_status ks_wls_under(const ks_run *run, const kspec_wls_opts *o, const ks_wls_place *at, size_t count,
                          int qr, kspec_wls_point *out, kspec_error *err);

/*
 * All points, with options that are checked. qr: where the weights are too steep for the recursion, QR takes over; else
 * such points are left with what accuracy they have, which may be infinite.
 */
kspec_status ks_wls_points(const ks_run *run, const kspec_wls_opts *o, const size_t *p, size_t count, int qr,
                           kspec_wls_point *out, kspec_error *err);

/* What a fit of one p needs, for any number of fits. */
typedef struct {
    size_t N, p;
    double beta;
    const double *w; /* p < N: the weights */
    const ks_fft *fft;
    const ks_run *run;  /* as in ks_toeplitz */
    const ks_cplx *map; /* of ks_wls_dense_map(), or NULL */
} ks_wls_fitter;

/* Numbers of scratch for a fit. */
size_t ks_wls_fit_scratch(const ks_wls_fitter *f);

/* theta (p) from y (N); what ks_toeplitz_solve() returns: after KS_STEEP the dense map is needed. */
int ks_wls_fit(const ks_wls_fitter *f, const ks_cplx *y, ks_cplx *theta, ks_cplx *scratch);

/* The weights t_j^(-2 alpha), j < N. */
void ks_wls_weights(const kspec_wls_opts *o, double *w);

/*
 * The conjugate transpose of M, the map from y to theta (p < N), N x p column-major, by QR; and how far M A is from the
 * identity. Refuses what takes more than 1e11 N p^2 or more memory than there is.
 */
kspec_status ks_wls_dense_map(size_t N, size_t p, const double *w, ks_arena *arena, ks_cplx **map,
                              double *accuracy, kspec_error *err);

#endif
