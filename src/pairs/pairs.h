/*
 * Estimates m(1), m(1)^2 and m(2) one pair of columns at a time. This general method supports rows and
 * columns in groups, and missing entries. Each estimate is computed from the whole matrix, without each group
 * of rows, and without each group of columns. Without groups, each row and each column is its own group.
 *
 * Every tuple of rows and columns counts once, as in path and exact. With centring, each term is the mean
 * over its tuples of rows from different groups. So a constant added to a column changes nothing if all
 * groups have the same size. If sizes differ (ks_groups_even), a constant does change the result, because the
 * terms weigh the rows differently. `alike` avoids this change.
 *
 * With missing entries and centring, the pair (a, c) of columns uses the n rows that contain both entries (in
 * both trials). The pair has the weight n (n-1), the number of cycles. Without centring, sums over the
 * available cycles are divided by their number.
 */
#pragma once

#include "base/parallel.h"
#include "base/groups.h"

typedef struct {
    /* the two trials (P x Q, dense, 0 for missing entries), or B = A with one trial */
    const double *A, *B;
    /* 1 for each entry of A and B that exists, 0 for a missing entry; NULL: no entry is missing */
    const double *seen_a, *seen_b;
    /* groups of the P rows and of the Q columns */
    const ks_groups *rows, *cols;
    int centered;
    /*
     * 1, for centred groups of rows: all tuples of four rows from different groups have equal weight in every
     * term. A constant then changes nothing, even if the groups' sizes differ
     */
    int alike;
    int complete; /* 1: columns are complete, without groups, and pairs of a column with itself count */
} ks_pairs;

/*
 * Estimates of m(1), m(1)^2 and m(2): 1 + rows.count + cols.count of each, NaN if no data remain. `cycles`
 * (same size) is the fraction of the cycles of order 2 without missing entries, or NULL. `terms` (two numbers
 * or NULL) is the sum of the absolute values of the terms of m(1) and of m(2), from the whole matrix.
 */
typedef struct {
    double *trace, *square, *moment, *cycles, *terms;
} ks_pairs_out;

/* Time: about 100 (rows.count + P) Q^2 operations; a tenth of that if not centred. */
kspec_status ks_pairs_make(const ks_run *run, const ks_pairs *in, const ks_pairs_out *out, kspec_error *err);
