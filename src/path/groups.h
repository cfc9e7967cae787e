/*
 * The `path` estimator for rows or columns in groups: the mean over all cycles whose row groups, and whose
 * column groups, increase. A cycle takes at most one member of each group. Their number is e_n(sizes of the
 * row groups) e_n(sizes of the column groups), with e_n the elementary symmetric polynomial.
 */
#pragma once

#include "device/pair.h"
#include "base/groups.h"

/* Contiguous groups: group k is rows first[k] ... first[k+1]-1. */
typedef struct {
    size_t count;
    const size_t *first;
} ks_blocks;

/*
 * Needs nmax <= both counts of groups. Leave-one-out estimates leave out one group each: out->rows is nmax x
 * rows.count, out->cols nmax x cols.count, in the order of the groups. Time: the multiply-adds of ks_path()
 * one row at a time, two to four times as long. Memory beyond the matrix: nmax (P+Q) vector registers a
 * thread; leave-one-out estimates add 2 sqrt(rows.count) nmax Q.
 */
kspec_status ks_path_groups(const ks_run *run, const ks_pair *p, ks_blocks rows, ks_blocks cols,
                            const ks_moments_out *out, kspec_error *err);
