/*
 * Estimates the alignment of a target with the kernel: how much of the target lies in directions of large
 * eigenvalues.
 */
#pragma once

#include "kspec/dimension.h"
#include "base/parallel.h"

/* Sets the list of targets. o->center must be ROWS or NONE. */
kspec_status ks_targets_make(const ks_run *run, const kspec_dimension_opts *o, const kspec_matrix *phi,
                             size_t ntrials, kspec_dimension_result *r, kspec_error *err);
