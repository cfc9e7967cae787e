/*
 * The `path` estimator for rows or columns in groups: the mean over all cycles whose row groups, and whose
 * column groups, increase. A cycle contains at most one member of each group. The number of cycles is
 * e_n(sizes of the row groups) e_n(sizes of the column groups), with the elementary symmetric polynomial e_n.
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
 * nmax must not exceed the number of row groups or of column groups. Each leave-one-out estimate omits one
 * group: out->rows is nmax x rows.count and out->cols nmax x cols.count, in the order of the groups. Time:
 * the multiply-adds of ks_path() one row at a time, two to four times as long. Memory beyond the matrix: nmax
 * (P+Q) vector registers a thread; leave-one-out estimates add 2 sqrt(rows.count) nmax Q.
 */
kspec_status ks_path_groups(const ks_run *run, const ks_pair *p, ks_blocks rows, ks_blocks cols,
                            const ks_moments_out *out, kspec_error *err);
