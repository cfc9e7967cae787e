/*
 * Declares the checked problem on the Fourier grid, with the results and functions that its computations
 * share.
 */
#pragma once

#include "base/memory.h"
#include "base/parallel.h"
#include "wls/toeplitz.h"
#include "kspec/wls.h"

/* A problem on the Fourier grid: It holds N and the options, checked and with defaults filled in. */
typedef struct {
    size_t N, P;
    double alpha, beta, gamma, noise;
    const double *spectrum; /* the spectrum of the noise, or NULL if it is noise^2 for all modes */
    int complex_noise, complex_data, no_variance;
    uint64_t seed;
} ks_wls_grid;

/* Returns N times the variance of the noise in mode m. */
static inline double ks_wls_noise(const ks_wls_grid *g, size_t m) {
    return g->spectrum ? g->spectrum[m] : g->noise * g->noise;
}

/*
 * Copies and checks N, the options and the list of p, 1 <= p <= P; P = 0 becomes max(N, largest p). Fills
 * `run` from the options' threads and progress.
 */
kspec_status ks_wls_check(size_t N, const size_t *p, size_t count, const kspec_wls_opts *opts, ks_wls_grid *g,
                          ks_run *run, kspec_error *err);

/* Checks that t^(4 alpha), t^(4 beta) and t^(2 gamma) are within the range of doubles for all t in use. */
kspec_status ks_wls_check_exponents(const ks_wls_grid *g, kspec_error *err);

static inline kspec_wls_regime ks_wls_regime_of(size_t N, size_t p) {
    return p < N ? KSPEC_WLS_REGIME_UNDER : KSPEC_WLS_REGIME_OVER;
}

/* Returns t^e with t = 1+k. */
double ks_wls_power(size_t k, double e);

/* Returns 1/c = sum_{k<P} t_k^(-2 gamma). */
double ks_wls_prior_sum(const ks_wls_grid *g);

/* Holds a value of p and its position in the caller's list. */
typedef struct {
    size_t p, index;
} ks_wls_place;

/*
 * Writes the values below N (under), or the values from N on (over), to `at` in increasing order. Returns
 * their number.
 */
size_t ks_wls_sort(const size_t *p, size_t count, size_t N, kspec_wls_regime which, ks_wls_place *at);

/* ---- expected errors ---- */

/* Holds the errors at one p, as in kspec_wls_point. */
typedef struct {
    double error_noise_free, error_noise, variance, accuracy;
} ks_wls_errors;

/*
 * Computes the errors for p >= N in one sweep: out[at[i].index] for i < count, count > 0. It uses memory
 * for 7 N doubles.
 */
kspec_status ks_wls_over(const ks_run *run, const ks_wls_grid *g, const ks_wls_place *at, size_t count,
                         ks_wls_errors *out, kspec_error *err);

/* Computes the errors for p < N, in parallel; ks_wls_expect() explains `qr`. */
kspec_status ks_wls_under(const ks_run *run, const ks_wls_grid *g, const ks_wls_place *at, size_t count,
                          int qr, ks_wls_errors *out, kspec_error *err);

/*
 * Computes the errors at all p of a list. If the weights are too steep for the recursion, `qr` uses QR
 * instead. Without `qr`, such points report their accuracy, which may be infinite.
 */
kspec_status ks_wls_expect(const ks_run *run, const ks_wls_grid *g, const size_t *p, size_t count, int qr,
                           ks_wls_errors *out, kspec_error *err);

/* ks_wls_expect() with QR. Fails if an error exceeds the largest double. */
kspec_status ks_wls_expect_all(const ks_run *run, const ks_wls_grid *g, const size_t *p, size_t count,
                               ks_wls_errors *out, kspec_error *err);

/* ---- results ---- */

/* Allocates a result with a point for each p. All fields except p, regime, alpha and beta are NaN. */
kspec_status ks_wls_result_new(const ks_wls_grid *g, const size_t *p, size_t count, kspec_wls_result **out,
                               kspec_error *err);

/* Fills in expected errors. */
void ks_wls_point_set(kspec_wls_point *point, const ks_wls_errors *e);

/* ---- fits ---- */

/* Holds everything that all fits at one p share. */
typedef struct {
    size_t N, p;
    double beta;
    /* the weights, for p < N */
    const double *w;
    const ks_fft *fft;
    /* as in ks_toeplitz */
    const ks_run *run;
    /* the result of ks_wls_dense_map(), or NULL */
    const ks_cplx *map;
} ks_wls_fitter;

/* Returns how many numbers of scratch a fit needs. */
size_t ks_wls_fit_scratch(const ks_wls_fitter *f);

/*
 * Fits theta (p numbers) to y (N numbers). It returns the result of ks_toeplitz_solve(). If that is
 * KS_STEEP, the caller should use the dense map.
 */
int ks_wls_fit(const ks_wls_fitter *f, const ks_cplx *y, ks_cplx *theta, ks_cplx *scratch);

/* Computes the weights t_j^(-2 alpha) for j < N. */
void ks_wls_weights(const ks_wls_grid *g, double *w);

/*
 * Computes by QR the conjugate transpose of M, the map from y to theta for p < N. The result is N x p and
 * column-major. It also computes the distance of M A from the identity. It fails if N p^2 exceeds 1e11, or
 * without enough memory.
 */
kspec_status ks_wls_dense_map(size_t N, size_t p, const double *w, ks_arena *arena, ks_cplx **map,
                              double *accuracy, kspec_error *err);
