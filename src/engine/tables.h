/*
 * The tables of a plan while it is made. Edges, weights, products and vectors get numbers as they are met,
 * equal ones the same number, so that all graphs share them.
 */
#pragma once

#include "engine/plan.h"

/* What the planner notes of a record */
typedef struct {
    uint64_t key[2];
    /* in multiply-adds; how many graphs need it */
    double cost;
    int uses;
    /* of an edge: the same seen from its other end; else: the last search that has read it */
    uint32_t other;
    uint8_t seen;
} ks_note;

/* Records by their keys, in the order in which they come */
typedef struct {
    size_t size; /* of a record */
    unsigned char *record;
    ks_note *note;
    size_t count, room;
    uint32_t *slot; /* number + 1, or 0 */
    size_t slots;
} ks_numbers;

typedef struct {
    ks_plan *pl;
    ks_numbers edges, weights, products, vectors;
    /* the sizes of axes, as far as costs go */
    double cost[KS_AXES];
    /* that they hold, now and at most; bytes that there were not */
    size_t bytes, peak, failed;
} ks_tables;

/* Tables with the empty edge and the empty weights, which are number 0; 0 without memory */
int ks_tables_begin(ks_tables *t, ks_plan *pl);

/*
 * Makes room for the records of one state of a search (11 products, 20 vectors, and their edges and weights),
 * so that the functions below cannot fail; 0 without memory.
 */
int ks_tables_ready(ks_tables *t);

/* The records become the plan's, or go; all else goes. */
void ks_tables_end(ks_tables *t, int keep);

/* An entry of an edge, as ks_edge_times() takes it: a matrix given, or a product's */
enum { KS_ENTRY_PRODUCT = 256 };
uint32_t ks_edge_times(ks_tables *t, uint32_t e, uint32_t entry);
/* The edge as seen from its other end */
static inline uint32_t ks_edge_flip(const ks_tables *t, uint32_t e) { return t->edges.note[e].other; }
/* How many matrices an edge reads */
int ks_edge_streams(const ks_edge *e);
/* The weights d times a vector */
uint32_t ks_weights_times(ks_tables *t, uint32_t d, uint32_t vec);

/* The numbers of a product and of a vector */
uint32_t ks_product_number(ks_tables *t, const ks_product *x);
uint32_t ks_vector_number(ks_tables *t, const ks_vector *x);
