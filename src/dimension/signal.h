/* Which part of the variance repeats across trials: of each column, and of all together. */
#pragma once

#include "base/groups.h"
#include "kspec/dimension.h"

/*
 * Sets signal_share and its interval, and the list of columns. Rows are left out by their groups. Of ragged
 * trials, or of one, nothing is set. center: ROWS, or NONE for second moments. col_share: what sampling
 * leaves of the columns' variance.
 */
kspec_status ks_signal_make(const kspec_dimension_opts *o, kspec_center center, const kspec_matrix *phi,
                            size_t ntrials, const ks_groups *rows, double col_share,
                            kspec_dimension_result *r, kspec_error *err);
