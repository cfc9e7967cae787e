/*
 * Declares the functions that kspec_compare() and kspec_compare_batch() share. These functions check options
 * and open a matrix.
 */
#pragma once

#include "kspec/dimension.h"
#include "moments/second.h"

/* Checks the options that do not depend on the matrices, and sets defaults. */
kspec_status ks_compare_check(kspec_compare_opts *o, kspec_error *err);

/*
 * Opens the first or the second matrix. Messages name the matrix by the string `what`. `there` is the run
 * whose device stores the matrix, or NULL for a matrix in host memory. *used receives the matrix,
 * standardised if requested.
 */
kspec_status ks_compare_open(const kspec_compare_opts *o, const ks_trials_given *g, int second,
                             const char *what, const ks_run *there, int threads, ks_measured *m,
                             const kspec_matrix **used, ks_arena *arena, kspec_error *err);
