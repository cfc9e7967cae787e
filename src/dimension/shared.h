/* Estimates how many dimensions two matrices share: (tr Sxy Syx)^2 / tr (Sxy Syx)^2, both without bias. */
#pragma once

#include "kspec/dimension.h"

/*
 * Sets r->shared_dimension and its interval by expressions (einsum/). The shared dimension stays NaN with
 * groups, with ragged trials, with too few rows or columns, and if it needs more work than `most`.
 */
kspec_status ks_shared_make(const kspec_compare_opts *o, const kspec_matrix *phi, size_t ntrials,
                            const kspec_matrix *psi, size_t other_ntrials, double most,
                            kspec_compare_result *r, kspec_error *err);

/*
 * Is the shared dimension defined, and might its plan take at most `most` multiply-adds? If not,
 * ks_shared_make() does not read the entries.
 */
int ks_shared_small(const kspec_compare_opts *o, const kspec_matrix *phi, const kspec_matrix *psi,
                    double most);
