/*
 * How `exact` is computed, before any number is seen: set partitions become small graphs with weights
 * (exact_graph.c), graphs become a shared list of matrix operations (exact_search.c finds the operations of
 * one graph, exact_plan.c those of all), and exact_run.c carries them out.
 */
#pragma once

#include "base/memory.h"
#include "kspec/moments.h"

enum {
    /* the highest order; from 6 on, too many graphs are hard */
    KS_EXACT_NMAX = 5,
    /* vertices of a graph: n rows and n columns */
    KS_EXACT_VMAX = 2 * KS_EXACT_NMAX,
    /* the cost of passing a matrix element through memory, in multiply-adds of a product */
    KS_ELEMENT_COST = 60
};
/* the cost of a multiply-add of a symmetric product, in those of any other */
#define KS_SYMMETRIC_COST 0.65

/* What kind of data the graphs are for. */
typedef struct {
    /* One side is complete: its vertices are summed beforehand, and edges are entries of a Gram matrix. */
    int one_sided;
    /* A and B differ (one-sided: the Gram matrix is not symmetric). */
    int two_trials;
    /*
     * Centred, or from a finite population (two-sided): graphs have weights of their own, for the estimate
     * and for leave-one-out estimates. The fields below are for weighted forms alone.
     */
    int weighted;
    /*
     * by side: whether it is centred, the size of its population or INFINITY, whether its indices are left
     * out
     */
    int split[2];
    double population[2];
    int pinned[2];
} ks_exact_form;

/*
 * A cycle with some positions identified. Two-sided: m[u][v] counts the edges of A and of B between row
 * vertex u and column vertex v (all in `a` where B is A). One-sided: there are only row vertices; for u < v,
 * m[u][v].a counts the edges G[u,v] and .b the edges G[v,u] (all in `a` where G is symmetric), and m[u][u].a
 * the loops G[u,u].
 */
typedef struct {
    int n, rows, cols;
    /* sum of mu(pi) mu(sigma) over the partitions that give this graph; weighted: see exact_terms.c */
    double weight;
    /*
     * Weighted: what the graph's value counts in the estimates without one row and without one column, and
     * its value with the vertex `root` fixed to the index that is left out, which is taken away. Rows come
     * first; -1: no vertex is fixed.
     */
    double less[2], pin;
    int root;
    struct {
        uint8_t a, b;
    } m[KS_EXACT_NMAX][KS_EXACT_NMAX];
} ks_graph;

/* Writes the different graphs of order n to out (room for KS_GRAPHS_MAX) and returns how many there are. */
enum { KS_GRAPHS_MAX = 300 }; /* the most of any one order: 292 (two trials, n = 5) */
size_t ks_graphs(ks_exact_form form, int n, ks_graph *out);

/* ---- operations ---- */

/* What a vertex, or an index of a matrix, runs over. */
enum { KS_ROW, KS_COL };
/* The most products parallel to one another, and the most vectors at one vertex. */
enum { KS_FACTORS = 5 };

/*
 * Edges, weights, products and vectors stand in tables of the plan, equal ones once: their numbers say all
 * about them. Number 0 is the empty edge, and the empty weights.
 */

/* A reference to a product's matrix: 2 * number + (1 if transposed). */
typedef uint16_t ks_ref;

/*
 * An edge between two vertices (first, second): the elementwise product of A^a B^b and of earlier products'
 * matrices, in increasing order. One-sided, b is the power of the transposed leaf. `degree` of the cycle's
 * edges end at the first vertex, and `rest` is the edge without its last reference.
 */
typedef struct {
    ks_ref ref[KS_FACTORS];
    uint8_t nref, a, b, degree;
    uint16_t rest;
} ks_edge;

/*
 * The weight of a vertex: the elementwise product of vectors, in increasing order, which stand for `degree`
 * of the cycle's edges; `rest` is the weight without the last of them.
 */
typedef struct {
    uint16_t vec[KS_FACTORS];
    uint8_t nvec, degree;
    uint16_t rest;
} ks_weights;

/*
 * Elimination of a vertex w of degree 2, which stands for `positions` positions of the cycle:
 * O[u,v] = sum_w L[u,w] d[w] R[v,w]. ku = KS_ROW where ku != kv.
 */
typedef struct {
    uint8_t ku, kv, kw, positions;
    uint16_t L, R, d;
} ks_product;

/*
 * Elimination of a vertex w of degree 1, which stands for `positions` positions: o[u] = sum_w E[u,w] d[w]; or
 * the diagonal of a Gram matrix. `degree` of the cycle's edges end at u.
 */
typedef struct {
    uint8_t ku, kw, diagonal, positions, degree;
    uint16_t E, d;
} ks_vector;

/*
 * What is left of a graph: one vertex u, and the value sum_u du[u].
 * hard: no vertex had degree 1 or 2. Four are left, rows r0, r1 and columns c0, c1, each joined to each:
 * sum E[r0,r1] F[c0,c1] X00[r0,c0] X01[r0,c1] X10[r1,c0] X11[r1,c1], the X being leaves.
 */
typedef struct {
    uint8_t hard, ku;
    /* how many positions of the cycle u stands for; hard: r0, r1, c0, c1 */
    uint8_t positions[4];
    uint16_t du, E, F, X[2][2];
} ks_terminal;

typedef enum { KS_OP_PRODUCT, KS_OP_VECTOR, KS_OP_TERMINAL } ks_op_kind;
typedef struct {
    ks_op_kind kind;
    /* of the product, vector or graph */
    int index;
} ks_op;

typedef struct {
    ks_exact_form form;
    /* what KS_ROW and KS_COL run over */
    size_t size[2];
    int nmax;

    /* one terminal per graph */
    size_t ngraphs;
    ks_graph *graphs;
    ks_terminal *terminals;

    /* Everything met in the search. uses: how many graphs need it, 0 where the search left it aside. */
    size_t nproducts, nvectors;
    ks_edge *edges;
    ks_weights *weights;
    ks_product *products;
    ks_vector *vectors;
    int *product_uses, *vector_uses;

    /* in an order in which operands come first */
    size_t nops;
    ks_op *ops;

    /* what the plan holds, and how many bytes it took to make it */
    ks_arena arena;
    size_t bytes_making;
} ks_plan;

/*
 * rows, cols: the sizes of both sides (one-sided: rows alone counts). At nmax = 5 this takes 1 to 4 ms, below
 * much less. The same arguments give the same plan, and so the same bits of the result.
 */
kspec_status ks_plan_make(ks_plan *plan, ks_exact_form form, size_t rows, size_t cols, int nmax,
                          kspec_error *err);
void ks_plan_free(ks_plan *plan);

static inline int ks_product_symmetric(const ks_product *p) { return p->ku == p->kv && p->L == p->R; }
