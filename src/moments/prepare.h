/*
 * What is done to a matrix before anything is estimated from it: columns divided by their standard
 * deviations, and rows that follow each other put into blocks.
 */
#pragma once

#include "base/groups.h"
#include "base/memory.h"
#include "kspec/moments.h"

/*
 * *phi becomes copies of the trials, in the arena, each column divided by its standard deviation over the
 * rows, about the mean of each trial and pooled over the trials. Missing entries stay missing; a column
 * that is constant, or not finite, stays as it is. Trials that have no one shape stay as they are.
 */
kspec_status ks_standardize(const kspec_matrix **phi, size_t ntrials, const size_t *row_trials,
                            ks_arena *arena, kspec_error *err);

/*
 * Estimates of order n in distinct columns: of all, without each group of rows, without each of Q columns.
 * Their rows are of data whose standard deviations are those of all rows.
 */
typedef struct {
    int n;
    double all, *rows;
    const double *cols;
} ks_left_out;

/*
 * Lets each group of rows be left out of the standard deviations, too, to first order. A cycle takes column a
 * once, so m is linear in 1/s_a^2, and the cycles through a add up to w_a = m - (Q-n)/Q m_{-a}. With
 * d_a = s_a^2 without the rows / s_a^2 - 1, m without them becomes m - sum_a d_a w_a.
 */
kspec_status ks_standard_left_out(const kspec_matrix *phi, size_t ntrials, const size_t *row_trials,
                                  const ks_groups *rows, const ks_left_out *list, size_t count,
                                  kspec_error *err);

/*
 * The labels of consecutive blocks of *block rows, in the arena; *labels stays NULL where *block is 0, or
 * turns out to be 1. KSPEC_BLOCK_AUTO becomes 2.5 times the length over which rows are correlated, or what
 * makes five blocks; `other` is a second matrix with the same rows, or NULL. Less than 1.75 times that
 * length is refused.
 */
typedef struct {
    const kspec_matrix *phi;
    size_t ntrials;
    const size_t *row_trials;
} ks_trials_given;
kspec_status ks_block_labels(size_t *block, const uint64_t **labels, const ks_trials_given *of,
                             const ks_trials_given *other, ks_arena *arena, kspec_error *err);
