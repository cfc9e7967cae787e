/* Tests whether a matrix contains any signal, or whether every entry is independent noise. */
#pragma once

#include "moments/second.h"

typedef struct {
    kspec_evidence signal;
    /* m(2) divided by the standard error of m(2) for pure noise; NaN if unknown */
    double z;
} ks_evidence;

/*
 * Uses the first split of the trials and pairs of different rows and columns, even if a side is complete.
 * With groups or missing entries the answer is UNKNOWN. Two trials cost three second-order sums without
 * leave-one-out values, and one trial costs two. If s contains the sums of scaled columns, one trial costs
 * one sum. s: the estimates of m, or NULL.
 */
kspec_status ks_evidence_make(const ks_run *run, ks_measured *m, const ks_second *s, uint64_t seed,
                              ks_evidence *out, kspec_error *err);

/*
 * Tests whether columns share noise. z is the evidence of the trials' difference, which has no signal. z is
 * large if a trial's noise moves a row's entries together, as a common gain does. NaN if unknown or with one
 * trial.
 */
kspec_status ks_evidence_of_noise(const ks_run *run, ks_measured *m, uint64_t seed, double *z,
                                  kspec_error *err);

/*
 * Computes the evidence for one trial, from the totals of the scaled columns and of their squares
 * (ks_batch_job)
 */
void ks_evidence_of_totals(const double *scaled, const double *squared, size_t P, size_t Q, int centered,
                           ks_evidence *out);

/* kspec_name() */
const char *ks_evidence_name(kspec_evidence e);
