/*
 * The search for the operations of one graph, by series-parallel reduction.
 *
 * Vertices are removed one by one until one vertex remains. A vertex of degree 1 becomes a vector at its
 * neighbour. A vertex of degree 2 becomes a matrix product between its neighbours. Parallel edges merge into
 * elementwise products. Vertices of degree 2 can be removed in any order. A bounded search looks for the
 * order that adds the least work to the operations of the other graphs.
 */
#pragma once

#include "engine/tables.h"

typedef struct {
    ks_tables t;
    ks_plan *pl;
    /*
     * What the searches have read: products and vectors, as 4 * number + (2 for a vector) + (1 if used
     * already), each once a search.
     */
    uint32_t *read;
    size_t nread, read_room;
    uint32_t searches;

    /* the graph, and the vertex that must remain, as a set */
    const ks_net *net;
    unsigned root;
    /* the number of states that the search may still visit */
    int budget;
    /* 1: of equally good vertices the search takes the last one first */
    int from_end;
    /* the lowest cost found, and the terminal of that path; the vertices at which the search is stuck */
    double best;
    ks_terminal terminal;
    unsigned stuck;
} ks_planner;

/* The entries that a search read. Its outcome depends on nothing else. */
typedef struct {
    size_t first, count;
    /* 1 if the list was too short for all entries */
    int partly;
} ks_reading;

/* Would a new search find the same result, because the entries have not changed? */
int ks_search_stands(const ks_planner *p, const ks_reading *r);

/*
 * The cheapest way found for a graph. 0 where there is none: p->stuck says where, or memory has failed
 * (p->t.failed).
 */
int ks_search(ks_planner *p, const ks_plan_graph *g, ks_terminal *terminal, ks_reading *r);
