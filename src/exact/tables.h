/*
 * The tables of a plan while it is made. Edges, weights, products and vectors get numbers as they are met,
 * equal ones the same number, so that graphs of all orders share them.
 */
#pragma once

#include "exact/plan.h"

/* Numbers for different keys, in the order in which they come. */
typedef struct {
    uint64_t *key;
    size_t count, room;
    /* a hash table that grows with the keys: number + 1, or 0 */
    uint16_t *slot;
    size_t slots;
} ks_numbers;

typedef struct {
    ks_plan *pl;
    ks_numbers edges, weights, products, vectors;
    /* of an edge: the one seen from its other end */
    uint16_t *flip;
    /* of products and vectors, in multiply-adds */
    double *product_cost, *vector_cost;
    /* the sizes of both sides, as far as costs go */
    double cost[2];
} ks_tables;

/* Puts the empty edge and the empty weights, which are number 0, into the tables. */
void ks_tables_begin(ks_tables *t);

/*
 * Is any table three quarters full? Then the search stops. Between two such questions it adds the records of
 * one state at most (10 products, 18 vectors, and their edges and weights), for which the last quarter has
 * room.
 */
int ks_tables_crowded(const ks_tables *t);

/* The leaf A^a B^b; the edge e times a product's matrix; the weights d times a vector. */
int ks_leaf(ks_tables *t, int a, int b);
int ks_edge_times(ks_tables *t, int e, ks_ref r);
int ks_weights_times(ks_tables *t, int d, int vec);

/* The numbers of a product and of a vector; `positions` and `degree` follow from the other fields. */
int ks_product_number(ks_tables *t, const ks_product *x);
int ks_vector_number(ks_tables *t, const ks_vector *x);
