/*
 * Plans sums over all indices of products of matrix entries, many such sums at once. A sum is a graph: an
 * index is a vertex, and an entry is an edge. The plan is a list of matrix operations that all graphs share.
 * The plan does not depend on the entries. search.c finds the operations of one graph, plan.c finds the
 * operations of all graphs, and run.c executes them.
 *
 * Planning removes vertices until one is left. A vertex with one neighbour becomes a vector at its neighbour.
 * A vertex with two neighbours becomes a matrix product between them. Parallel edges merge into their
 * elementwise product. A graph in which every vertex has three or more neighbours (treewidth above two)
 * cannot be reduced in this way.
 */
#pragma once

#include "base/memory.h"
#include "kspec/base.h"

enum {
    /* A graph has at most KS_NET_LINKS edges and KS_NET_VERTICES vertices. */
    KS_NET_LINKS = 10,
    KS_NET_VERTICES = 2 * KS_NET_LINKS,
    /* The search plans a connected graph as a whole, which has at most KS_PLAN_VERTICES vertices. */
    KS_PLAN_VERTICES = KS_NET_LINKS + 1,
    /* A plan has at most KS_AXES axes and KS_SOURCES given matrices. */
    KS_AXES = 8,
    KS_SOURCES = 41,
    /* At most KS_FACTORS products are parallel, because each product replaces at least two edges. */
    KS_FACTORS = KS_NET_LINKS / 2,
    /*
     * Moving one matrix element through memory costs as much as KS_ELEMENT_COST multiply-adds of a product.
     */
    KS_ELEMENT_COST = 60
};
/* Relative to other products, a multiply-add of a symmetric product has this cost. */
#define KS_SYMMETRIC_COST 0.65

/* ---- graphs ---- */

/*
 * An axis is the range of an index. The exact estimator calls its axes rows and columns. Other axes have no
 * names.
 */
enum { KS_ROW, KS_COL };

/*
 * positions is the number of indices of the expression that merged into this vertex, or 0 if the index is
 * never left out. The engine ignores flag, which is free for callers.
 */
typedef struct {
    uint8_t axis, flag, positions;
} ks_vertex;

/* A link is the entry [u,v] of a matrix. */
typedef struct {
    uint8_t matrix, u, v;
} ks_link;

/* Unused vertices and links are zero, so that equal nets have equal bytes. */
typedef struct {
    uint8_t n, links;
    ks_vertex vertex[KS_NET_VERTICES];
    ks_link link[KS_NET_LINKS];
} ks_net;

/*
 * A graph to be planned. root is the vertex that must remain, or -1 if any may. The search visits up to 2
 * budget states.
 */
typedef struct {
    const ks_net *net;
    int root, budget;
} ks_plan_graph;

/* ---- operations ---- */

/*
 * The plan stores edges, weights, products and vectors in tables. Equal contents share one entry, so
 * comparing numbers compares contents. Number 0 is the empty edge and the empty weight.
 */

/*
 * An edge between two vertices is the elementwise product of given matrices and of results of earlier
 * products, each list in increasing order. An entry is 2 * number + (1 if transposed). The value 255 fills
 * the list of given matrices. `rest` is the edge without its last entry.
 */
typedef struct {
    uint32_t ref[KS_FACTORS];
    uint8_t nref, nleaf, leaf[KS_NET_LINKS];
    uint32_t rest;
} ks_edge;

/*
 * The weight of a vertex is the elementwise product of vectors, in increasing order. `rest` is the weight
 * without its last vector.
 */
typedef struct {
    uint32_t vec[KS_NET_LINKS], rest;
    uint8_t nvec;
} ks_weights;

/*
 * A product eliminates a vertex w with two neighbours u and v: O[u,v] = sum_w L[u,w] d[w] R[v,w]. ku, kv and
 * kw are the axes of the vertices, with ku <= kv. w stands for `positions` indices of the expression.
 */
typedef struct {
    uint8_t ku, kv, kw, positions;
    uint32_t L, R, d;
} ks_product;

/*
 * A vector eliminates a vertex w with one neighbour u: o[u] = sum_w E[u,w] d[w]. If `diagonal` is 1, o is
 * instead the diagonal of the given matrix number E.
 */
typedef struct {
    uint8_t ku, kw, diagonal, positions;
    uint32_t E, d;
} ks_vector;

/*
 * The end of a reduction. Usually one vertex u remains, and the value is sum_u du[u]. If `hard` is 1, no
 * vertex had one or two neighbours. Then four vertices remain, r0 and r1 of one axis and c0 and c1 of the
 * other, each joined to all others. The value is
 *
 *     sum E[r0,r1] F[c0,c1] X00[r0,c0] X01[r0,c1] X10[r1,c0] X11[r1,c1],
 *
 * and `positions` belongs to these vertices. If `stuck` is not 0, the vertices of this set remain, and the
 * plan omits the graph.
 */
typedef struct {
    uint8_t hard, ku, positions[4];
    uint32_t stuck, du, E, F, X[2][2];
} ks_terminal;

typedef enum { KS_OP_PRODUCT, KS_OP_VECTOR, KS_OP_TERMINAL } ks_op_kind;
typedef struct {
    ks_op_kind kind;
    uint32_t index;
} ks_op;

/* Describes a given matrix with the axes of its indices. */
typedef struct {
    uint8_t axis[2], symmetric;
} ks_leaf;

typedef struct {
    /*
     * The caller sets the fields down to `source`. If may_be_hard is 1, hard graphs are computed rather than
     * stuck, which needs exactly two axes.
     */
    size_t size[KS_AXES];
    int sources, may_be_hard;
    ks_leaf source[KS_SOURCES];

    size_t ngraphs;
    ks_terminal *terminals;
    int any_hard, any_stuck;

    /* All products and vectors that the search has created. */
    size_t nproducts, nvectors;
    ks_edge *edges;
    ks_weights *weights;
    ks_product *products;
    ks_vector *vectors;

    /* `ops` lists the needed operations, each after its operands. */
    size_t nops;
    ks_op *ops;

    ks_arena arena;
    /* bytes counts the memory of the finished plan, and bytes_making the memory needed during planning. */
    size_t bytes, bytes_making;
} ks_plan;

/* Makes the plan. The same arguments give the same plan, and so the same bits of the result. */
kspec_status ks_plan_make(ks_plan *plan, const ks_plan_graph *task, size_t ngraphs, kspec_error *err);
void ks_plan_free(ks_plan *plan);

static inline int ks_product_symmetric(const ks_product *p) { return p->ku == p->kv && p->L == p->R; }
