/*
 * Estimates m(1), m(1)^2 and m(2) one pair of columns at a time. This general method supports rows and
 * columns in groups, and missing entries. Each estimate is computed from the whole matrix, without each group
 * of rows, and without each group of columns. Without groups, each row and each column is its own group.
 *
 * Every tuple of rows and columns counts once, as in the path and the exact estimators. With centring, each
 * term is the mean over its tuples of rows from different groups. So a constant added to a column changes
 * nothing if all groups have the same size. If sizes differ (ks_groups_even), a constant does change the
 * result, because the terms weigh the rows differently. The option `alike` avoids this change.
 *
 * With missing entries and centring, a pair (a, c) of columns uses the n rows that contain both entries (in
 * both trials). The pair has the weight n (n-1), which is the number of cycles. Without centring, sums over
 * the available cycles are divided by their number.
 */
#pragma once

#include "base/parallel.h"
#include "base/groups.h"

typedef struct {
    /* The two trials are dense P x Q matrices with 0 for missing entries. With one trial, B = A. */
    const double *A, *B;
    /*
     * seen_a is 1 for each entry of A that exists, and 0 for a missing entry. seen_b does the same for B.
     * seen_a and seen_b are NULL if no entry is missing.
     */
    const double *seen_a, *seen_b;
    const ks_groups *rows, *cols;
    int centered;
    /*
     * alike matters only for centred groups of rows. If alike is 1, all tuples of four rows from different
     * groups have equal weight in every term. Then a constant added to a column changes nothing, even if the
     * groups differ in size.
     */
    int alike;
    /*
     * If complete is 1, the columns are complete and not in groups, and pairs of a column with itself count.
     */
    int complete;
} ks_pairs;

/*
 * trace, square and moment are the estimates of m(1), m(1)^2 and m(2). Each list contains 1 + rows.count +
 * cols.count numbers, which are NaN if no data remain. `cycles` is NULL, or a list of the same length with
 * the fraction of the cycles of order 2 without missing entries. `terms` is NULL, or receives the sums of the
 * absolute values of the terms of m(1) and of m(2), from the whole matrix.
 */
typedef struct {
    double *trace, *square, *moment, *cycles, *terms;
} ks_pairs_out;

/*
 * Computes the estimates in about 100 (rows.count + P) Q^2 operations. Data that are not centred take a tenth
 * of the operations.
 */
kspec_status ks_pairs_make(const ks_run *run, const ks_pairs *in, const ks_pairs_out *out, kspec_error *err);
