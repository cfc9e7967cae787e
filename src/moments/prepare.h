/*
 * Prepares a matrix before the estimators see it: divides columns by their standard deviations, and groups
 * consecutive rows into blocks.
 */
#pragma once

#include "base/groups.h"
#include "base/memory.h"
#include "kspec/moments.h"

/*
 * Replaces *phi by standardized copies of the trials in the arena. Each column is divided by its standard
 * deviation over the rows, which is computed about the mean of each trial and pooled over the trials. Missing
 * entries stay missing. A column that is constant or contains infinite entries does not change. If trials
 * differ in shape, *phi does not change.
 */
kspec_status ks_standardize(const kspec_matrix **phi, size_t ntrials, const size_t *row_trials,
                            ks_arena *arena, kspec_error *err);

/*
 * Estimates of order n in distinct columns: from all data, without each group of rows, and without each of Q
 * columns. The estimates without rows still use the standard deviations of all rows.
 */
typedef struct {
    int n;
    double all, *rows;
    const double *cols;
} ks_left_out;

/*
 * Corrects the estimates without a group of rows for the change of the standard deviations, to first order. A
 * cycle contains column a at most once, so m is linear in 1/s_a^2. The cycles through a add up to w_a = m -
 * (Q-n)/Q m_{-a}, where m_{-a} is the estimate without column a. Let 1 + d_a be s_a^2 without the rows,
 * divided by s_a^2. Then m without the rows becomes m - sum_a d_a w_a.
 */
kspec_status ks_standard_left_out(const kspec_matrix *phi, size_t ntrials, const size_t *row_trials,
                                  const ks_groups *rows, const ks_left_out *list, size_t count,
                                  kspec_error *err);

/*
 * Labels consecutive blocks of *block rows, and stores the labels in the arena. If *block is 0 or becomes 1,
 * *labels stays NULL. KSPEC_BLOCK_AUTO sets *block to 2.5 times the correlation length of the rows, or to the
 * length that gives five blocks. `other` is a second matrix with the same rows, or NULL. The function rejects
 * a block shorter than 1.75 correlation lengths.
 */
typedef struct {
    const kspec_matrix *phi;
    size_t ntrials;
    const size_t *row_trials;
} ks_trials_given;
kspec_status ks_block_labels(size_t *block, const uint64_t **labels, const ks_trials_given *of,
                             const ks_trials_given *other, ks_arena *arena, kspec_error *err);
