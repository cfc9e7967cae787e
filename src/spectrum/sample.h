/*
 * Computes the sample matrix's own eigenvalues, which are biased by the size of the sample, for comparison.
 */
#pragma once

#include "base/parallel.h"
#include "kspec/moments.h"

/* The largest eigenproblem that kspec solves for comparison. Order 4096 takes some seconds on one core. */
enum { KS_SAMPLE_MAX = 4096 };

/*
 * Sets values (min(P,Q)) to the eigenvalues of M M^T/(PQ), decreasing. M is the mean of the trials, centred
 * or normalised as `how` says. kspec_moments() has already checked the trials.
 */
kspec_status ks_sample_eigenvalues(const ks_run *run, const kspec_matrix *phi, size_t ntrials,
                                   const kspec_moments_opts *how, double *values, kspec_error *err);
