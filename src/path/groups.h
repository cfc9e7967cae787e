/*
 * The `path` estimator where rows or columns come in groups, of which a cycle takes one member each: the mean
 * over cycles whose row groups, and whose column groups, increase. There are e_n(sizes of the row groups)
 * e_n(sizes of the column groups) of them, e_n the elementary symmetric polynomial.
 */
#pragma once

#include "device/pair.h"
#include "base/groups.h"

/* Groups that stand together: group k is rows first[k] ... first[k+1]-1. */
typedef struct {
    size_t count;
    const size_t *first;
} ks_blocks;

/*
 * Needs nmax <= both counts of groups. Leave-one-out estimates are those without each group: out->rows is
 * nmax x rows.count, out->cols nmax x cols.count, in the order of the groups. Time: the multiply-adds of
 * ks_path() one row at a time, two to four times as long. Memory beyond the matrix: nmax (P+Q) vector
 * registers a thread, and with leave-one-out estimates 2 sqrt(rows.count) nmax Q more.
 */
kspec_status ks_path_groups(const ks_run *run, const ks_pair *p, ks_blocks rows, ks_blocks cols,
                            const ks_moments_out *out, kspec_error *err);
