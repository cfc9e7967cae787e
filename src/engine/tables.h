/*
 * The tables of an unfinished plan. Each edge, weight, product or vector gets a number when it first occurs.
 * Equal ones get the same number, so that all graphs share them.
 */
#pragma once

#include "engine/plan.h"

/* The planner's notes on a record */
typedef struct {
    uint64_t key[2];
    /* the cost in multiply-adds, and how many graphs need the record */
    double cost;
    int uses;
    /*
     * for an edge, the number of the same edge seen from its other end; else the last search that read the
     * record
     */
    uint32_t other;
    uint8_t seen;
} ks_note;

/* Records by their keys, in the order of their first occurrence */
typedef struct {
    size_t size; /* of a record */
    unsigned char *record;
    ks_note *note;
    size_t count, room;
    uint32_t *slot; /* the number of a record plus 1, or 0 if the slot is empty */
    size_t slots;
} ks_numbers;

typedef struct {
    ks_plan *pl;
    ks_numbers edges, weights, products, vectors;
    /* the sizes of the axes, for the costs */
    double cost[KS_AXES];
    /* the bytes in use, their maximum so far, and the size of an allocation that failed */
    size_t bytes, peak, failed;
} ks_tables;

/* Begins with the empty edge and the empty weights, both number 0. Returns 0 if memory is short. */
int ks_tables_begin(ks_tables *t, ks_plan *pl);

/*
 * Makes room for the records of one state of a search (11 products, 20 vectors, and their edges and weights),
 * so that the functions below cannot fail. Returns 0 if memory is short.
 */
int ks_tables_ready(ks_tables *t);

/* Moves the records to the plan if `keep`, otherwise frees them. Frees all other memory. */
void ks_tables_end(ks_tables *t, int keep);

/*
 * An entry of an edge: twice the number of a given matrix, or KS_ENTRY_PRODUCT plus twice the number of a
 * product; plus 1 if it is transposed
 */
enum { KS_ENTRY_PRODUCT = 256 };
uint32_t ks_edge_times(ks_tables *t, uint32_t e, uint32_t entry);
/* Returns the edge as seen from its other end */
static inline uint32_t ks_edge_flip(const ks_tables *t, uint32_t e) { return t->edges.note[e].other; }
/* How many matrices an edge reads */
int ks_edge_streams(const ks_edge *e);
/* The weights d times a vector */
uint32_t ks_weights_times(ks_tables *t, uint32_t d, uint32_t vec);

/* The numbers of a product and of a vector */
uint32_t ks_product_number(ks_tables *t, const ks_product *x);
uint32_t ks_vector_number(ks_tables *t, const ks_vector *x);
