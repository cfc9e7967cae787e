/*
 * What `exact` plans: cycles with some positions identified are small graphs with weights, those of all
 * orders together (graph.c; terms.c where they are centred or from a finite population).
 */
#pragma once

#include "engine/plan.h"
#include "kspec/moments.h"

enum {
    /* the highest order; from 6 on, too many graphs are hard */
    KS_EXACT_NMAX = 5
};

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
    /* sum of mu(pi) mu(sigma) over the partitions that give this graph; weighted: see terms.c */
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

/*
 * The graphs of all orders and their plan. Source 0 is A, and 1 is B where it differs; one-sided: source 0 is
 * the Gram matrix.
 */
typedef struct {
    ks_exact_form form;
    int nmax;
    size_t ngraphs;
    ks_graph *graphs;
    ks_plan plan;
    ks_arena arena;
    /* that it holds, and that it took to make it */
    size_t bytes, bytes_making;
} ks_cycles;

/*
 * rows, cols: the sizes of both sides (one-sided: rows alone counts). At nmax = 5 this takes 1 to 4 ms, below
 * much less.
 */
kspec_status ks_cycles_make(ks_cycles *c, ks_exact_form form, size_t rows, size_t cols, int nmax,
                            kspec_error *err);
void ks_cycles_free(ks_cycles *c);
