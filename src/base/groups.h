/*
 * Describes dependent groups of rows or columns: the group of each row, the order in which a computation
 * visits the groups, and the number of sets of n rows from n different groups.
 */
#pragma once

#include "base/memory.h"

#include "kspec/base.h"

/*
 * Describes one side of the matrix. Its n rows (or columns) are in `count` groups, numbered in order of first
 * appearance.
 */
typedef struct {
    size_t n, count;
    /* of[i] is the group of row i. If every row is a group by itself, count = n and all lists are NULL. */
    size_t *of;
    /* Group k has the members member[start[k]] ... member[start[k+1] - 1], in order. */
    size_t *start, *member;
} ks_groups;

/*
 * Builds the groups from n labels, which it compares for equality only. Without labels, or if all labels
 * differ, the rows are not grouped. At least two groups are needed. `what` is "row" or "column". The arena
 * owns the lists.
 */
kspec_status ks_groups_make(ks_groups *g, const uint64_t *labels, size_t n, const char *what, ks_arena *arena,
                            kspec_error *err);

static inline size_t ks_group_of(const ks_groups *g, size_t i) { return g->of ? g->of[i] : i; }
static inline size_t ks_group_size(const ks_groups *g, size_t k) {
    return g->of ? g->start[k + 1] - g->start[k] : 1;
}

/* Do all groups have the same size? */
static inline int ks_groups_even(const ks_groups *g) {
    for (size_t k = 1; k < g->count; k++)
        if (ks_group_size(g, k) != ks_group_size(g, 0)) return 0;
    return 1;
}

/*
 * An order of the rows that keeps each group together. The i-th row in this order is row place[i] of the
 * matrix. The k-th group in this order has the number group[k], and its rows begin at first[k]. The last
 * entry is first[count] = n.
 */
typedef struct {
    size_t *place, *group, *first;
} ks_group_order;
kspec_status ks_group_order_alloc(ks_group_order *o, const ks_groups *g, ks_arena *arena, kspec_error *err);

/* Computes place and first from group. */
void ks_group_order_set(ks_group_order *o, const ks_groups *g);

/* A ks_wide is the number f 2^e, which may exceed the range of a double. */
typedef struct {
    double f;
    int e;
} ks_wide;
ks_wide ks_wide_of(double x);
ks_wide ks_wide_times(ks_wide a, ks_wide b);

/*
 * Computes the elementary symmetric polynomials e_0 ... e_nmax of the sizes of `count` groups. Group k begins
 * at first[k]. Group `without` is left out, or none if it is SIZE_MAX. e_n counts the sets of n rows from n
 * different groups.
 */
void ks_group_counts(const size_t *first, size_t count, size_t without, int nmax, ks_wide *e);
