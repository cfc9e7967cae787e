/*
 * Turns the cycles of the exact estimator into small weighted graphs, and plans them for all orders together.
 * A graph is a cycle in which some positions share an index. graph.c lists the graphs of plain estimates, and
 * terms.c lists the graphs of estimates that are centred or from a finite population.
 */
#pragma once

#include "engine/plan.h"
#include "kspec/moments.h"

enum {
    /* At order 6 too many graphs need more than matrix products. */
    KS_EXACT_NMAX = 5
};

typedef struct {
    /*
     * If one_sided is 1, one side is complete. The code sums over its vertices beforehand, and an edge is an
     * entry of a Gram matrix.
     */
    int one_sided;
    /* If two_trials is 1, A and B differ. With two trials, a one-sided Gram matrix is not symmetric. */
    int two_trials;
    /*
     * If weighted is 1, the estimate is centred or from a finite population, and both sides were sampled. The
     * graphs then have separate weights for the estimate and for the leave-one-out estimates. Only weighted
     * forms use the fields below.
     */
    int weighted;
    /* split is 1 if a side is centred. population is the size of its population, or INFINITY. */
    int split[2];
    double population[2];
    int pinned[2];
} ks_exact_form;

/*
 * A cycle in which some positions share an index. If both sides were sampled, m[u][v] counts the edges of A
 * and of B between row vertex u and column vertex v. If B is A, `a` counts all edges. With a complete side,
 * all vertices are rows. Then for u < v, m[u][v].a counts the edges G[u,v] and m[u][v].b the edges G[v,u]. If
 * G is symmetric, `a` counts both. m[u][u].a counts the loops G[u,u].
 */
typedef struct {
    int n, rows, cols;
    /*
     * The weight is the sum of mu(pi) mu(sigma) over the partitions with this graph. terms.c explains the
     * weights of weighted forms.
     */
    double weight;
    /*
     * Only for weighted forms. less contains the graph's weights in the estimates without one row and without
     * one column. pin is the weight of the graph with the vertex `root` fixed to the omitted index, whose
     * value is subtracted. Row vertices have the first numbers. root is -1 if no vertex is fixed.
     */
    double less[2], pin;
    int root;
    struct {
        uint8_t a, b;
    } m[KS_EXACT_NMAX][KS_EXACT_NMAX];
} ks_graph;

/*
 * Writes the different graphs of order n to out, which has space for KS_GRAPHS_MAX graphs. Returns their
 * number.
 */
enum { KS_GRAPHS_MAX = 300 };
size_t ks_graphs(ks_exact_form form, int n, ks_graph *out);

/*
 * Contains the graphs of all orders and their plan. If both sides were sampled, source 0 is A, and source 1
 * is B if B differs. With a complete side, source 0 is the Gram matrix.
 */
typedef struct {
    ks_exact_form form;
    int nmax;
    size_t ngraphs;
    ks_graph *graphs;
    ks_plan plan;
    ks_arena arena;
    /* bytes counts the memory of the finished plan, and bytes_making the memory needed during planning. */
    size_t bytes, bytes_making;
} ks_cycles;

/*
 * Lists the graphs and makes the plan for a matrix of rows x cols. With a complete side, the plan depends
 * only on `rows`. At nmax = 5 the function takes 1 to 4 ms, and much less at lower orders.
 */
kspec_status ks_cycles_make(ks_cycles *c, ks_exact_form form, size_t rows, size_t cols, int nmax,
                            kspec_error *err);
void ks_cycles_free(ks_cycles *c);
