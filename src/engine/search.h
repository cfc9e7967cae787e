/*
 * Searches for the operations of one graph by series-parallel reduction.
 *
 * The search removes vertices one by one until one vertex remains. A vertex of degree 1 becomes a vector at
 * its neighbour. A vertex of degree 2 becomes a matrix product between its neighbours. Parallel edges merge
 * into elementwise products. Vertices of degree 2 can be removed in any order. A bounded search looks for the
 * order that adds the least work to the operations of the other graphs.
 */
#pragma once

#include "engine/tables.h"

typedef struct {
    ks_tables t;
    ks_plan *pl;
    /*
     * The products and vectors that the searches have read. An entry is 4 * number + (2 for a vector) + (1 if
     * used already), and occurs once per search.
     */
    uint32_t *read;
    size_t nread, read_room;
    uint32_t searches;

    /* net is the graph, and root is the set with the one vertex that must remain. */
    const ks_net *net;
    unsigned root;
    /* The search may still visit `budget` states. */
    int budget;
    /* If from_end is 1, the search tries the last of several equally good vertices first. */
    int from_end;
    /*
     * best is the lowest cost so far, and terminal ends the path with this cost. `stuck` is the set of
     * vertices at which the search got stuck.
     */
    double best;
    ks_terminal terminal;
    unsigned stuck;
} ks_planner;

/* The entries that a search read. The outcome of the search depends on nothing else. */
typedef struct {
    size_t first, count;
    /* 1 if entries are missing */
    int partly;
} ks_reading;

/* Have the entries that a search read stayed the same? A new search would then find the same result. */
int ks_search_stands(const ks_planner *p, const ks_reading *r);

/*
 * Finds the cheapest operations for a graph. Returns 0 if the graph cannot be reduced, and sets p->stuck to
 * the remaining vertices. Also returns 0 if memory is short, and sets p->t.failed.
 */
int ks_search(ks_planner *p, const ks_plan_graph *g, ks_terminal *terminal, ks_reading *r);
