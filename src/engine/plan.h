/*
 * Sums over all indices of products of matrix entries, many of them at once: an index is a vertex of a graph,
 * and an entry is an edge. Before any number is seen, the graphs become a shared list of operations on
 * matrices (search.c finds those of one graph, plan.c those of all), which run.c carries out.
 *
 * A vertex with one neighbour becomes a vector at it, one with two neighbours a matrix product between them,
 * and parallel edges become one, the elementwise product, until a single vertex is left. A graph in which
 * every vertex has three neighbours or more (treewidth above two) cannot be done so.
 */
#pragma once

#include "base/memory.h"
#include "kspec/base.h"

enum {
    /* the most edges and vertices of a graph */
    KS_NET_LINKS = 10,
    KS_NET_VERTICES = 2 * KS_NET_LINKS,
    /* the most vertices of a graph to be planned: of a connected one */
    KS_PLAN_VERTICES = KS_NET_LINKS + 1,
    /* the most kinds of indices, and matrices given */
    KS_AXES = 8,
    KS_SOURCES = 41,
    /* the most products parallel to one another: each stands for two edges or more */
    KS_FACTORS = KS_NET_LINKS / 2,
    /* the cost of passing a matrix element through memory, in multiply-adds of a product */
    KS_ELEMENT_COST = 60
};
/* the cost of a multiply-add of a symmetric product, in those of any other */
#define KS_SYMMETRIC_COST 0.65

/* ---- graphs ---- */

/* What a vertex, or an index of a matrix, runs over, in `exact`; elsewhere axes have no names. */
enum { KS_ROW, KS_COL };

/*
 * positions: how many indices of an expression became this one; 0 where nothing is left out. flag: for those
 * who make graphs.
 */
typedef struct {
    uint8_t axis, flag, positions;
} ks_vertex;

/* The entry [u,v] of a matrix */
typedef struct {
    uint8_t matrix, u, v;
} ks_link;

/* Unused vertices and links are zero, so that equal nets have equal bytes. */
typedef struct {
    uint8_t n, links;
    ks_vertex vertex[KS_NET_VERTICES];
    ks_link link[KS_NET_LINKS];
} ks_net;

/* A graph to be planned, the vertex that must be left or -1, and the states to look at, up to twice */
typedef struct {
    const ks_net *net;
    int root, budget;
} ks_plan_graph;

/* ---- operations ---- */

/*
 * Edges, weights, products and vectors stand in tables of the plan, equal ones once: their numbers say all
 * about them. Number 0 is the empty edge, and the empty weights.
 */

/*
 * An edge between two vertices (first, second): the elementwise product of matrices given and of earlier
 * products' matrices, each list in increasing order. An entry is 2 * number + (1 if transposed); behind the
 * last leaf there are 255s. `rest` is the edge without its last entry.
 */
typedef struct {
    uint32_t ref[KS_FACTORS];
    uint8_t nref, nleaf, leaf[KS_NET_LINKS];
    uint32_t rest;
} ks_edge;

/*
 * The weight of a vertex: the elementwise product of vectors, in increasing order; `rest` is the weight
 * without the last of them.
 */
typedef struct {
    uint32_t vec[KS_NET_LINKS], rest;
    uint8_t nvec;
} ks_weights;

/*
 * Elimination of a vertex w with two neighbours, which stands for `positions` indices, by axes:
 * O[u,v] = sum_w L[u,w] d[w] R[v,w]. ku <= kv.
 */
typedef struct {
    uint8_t ku, kv, kw, positions;
    uint32_t L, R, d;
} ks_product;

/*
 * Elimination of a vertex w with one neighbour u: o[u] = sum_w E[u,w] d[w]. If `diagonal` is 1, o is instead
 * the diagonal of a matrix of the data, and E is the number of that matrix.
 */
typedef struct {
    uint8_t ku, kw, diagonal, positions;
    uint32_t E, d;
} ks_vector;

/*
 * What is left of a graph: one vertex u, and the value sum_u du[u].
 * hard: no vertex had one or two neighbours. Four are left, two of each axis, r0, r1 and c0, c1, each joined
 * to each: sum E[r0,r1] F[c0,c1] X00[r0,c0] X01[r0,c1] X10[r1,c0] X11[r1,c1]; positions are theirs.
 * stuck: more than that is left, the vertices of this set; the plan leaves the graph out.
 */
typedef struct {
    uint8_t hard, ku, positions[4];
    uint32_t stuck, du, E, F, X[2][2];
} ks_terminal;

typedef enum { KS_OP_PRODUCT, KS_OP_VECTOR, KS_OP_TERMINAL } ks_op_kind;
typedef struct {
    ks_op_kind kind;
    /* of the product, vector or graph */
    uint32_t index;
} ks_op;

/* A matrix given: the axes of its indices, and whether it is symmetric */
typedef struct {
    uint8_t axis[2], symmetric;
} ks_leaf;

typedef struct {
    /* Set these. may_be_hard: are hard graphs done, rather than stuck? Only with two axes. */
    size_t size[KS_AXES];
    int sources, may_be_hard;
    ks_leaf source[KS_SOURCES];

    /* one terminal per graph */
    size_t ngraphs;
    ks_terminal *terminals;
    int any_hard, any_stuck;

    /* all that was met in the search */
    size_t nproducts, nvectors;
    ks_edge *edges;
    ks_weights *weights;
    ks_product *products;
    ks_vector *vectors;

    /* what is needed, operands first */
    size_t nops;
    ks_op *ops;

    ks_arena arena;
    /* that the plan holds, and that it took to make it */
    size_t bytes, bytes_making;
} ks_plan;

/* The same arguments give the same plan, and so the same bits of the result. */
kspec_status ks_plan_make(ks_plan *plan, const ks_plan_graph *task, size_t ngraphs, kspec_error *err);
void ks_plan_free(ks_plan *plan);

static inline int ks_product_symmetric(const ks_product *p) { return p->ku == p->kv && p->L == p->R; }
