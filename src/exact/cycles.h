/*
 * Turns the cycles of `exact` into small weighted graphs and plans them for all orders together. A graph is a
 * cycle with some positions identified (graph.c; terms.c if centred or from a finite population).
 */
#pragma once

#include "engine/plan.h"
#include "kspec/moments.h"

enum {
    /* the highest order; at order 6 too many graphs need more than matrix products */
    KS_EXACT_NMAX = 5
};

/* The form of the data */
typedef struct {
    /* 1: one side is complete. Its vertices are summed beforehand, and edges are entries of a Gram matrix. */
    int one_sided;
    /* 1: A and B differ (one-sided: the Gram matrix is not symmetric) */
    int two_trials;
    /*
     * 1: centred, or from a finite population (two-sided). The graphs then have separate weights for the
     * estimate and for the leave-one-out estimates. The fields below are for weighted forms alone.
     */
    int weighted;
    /* for each side: is it centred; the size of its population, or INFINITY; are its indices left out */
    int split[2];
    double population[2];
    int pinned[2];
} ks_exact_form;

/*
 * A cycle with some positions identified. Two-sided: m[u][v] counts the edges of A and of B between row
 * vertex u and column vertex v (all in `a` if B is A). One-sided: all vertices are rows. For u < v, m[u][v].a
 * counts the edges G[u,v] and .b the edges G[v,u] (all in `a` if G is symmetric); m[u][u].a counts the loops
 * G[u,u].
 */
typedef struct {
    int n, rows, cols;
    /* the sum of mu(pi) mu(sigma) over the partitions with this graph; terms.c explains weighted forms */
    double weight;
    /*
     * For weighted forms. less: the weight of the graph in the estimates without one row and without one
     * column. pin: the weight of the graph with the vertex `root` fixed to the omitted index; this value is
     * subtracted. Vertices are numbered with rows first. root = -1: no vertex is fixed.
     */
    double less[2], pin;
    int root;
    struct {
        uint8_t a, b;
    } m[KS_EXACT_NMAX][KS_EXACT_NMAX];
} ks_graph;

/* Writes the different graphs of order n to out (room for KS_GRAPHS_MAX) and returns their number. */
enum { KS_GRAPHS_MAX = 300 }; /* the largest number is 292 (two trials, n = 5) */
size_t ks_graphs(ks_exact_form form, int n, ks_graph *out);

/*
 * The graphs of all orders and their plan. Source 0 is A; source 1 is B if B differs. One-sided: source 0 is
 * the Gram matrix.
 */
typedef struct {
    ks_exact_form form;
    int nmax;
    size_t ngraphs;
    ks_graph *graphs;
    ks_plan plan;
    ks_arena arena;
    /* the bytes of the finished plan, and the bytes needed while planning */
    size_t bytes, bytes_making;
} ks_cycles;

/*
 * Makes the graphs and the plan for a matrix of rows x cols. One-sided plans use only `rows`. At nmax = 5
 * this takes 1 to 4 ms; lower orders take much less.
 */
kspec_status ks_cycles_make(ks_cycles *c, ks_exact_form form, size_t rows, size_t cols, int nmax,
                            kspec_error *err);
void ks_cycles_free(ks_cycles *c);
