/* Tests whether a matrix contains any signal, or whether every entry is independent noise. */
#pragma once

#include "moments/second.h"

typedef struct {
    kspec_evidence signal;
    /* m(2) in standard errors of pure noise; NaN if unknown */
    double z;
} ks_evidence;

/*
 * Uses the first split of the trials and pairs of different rows and columns, even if a side is complete. The
 * answer is UNKNOWN with groups or missing entries. It costs three second-order sums without leave-one-out
 * values; for one trial two, or one if s (or NULL), the estimates of m, has the sums of scaled columns.
 */
kspec_status ks_evidence_make(const ks_run *run, ks_measured *m, const ks_second *s, uint64_t seed,
                              ks_evidence *out, kspec_error *err);

/* The same for one trial, from the totals of its scaled columns and of their squares (ks_batch_job) */
void ks_evidence_of_totals(const double *scaled, const double *squared, size_t P, size_t Q, int centered,
                           ks_evidence *out);

/* kspec_name() */
const char *ks_evidence_name(kspec_evidence e);
