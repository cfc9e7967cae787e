/*
 * Rewrites an expression as a weighted sum of products of graphs in which every index runs freely over its
 * axis.
 */
#pragma once

#include "einsum/net.h"

/* A term has one weight for the value, and one for the value without an index of each axis. */
enum { KS_SUM_WEIGHTS = 1 + KS_AXES };

/* A product of connected nets, given by their numbers in increasing order. The list ends with 0. */
typedef struct {
    uint32_t part[KS_NET_LINKS];
    double weight[KS_SUM_WEIGHTS];
} ks_sum_term;

typedef ks_table ks_sum;
#define KS_SUM ((ks_sum){.size = sizeof(ks_sum_term), .key = sizeof((ks_sum_term){{0}}.part)})
static inline ks_sum_term *ks_sum_at(const ks_sum *s, size_t k) { return ks_table_at(s, k); }

/*
 * Adds factor * weight times the product of these nets. After a failure, *failed is the number of bytes
 * requested.
 */
void ks_sum_add(ks_sum *s, const uint32_t part[KS_NET_LINKS], const double weight[KS_SUM_WEIGHTS],
                double factor, size_t *failed);

/* ---- input ---- */

typedef struct {
    size_t size;
    /* population is the size of a finite population, or INFINITY. A complete axis has population = size. */
    double population;
    int centred;
    /* 0: no groups */
    int groups;
    /*
     * Only for an axis of groups. first lists the start of each group in a list of all indices. member is the
     * matrix of groups, whose entry is 1 if an index is in a group and 0 otherwise. ks_sum_expand() sets
     * together, the number of indices of a tuple.
     */
    const size_t *first;
    int member, together;
} ks_axis;

static inline int ks_axis_complete(const ks_axis *a) { return a->population <= (double)a->size; }
/*
 * Are the indices of this axis free from the start? Indices in groups are free, since their groups are
 * distinct instead.
 */
static inline int ks_axis_free(const ks_axis *a) { return ks_axis_complete(a) || a->groups; }

/*
 * A ks_monomial is a coefficient times a product of entries. The vertices of the net are the indices of the
 * expression.
 */
typedef struct {
    double coefficient;
    int part; /* of its expression */
    ks_net net;
} ks_monomial;

/*
 * Tells why an expansion failed. If axis is not -1, a term needs more distinct indices than this axis has. If
 * big is not 0, a product has `big` entries and grouped rows, which exceeds the limit of a graph. If zero is
 * 1, all products cancel.
 */
typedef struct {
    int axis, wanted, big, zero;
} ks_sum_shortage;

/*
 * Expands an expression into a sum in which every index is free. The indices of the expression may be free,
 * distinct, or drawn from a population.
 * - Centring replaces X[i,a] by X[i,a] - X[i',a] with a new index i'.
 * - An index drawn from a population of N is new, or equals each earlier index with probability 1/N.
 * - An index v that differs from u_1 ... u_r is free, minus the r graphs in which v equals one of them.
 *   The results have the weights mu of Moebius inversion, without a list of partitions.
 * - Indices in groups are free, and tied to distinct groups. So X[i,a] becomes X[i,a] in[i,g], and g differs
 * from all other groups. Terms with fewer indices get additional indices without entries. With these indices,
 * all terms are means over the same tuples, and centring removes a constant for any sizes of groups. After
 * each index, the expansion merges equal graphs. If with_loo is 1, weight[1+k] belongs to the estimates
 * without one index of axis k, and vertices keep their positions. The caller has already centred the data
 * over a complete axis. If an axis is too short, *out is empty. The caller knows the names, and reports the
 * shortage.
 */
kspec_status ks_sum_expand(const ks_monomial *monomials, size_t count, int part, ks_axis *axes, int naxes,
                           int with_loo, ks_nets *nets, ks_sum *out, ks_sum_shortage *shortage,
                           kspec_error *err);
