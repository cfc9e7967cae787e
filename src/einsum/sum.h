/* A sum of products of graphs, each product once: what an expression becomes, step by step. */
#pragma once

#include "einsum/net.h"

/* the weights of a term: of the value, and of the value without one index of each axis */
enum { KS_SUM_WEIGHTS = 1 + KS_AXES };

/* A product of connected nets by number, in increasing order, up to 0 */
typedef struct {
    uint32_t part[KS_NET_LINKS];
    double weight[KS_SUM_WEIGHTS];
} ks_sum_term;

typedef ks_table ks_sum;
#define KS_SUM ((ks_sum){.size = sizeof(ks_sum_term), .key = sizeof((ks_sum_term){{0}}.part)})
static inline ks_sum_term *ks_sum_at(const ks_sum *s, size_t k) { return ks_table_at(s, k); }

/* Adds factor * weight times the product of these nets. After a failure *failed is the bytes wanted. */
void ks_sum_add(ks_sum *s, const uint32_t part[KS_NET_LINKS], const double weight[KS_SUM_WEIGHTS],
                double factor, size_t *failed);

/* ---- what is expanded ---- */

typedef struct {
    size_t size;
    /* INFINITY; the size of a finite population; `size` of a complete axis */
    double population;
    int centred;
    /* the axis of the groups that its indices come in, or 0: none */
    int groups;
    /* of an axis of groups: where each begins in a list of all indices; the matrix that has 1 where an index
     * is in a group, else 0; and, set by ks_sum_expand(), how many indices a tuple has */
    const size_t *first;
    int member, together;
} ks_axis;

static inline int ks_axis_complete(const ks_axis *a) { return a->population <= (double)a->size; }
/* Are indices free from the start? Those in groups are: their groups are distinct instead. */
static inline int ks_axis_free(const ks_axis *a) { return ks_axis_complete(a) || a->groups; }

/* coefficient times a product of entries of an expression, whose indices are the vertices of the net */
typedef struct {
    double coefficient;
    int part; /* the number of its expression */
    ks_net net;
} ks_monomial;

/*
 * Where a term has more distinct indices than an axis has: which axis, and how many; else axis = -1. big:
 * other than 0 where a product has so many entries and rows in groups, which is more than a graph can have.
 */
typedef struct {
    int axis, wanted, big;
} ks_sum_shortage;

/*
 * The expression, in which indices of an axis are distinct (or drawn from a population, or any), as a sum in
 * which every index is free:
 *  - centring replaces X[i,a] by X[i,a] - X[i',a] with an index i' of its own;
 *  - an index that is drawn from N is a new one, or one of those drawn before with probability 1/N each;
 *  - an index v that differs from u_1 ... u_r is free, less the r graphs in which it is one of them:
 *    together these are the weights mu of the partitions (Moebius inversion), without a list of partitions.
 *  - indices in groups are free, and tied to distinct groups: X[i,a] becomes X[i,a] in[i,g], and g differs
 *    from all other groups. Terms with fewer indices get some that have no entries, so that all are means
 *    over the same tuples, and a constant that centring removes is removed whatever the sizes of groups.
 * Graphs that are equal are merged after each index. with_loo: weight[1+k] is that of the estimates without
 * one index of axis k, and vertices keep their positions. A complete axis is centred beforehand, in the data.
 * A shortage is left to the caller, who knows names: *out then is empty.
 */
kspec_status ks_sum_expand(const ks_monomial *monomials, size_t count, int part, ks_axis *axes, int naxes,
                           int with_loo, ks_nets *nets, ks_sum *out, ks_sum_shortage *shortage,
                           kspec_error *err);
