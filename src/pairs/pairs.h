/*
 * Estimates of first and second order, one pair of columns after the other: the general way, for rows and
 * columns that come in groups and for missing entries. Each is given from all of the matrix, without each
 * group of rows, and without each group of columns (where there are no groups, without each row and
 * column).
 *
 * Every tuple of rows and columns counts once, as in path and exact: centred, each term is the mean over its
 * tuples of rows from different groups. So a constant that is added to a column changes nothing where groups
 * are all as large, but does where they differ (ks_groups_even): the terms then weigh the rows differently,
 * unless they are to count `alike`.
 * With missing entries, the pair (a, c) of columns is taken over the n rows in which both are seen (in both
 * trials), and counts n (n-1) times, as often as there are cycles; not centred, sums over the cycles that
 * are there are divided by their number.
 */
#pragma once

#include "base/parallel.h"
#include "base/groups.h"

typedef struct {
    /* P x Q, dense, 0 where missing; the trials, B = A where there is one */
    const double *A, *B;
    /* 1 where A and B are seen, 0 elsewhere; NULL: everywhere */
    const double *seen_a, *seen_b;
    /* their n are P and Q */
    const ks_groups *rows, *cols;
    int centered;
    /*
     * centred groups of rows: 1: all tuples of four rows from different groups count alike in every term, so
     * that a constant changes nothing, whatever the groups' sizes
     */
    int alike;
    int complete; /* 1: these are all columns, and each is paired with itself, too; without column groups */
} ks_pairs;

/*
 * Estimates of m(1), m(1)^2 and m(2): 1 + rows.count + cols.count of each, NaN where nothing is left.
 * `cycles`, likewise, is the part of the cycles of order 2 that the missing entries leave, or NULL.
 * `terms`, two numbers or NULL: what the absolute values of the terms of m(1) and m(2), from all of the
 * matrix, add up to.
 */
typedef struct {
    double *trace, *square, *moment, *cycles, *terms;
} ks_pairs_out;

/* Time: about 100 (rows.count + P) Q^2 operations; not centred, a tenth of that. */
kspec_status ks_pairs_make(const ks_run *run, const ks_pairs *in, const ks_pairs_out *out, kspec_error *err);
