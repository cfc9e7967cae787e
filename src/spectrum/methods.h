/* The common parts of the methods of kspec_spectrum(), each in a file by_METHOD.c. */
#pragma once

#include "base/parallel.h"
#include "base/result.h"
#include "kspec/spectrum.h"

typedef struct {
    kspec_spectrum_opts o;
    ks_run run;
    /* the moments, the moments' errors or NULL, and the errors' correlation (count x count) or NULL */
    const double *m, *std_error, *correlation;
    size_t count;
    /* the largest eigenvalue of the sample matrix; NaN if unknown */
    double sample_top;
    /* the caller wants error bars, and the moments are estimates */
    int bars;
    /* --method fit: z of noise that the trials' columns share; 0 if they share none */
    double noise_shared;
    /* --method fit: the exponent of the tail of the columns' mean squares without noise, or INFINITY */
    double tail;
    /* scratch */
    ks_arena arena;
    /* the start time of the call */
    double start;
    kspec_spectrum_result *r;
} ks_spectrum_job;

/* The most eigenvalues that `moments` lists if the caller gives no rank */
enum { KS_LISTED = 4096 };

/* Finds the eigenvalues whose moments are nearest to j's moments. */
kspec_status ks_spectrum_by_moments(ks_spectrum_job *j, kspec_error *err);

/* Uses the sample's own eigenvalues, and checks with j's moments, estimated with the options `how`. */
kspec_status ks_spectrum_by_fit(ks_spectrum_job *j, const kspec_matrix *phi, size_t ntrials,
                                const kspec_moments_opts *how, kspec_error *err);

/* Cross-validates trials, and reports j's moments for comparison. The check runs before any computation. */
kspec_status ks_check_cvpca(const kspec_matrix *phi, size_t ntrials, const kspec_moments_opts *how,
                            kspec_error *err);
kspec_status ks_spectrum_by_cvpca(ks_spectrum_job *j, const kspec_matrix *phi, size_t ntrials,
                                  const kspec_moments_opts *how, kspec_error *err);

/* Computes min(P,Q) eigenvalues of one split, in the order of a half's singular values, without intervals */
kspec_status ks_spectrum_crossed(ks_spectrum_job *j, const kspec_matrix *phi, size_t ntrials,
                                 const kspec_moments_opts *how, double *lambda, kspec_error *err);

/* The factor by which the fit's first eigenvalue exceeds the sample's own if that is too much; otherwise 1 */
double ks_above_sample(const kspec_spectrum_result *r);

/*
 * Is m(1) fixed by construction, as for standardized columns? Then the standard error of m(1) is zero to
 * rounding.
 */
int ks_trace_is_known(const kspec_spectrum_result *r);

/* The distance between the fitted and the unbiased m(n+1), divided by the distance that causes a warning */
double ks_disagreement(const kspec_spectrum_result *r, size_t n);

/* Checks the rank and the first `rank` moments of j, and uses only these moments. */
kspec_status ks_spectrum_by_newton(ks_spectrum_job *j, kspec_error *err);
/* The largest rank */
enum { KS_NEWTON_RANK = 10 };

/* Checks that j has 1 to 1000 moments, all finite. */
kspec_status ks_spectrum_check_moments(const ks_spectrum_job *j, kspec_error *err);

/* Copies j's moments, their errors and their participation ratio to the result. */
kspec_status ks_spectrum_given(ks_spectrum_job *j, kspec_error *err);

/* Adds the doubts about j's result, after the doubts about j's moments. */
kspec_status ks_spectrum_doubts(ks_spectrum_job *j, kspec_error *err);
