/*
 * Estimates the fraction of the variance that repeats across trials, for each column and for all columns
 * together.
 */
#pragma once

#include "base/groups.h"
#include "kspec/dimension.h"

/*
 * Sets signal_share, its interval, and the list of columns. The jackknife leaves out groups of rows. Ragged
 * trials, or one trial, give no result. center is ROWS, or NONE for second moments. col_share is the fraction
 * of the columns' variance that sampling leaves.
 */
kspec_status ks_signal_make(const kspec_dimension_opts *o, kspec_center center, const kspec_matrix *phi,
                            size_t ntrials, const ks_groups *rows, double col_share,
                            kspec_dimension_result *r, kspec_error *err);
