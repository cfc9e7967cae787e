/*
 * The search for the operations of one graph.
 *
 * Series-parallel reduction: a graph's vertices are removed one by one. One of degree 1 becomes a vector at
 * its neighbour, one of degree 2 a matrix product between its neighbours, and parallel edges merge into
 * elementwise products, until one vertex is left. Which vertex of degree 2 goes first is free; a bounded
 * search looks for the order that adds the least work to what the other graphs need anyway.
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

    /* the graph at hand, and the vertex that must be left, as a set */
    const ks_net *net;
    unsigned root;
    /* states that the search may still look at */
    int budget;
    /* whether it takes the last of equally good vertices first */
    int from_end;
    /* the cost of the cheapest way found, and where it ends; the vertices at which the search is stuck */
    double best;
    ks_terminal terminal;
    unsigned stuck;
} ks_planner;

/* What a search read, on which alone its outcome depends. */
typedef struct {
    size_t first, count;
    /* there was no room for all of it */
    int partly;
} ks_reading;

/* Would the search that read this find the same again? Then it need not be made. */
int ks_search_stands(const ks_planner *p, const ks_reading *r);

/*
 * The cheapest way found for a graph. 0 where there is none: p->stuck says where, or memory has failed
 * (p->t.failed).
 */
int ks_search(ks_planner *p, const ks_plan_graph *g, ks_terminal *terminal, ks_reading *r);
