/*
 * Stores the tables of an unfinished plan. Each edge, weight, product or vector gets a number when it first
 * occurs. Equal edges (and so on) get the same number, so that all graphs share them.
 */
#pragma once

#include "engine/plan.h"

/* Contains the planner's notes on a record. */
typedef struct {
    uint64_t key[2];
    /* `cost` counts multiply-adds, and `uses` counts the graphs that need the record. */
    double cost;
    int uses;
    /*
     * For an edge, `other` is the number of the same edge seen from its other end. For other records, it is
     * the last search that read the record.
     */
    uint32_t other;
    uint8_t seen;
} ks_note;

/* Records that are found by their keys, in the order of their first occurrence. */
typedef struct {
    size_t size; /* of one record */
    unsigned char *record;
    ks_note *note;
    size_t count, room;
    uint32_t *slot; /* A slot contains the number of a record plus 1, or 0 if the slot is empty. */
    size_t slots;
} ks_numbers;

typedef struct {
    ks_plan *pl;
    ks_numbers edges, weights, products, vectors;
    /* The sizes of the axes, for the costs. */
    double cost[KS_AXES];
    /* The bytes in use, their maximum so far, and the size of an allocation that failed. */
    size_t bytes, peak, failed;
} ks_tables;

/* Creates the empty edge and the empty weights, which both have number 0. Returns 0 if memory is short. */
int ks_tables_begin(ks_tables *t, ks_plan *pl);

/*
 * Makes space for the records of one state of a search, so that the functions below cannot fail. A state has
 * up to 11 products and 20 vectors, with their edges and weights. Returns 0 if memory is short.
 */
int ks_tables_ready(ks_tables *t);

/* Frees all memory. If keep is 1, the records move to the plan instead. */
void ks_tables_end(ks_tables *t, int keep);

/*
 * Multiplies an edge by an entry. An entry is twice the number of a given matrix, or KS_ENTRY_PRODUCT plus
 * twice the number of a product. A transposed entry is larger by 1.
 */
enum { KS_ENTRY_PRODUCT = 256 };
uint32_t ks_edge_times(ks_tables *t, uint32_t e, uint32_t entry);
/* Returns the edge as seen from its other end. */
static inline uint32_t ks_edge_flip(const ks_tables *t, uint32_t e) { return t->edges.note[e].other; }
/* Counts the matrices that an edge reads. */
int ks_edge_streams(const ks_edge *e);
/* Multiplies the weights d by a vector. */
uint32_t ks_weights_times(ks_tables *t, uint32_t d, uint32_t vec);

uint32_t ks_product_number(ks_tables *t, const ks_product *x);
uint32_t ks_vector_number(ks_tables *t, const ks_vector *x);
