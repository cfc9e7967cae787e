/*
 * The program that computes a list of graphs: which vertex of each is summed over first, so that few matrix
 * products suffice, and results that several graphs need are made once.
 *
 * A vertex with one neighbour becomes a vector at it, one with two neighbours a matrix product between them,
 * and parallel edges become one, the elementwise product, until a single vertex is left. A graph in which
 * every vertex has three neighbours or more (treewidth above two) cannot be done so.
 */
#pragma once

#include "einsum/names.h"

/* the cost of passing a matrix element through memory, and of a multiply-add of a symmetric product, in
 * multiply-adds of a product */
enum { KS_PROGRAM_ELEMENT = 60 };
#define KS_PROGRAM_SYMMETRIC 0.65

/*
 * A matrix between two axes: the elementwise product of references, in increasing order. A reference is
 * 2 * number + (1 if transposed); numbers below ks_program.sources are data, and those above products.
 */
typedef struct {
    uint8_t from, to, count, unused; /* without padding, whose bytes would be compared */
    uint32_t ref[KS_NET_LINKS];
} ks_arc;

/* The elementwise product of vectors, in increasing order; number 0 is the empty one, all ones */
typedef struct {
    uint32_t count, vector[KS_NET_LINKS];
} ks_weights;

/* O[u,v] = sum_w L[u,w] d[w] R[v,w], by axes; w stands for so many positions */
typedef struct {
    uint8_t u, v, w, positions;
    uint32_t L, R, d;
} ks_product;

/* o[u] = sum_w E[u,w] d[w]; or the diagonal of a matrix that is data */
typedef struct {
    uint8_t u, w, positions, diagonal;
    uint32_t E, d; /* diagonal: E is the matrix */
} ks_vector;

/* The value of a graph: sum_u d[u] */
typedef struct {
    uint8_t u, positions;
    uint32_t d;
} ks_value;

typedef struct {
    int is_vector;
    uint32_t number;
} ks_step;

typedef struct {
    size_t size[KS_SUM_AXES];
    int sources;
    uint8_t axis[KS_SOURCES][2];
    ks_table arcs, weights, products, vectors;
    /* of each graph of the list */
    size_t graphs;
    ks_value *values;
    /* what is needed, operands first */
    size_t steps;
    ks_step *step;
    ks_arena arena;
} ks_program;

/*
 * nets: the graphs by number. *stuck: 0, or the number of one that cannot be done so, with the vertices that
 * are left as a set.
 */
typedef struct {
    uint32_t net;
    unsigned vertices;
} ks_stuck;
kspec_status ks_program_make(ks_program *p, const ks_names *names, const ks_nets *nets, const uint32_t *graph,
                             size_t graphs, ks_stuck *stuck, kspec_error *err);
void ks_program_free(ks_program *p);

static inline const ks_arc *ks_arc_at(const ks_program *p, uint32_t k) { return ks_table_at(&p->arcs, k); }
static inline const ks_weights *ks_weights_at(const ks_program *p, uint32_t k) {
    return ks_table_at(&p->weights, k);
}
static inline const ks_product *ks_product_at(const ks_program *p, uint32_t k) {
    return ks_table_at(&p->products, k);
}
static inline const ks_vector *ks_vector_at(const ks_program *p, uint32_t k) {
    return ks_table_at(&p->vectors, k);
}
static inline int ks_symmetric(const ks_product *x) { return x->u == x->v && x->L == x->R; }
