/* The spectrum of the sample matrix, biased by its size, for comparison. */
#pragma once

#include "base/parallel.h"
#include "kspec/moments.h"

/* Above this many eigenvalues they are not made: an eigenproblem of 4096 takes some seconds on one core. */
enum { KS_SAMPLE_MAX = 4096 };

/*
 * values (min(P,Q)) = the eigenvalues of M M^T/(PQ), decreasing, M the mean of the trials, centred or
 * normalised as `how` says. Trials have been checked by kspec_moments().
 */
kspec_status ks_sample_eigenvalues(const ks_run *run, const kspec_matrix *phi, size_t ntrials,
                                   const kspec_moments_opts *how, double *values, kspec_error *err);
