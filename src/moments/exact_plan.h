/*
 * How `exact` is computed, before any number is seen: set partitions become small graphs with weights
 * (exact_graph.c), graphs become a shared list of matrix operations (exact_plan.c), which exact_run.c carries
 * out.
 */
#ifndef KS_MOMENTS_EXACT_PLAN_H
#define KS_MOMENTS_EXACT_PLAN_H

#include "base/memory.h"
#include "kspec/moments.h"

enum {
    KS_EXACT_NMAX = 5,                 /* from order 6 on, too many graphs are hard */
    KS_EXACT_VMAX = 2 * KS_EXACT_NMAX, /* vertices of a graph: n rows and n columns */
    KS_ELEMENT_COST = 60 /* passing a matrix element through memory, in multiply-adds of a product */
};
#define KS_SYMMETRIC_COST 0.65 /* of a symmetric product, in those of any other */

/* What kind of data the graphs are for. */
typedef struct {
    int one_sided;  /* one side is complete: its vertices are summed beforehand, edges are entries of a Gram
                       matrix */
    int two_trials; /* A and B differ (one-sided: the Gram matrix is not symmetric) */
} ks_exact_form;

/*
 * A cycle with some positions identified. Two-sided: m[u][v] counts the edges of A and of B between row
 * vertex u and column vertex v (all in `a` where B is A). One-sided: there are only row vertices; for u < v,
 * m[u][v].a counts the edges G[u,v] and .b the edges G[v,u] (all in `a` where G is symmetric), and m[u][u].a
 * the loops G[u,u].
 */
typedef struct {
    int n, rows, cols;
    double weight; /* sum of mu(pi) mu(sigma) over the partitions that give this graph */
    struct {
        uint8_t a, b;
    } m[KS_EXACT_NMAX][KS_EXACT_NMAX];
} ks_graph;

/* Writes the different graphs of order n to out (room for KS_GRAPHS_MAX) and returns how many there are. */
enum { KS_GRAPHS_MAX = 300 }; /* the most of any one order: 292 (two trials, n = 5) */
size_t ks_graphs(ks_exact_form form, int n, ks_graph *out);

/* ------------------------------------------------------------------------------------------ operations */

enum { KS_ROW, KS_COL }; /* what a vertex, or an index of a matrix, runs over */
enum { KS_FACTORS = 5 }; /* most products parallel to one another, and most vectors at one vertex */

/* A reference to a product's matrix: 2 * index + (1 if transposed). */
typedef uint16_t ks_ref;

/*
 * An edge between two vertices (first, second): the elementwise product of A^a B^b and of earlier products'
 * matrices. One-sided, b is the power of the transposed leaf. Edges, products and vectors are
 * compared with memcmp: unused entries are zero, and `zero` stands where padding would be.
 */
typedef struct {
    ks_ref ref[KS_FACTORS];
    uint8_t nref, a, b, zero;
} ks_edge;

/* The weight of a vertex: the elementwise product of vectors. */
typedef struct {
    uint16_t vec[KS_FACTORS];
    uint8_t nvec, zero;
} ks_weights;

/* Elimination of a vertex w of degree 2: O[u,v] = sum_w L[u,w] d[w] R[v,w]. Symmetric if L = R. */
typedef struct {
    uint8_t ku, kv, kw, zero; /* KS_ROW or KS_COL; ku = KS_ROW where ku != kv */
    ks_edge L, R;
    ks_weights d;
} ks_product;

/* Elimination of a vertex w of degree 1: o[u] = sum_w E[u,w] d[w]; or the diagonal of a Gram matrix. */
typedef struct {
    uint8_t ku, kw, diagonal, zero;
    ks_edge E;
    ks_weights d;
} ks_vector;

_Static_assert(sizeof(ks_edge) == 2 * KS_FACTORS + 4 && sizeof(ks_weights) == 2 * KS_FACTORS + 2 &&
                   sizeof(ks_product) == 4 + 2 * sizeof(ks_edge) + sizeof(ks_weights) &&
                   sizeof(ks_vector) == 4 + sizeof(ks_edge) + sizeof(ks_weights),
               "padding would be compared");

/*
 * What is left of a graph: one vertex u, and the value sum_u du[u].
 * hard: no vertex had degree 1 or 2. Four are left, rows r0, r1 and columns c0, c1, each joined to each:
 * sum E[r0,r1] F[c0,c1] X00[r0,c0] X01[r0,c1] X10[r1,c0] X11[r1,c1], the X being leaves.
 */
typedef struct {
    uint8_t hard, ku;
    uint8_t positions[4]; /* of the cycle that u stands for; hard: r0, r1, c0, c1 */
    ks_weights du;
    ks_edge E, F, X[2][2];
} ks_terminal;

typedef enum { KS_OP_PRODUCT, KS_OP_VECTOR, KS_OP_TERMINAL } ks_op_kind;
typedef struct {
    ks_op_kind kind;
    int index; /* of the product, vector or graph */
} ks_op;

typedef struct {
    ks_exact_form form;
    size_t size[2]; /* what KS_ROW and KS_COL run over */
    int nmax;

    size_t ngraphs;
    ks_graph *graphs;
    ks_terminal *terminals; /* one per graph */

    /* Everything met in the search; what the chosen operations use has uses > 0. */
    size_t nproducts, nvectors;
    ks_product *products;
    ks_vector *vectors;
    int *product_uses, *vector_uses; /* by how many graphs */
    uint8_t *positions;              /* of each product's w: how many positions of the cycle it stands for */
    uint8_t (*degree)[2];            /* of each product: how many of the cycle's edges end at u, at v */
    uint8_t *vector_positions, *vector_degree;

    size_t nops;
    ks_op *ops; /* in an order in which operands come first */

    size_t bytes; /* of memory held by the plan at its largest */
    ks_arena arena;
} ks_plan;

/* rows, cols: the sizes of both sides (one-sided: rows alone counts). Fails for want of memory. */
kspec_status ks_plan_make(ks_plan *plan, ks_exact_form form, size_t rows, size_t cols, int nmax,
                          kspec_error *err);
void ks_plan_free(ks_plan *plan);

/* The edge as seen from its other end. */
ks_edge ks_edge_flip(const ks_plan *plan, const ks_edge *e);

static inline int ks_product_symmetric(const ks_product *p) {
    return p->ku == p->kv && !__builtin_memcmp(&p->L, &p->R, sizeof p->L);
}

#endif
