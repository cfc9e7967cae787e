/* Is there any signal in a matrix, or is every entry independent noise? */
#pragma once

#include "moments/second.h"

typedef struct {
    kspec_evidence signal;
    /* in standard errors where nothing but noise is there; NaN where it is unknown */
    double z;
} ks_evidence;

/*
 * From the first split of the trials, with pairs of different rows and columns, whatever is complete. UNKNOWN
 * with groups and missing entries. Three sums of second order, without anything left out.
 */
kspec_status ks_evidence_make(const ks_run *run, ks_measured *m, uint64_t seed, ks_evidence *out,
                              kspec_error *err);

/* The same of one trial, by the totals of its scaled columns and of their squares (ks_batch_job) */
void ks_evidence_of_totals(const double *scaled, const double *squared, size_t P, size_t Q, int centered,
                           ks_evidence *out);
