/* What the methods of kspec_spectrum() share: one file by_METHOD.c for each. */
#pragma once

#include "base/parallel.h"
#include "base/result.h"
#include "kspec/spectrum.h"

typedef struct {
    kspec_spectrum_opts o;
    ks_run run;
    /* count moments; their errors or NULL; count x count or NULL */
    const double *m, *std_error, *correlation;
    size_t count;
    /* the largest eigenvalue of the sample matrix; NaN without one */
    double sample_top;
    /* error bars were asked for, of moments that are estimated */
    int bars;
    /* scratch */
    ks_arena arena;
    /* when the call was made */
    double start;
    kspec_spectrum_result *r;
} ks_spectrum_job;

/* The longest list by moments, where the mass is free */
enum { KS_LISTED = 4096 };

/* From j's moments. */
kspec_status ks_spectrum_by_moments(ks_spectrum_job *j, kspec_error *err);

/* From the sample's own eigenvalues; j's moments, estimated with the options `how`, are the check. */
kspec_status ks_spectrum_by_fit(ks_spectrum_job *j, const kspec_matrix *phi, size_t ntrials,
                                const kspec_moments_opts *how, kspec_error *err);

/* Cross-validated, from trials; j's moments are beside. The check comes before anything else is done. */
kspec_status ks_check_cvpca(const kspec_matrix *phi, size_t ntrials, const kspec_moments_opts *how,
                            kspec_error *err);
kspec_status ks_spectrum_by_cvpca(ks_spectrum_job *j, const kspec_matrix *phi, size_t ntrials,
                                  const kspec_moments_opts *how, kspec_error *err);

/* Those of one split alone, min(P,Q) of them in the order of a half's singular values, without intervals */
kspec_status ks_spectrum_crossed(ks_spectrum_job *j, const kspec_matrix *phi, size_t ntrials,
                                 const kspec_moments_opts *how, double *lambda, kspec_error *err);

/* The factor by which the fit's first eigenvalue exceeds the sample's own, where that is too much; else 1 */
double ks_above_sample(const kspec_spectrum_result *r);

/* From j's moments, of which the first `rank` are used; checks them and the rank. */
kspec_status ks_spectrum_by_newton(ks_spectrum_job *j, kspec_error *err);
/* The largest rank */
enum { KS_NEWTON_RANK = 10 };

/* j's moments: 1 to 1000 finite numbers */
kspec_status ks_spectrum_check_moments(const ks_spectrum_job *j, kspec_error *err);

/* The result's given moments, with their errors and their participation ratio, from j's. */
kspec_status ks_spectrum_given(ks_spectrum_job *j, kspec_error *err);

/* The doubts about j's result, after those about its moments */
kspec_status ks_spectrum_doubts(ks_spectrum_job *j, kspec_error *err);
