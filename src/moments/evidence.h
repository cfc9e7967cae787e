/* Tests whether a matrix contains any signal, or whether every entry is independent noise. */
#pragma once

#include "moments/second.h"

typedef struct {
    kspec_evidence signal;
    /* z is m(2) divided by the standard error of m(2) for pure noise. z is NaN if unknown. */
    double z;
} ks_evidence;

/*
 * Tests the first split of the trials for signal. The test uses pairs of different rows and columns, even if
 * a side is complete. With groups or missing entries the answer is UNKNOWN. s contains the second-order
 * estimates of m, or is NULL. Two trials cost three second-order sums without leave-one-out values. One trial
 * costs two sums, or one sum if s contains the sums of scaled columns.
 */
kspec_status ks_evidence_make(const ks_run *run, ks_measured *m, const ks_second *s, uint64_t seed,
                              ks_evidence *out, kspec_error *err);

/*
 * Tests whether columns share noise. z is the evidence for signal in the difference of two trials, which has
 * no signal. z is large if a trial's noise moves the entries of a row together, as a common gain does. z is
 * NaN with one trial.
 */
kspec_status ks_evidence_of_noise(const ks_run *run, ks_measured *m, uint64_t seed, double *z,
                                  kspec_error *err);

/*
 * Computes the evidence for one trial from the sums of its scaled columns and from the sums of their squares
 * (ks_batch_job).
 */
void ks_evidence_of_totals(const double *scaled, const double *squared, size_t P, size_t Q, int centered,
                           ks_evidence *out);

const char *ks_evidence_name(kspec_evidence e);
