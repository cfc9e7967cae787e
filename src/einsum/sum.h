/*
 * Rewrites an expression as a weighted sum of products of graphs, in which every index runs freely over its
 * axis.
 */
#pragma once

#include "einsum/net.h"

/* the weights of a term: for the value, and for the value without one index of each axis */
enum { KS_SUM_WEIGHTS = 1 + KS_AXES };

/* A product of connected nets: their numbers in increasing order, ended by 0 */
typedef struct {
    uint32_t part[KS_NET_LINKS];
    double weight[KS_SUM_WEIGHTS];
} ks_sum_term;

typedef ks_table ks_sum;
#define KS_SUM ((ks_sum){.size = sizeof(ks_sum_term), .key = sizeof((ks_sum_term){{0}}.part)})
static inline ks_sum_term *ks_sum_at(const ks_sum *s, size_t k) { return ks_table_at(s, k); }

/*
 * Adds factor * weight times the product of these nets. After a failure *failed is the number of bytes
 * requested.
 */
void ks_sum_add(ks_sum *s, const uint32_t part[KS_NET_LINKS], const double weight[KS_SUM_WEIGHTS],
                double factor, size_t *failed);

/* ---- input of the expansion ---- */

typedef struct {
    size_t size;
    /* INFINITY, the size of a finite population, or `size` if the axis is complete */
    double population;
    int centred;
    /* the axis of the groups that contain the indices; 0: no groups */
    int groups;
    /*
     * for an axis of groups. first: the start of each group in a list of all indices. member: the matrix of
     * groups, whose entry is 1 if an index is in a group, else 0. together: the number of indices of a tuple,
     * which ks_sum_expand() sets.
     */
    const size_t *first;
    int member, together;
} ks_axis;

static inline int ks_axis_complete(const ks_axis *a) { return a->population <= (double)a->size; }
/* Are indices free from the start? Indices in groups are, since their groups are distinct instead. */
static inline int ks_axis_free(const ks_axis *a) { return ks_axis_complete(a) || a->groups; }

/* A coefficient times a product of entries. The vertices of the net are the indices of the expression */
typedef struct {
    double coefficient;
    int part; /* the number of the expression */
    ks_net net;
} ks_monomial;

/*
 * The reason why an expansion failed. axis: a term has more distinct indices than this axis (-1: no such
 * axis). big: the number of entries and grouped rows of a product that exceeds the limit of a graph, or 0.
 * zero: 1 if all products cancel.
 */
typedef struct {
    int axis, wanted, big, zero;
} ks_sum_shortage;

/*
 * Expands an expression into a sum in which every index is free. The indices of the expression may be free,
 * distinct, or drawn from a population.
 * - centring replaces X[i,a] by X[i,a] - X[i',a] with a new index i';
 * - an index drawn from N is a new one, or equals each earlier index with probability 1/N;
 * - an index v that differs from u_1 ... u_r is free, minus the r graphs in which v equals one of them.
 *   Together these are the weights mu of the partitions (Moebius inversion), without a list of partitions;
 * - indices in groups are free, and tied to distinct groups: X[i,a] becomes X[i,a] in[i,g], and g differs
 * from all other groups. Terms with fewer indices get additional indices without entries. Then all terms are
 * means over the same tuples, and centring removes a constant for any sizes of groups. After each index, the
 * expansion merges equal graphs. with_loo: weight[1+k] belongs to the estimates without one index of axis k,
 * and vertices keep their positions. The caller has already centred the data over a complete axis. If the
 * expansion fails by a shortage, *out is empty, and the caller, who knows the names, reports the shortage.
 */
kspec_status ks_sum_expand(const ks_monomial *monomials, size_t count, int part, ks_axis *axes, int naxes,
                           int with_loo, ks_nets *nets, ks_sum *out, ks_sum_shortage *shortage,
                           kspec_error *err);
