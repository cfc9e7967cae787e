/* Carries out a plan: forward the values of graphs, backward the sums over tuples that use an index. */
#pragma once

#include "base/parallel.h"
#include "device/backend.h"
#include "engine/plan.h"

/* A matrix that was dropped and waits to be used again */
typedef struct {
    ks_mat *x;
    size_t rows, cols;
} ks_exec_spare;
enum { KS_EXEC_SPARES = 16 };

/*
 * One execution. Set the fields down to `most`, then ks_exec_begin(), the matrices given, and the calls below
 * in their order. A dry execution computes nothing: it counts work and memory by the same code as a real one.
 */
typedef struct {
    const ks_plan *plan;
    const ks_run *run;
    /* where matrices are (NULL: of the run's device, or the processor's); vectors are the host's */
    const ks_backend *at;
    /* what it is for, in a failure */
    const char *what;
    /* matrices are kept for ks_exec_backward(), which then gives the values of hard graphs, too */
    int keep;
    /* every process of a team has the matrices given whole */
    int whole;
    int dry;
    /* of each graph whose value is there: what multiplies the weight of its last vertex; NULL: not wanted */
    void (*watch)(void *ctx, uint32_t graph, int axis, double value, const double *d);
    void *ctx;
    /* work and bytes at most, as counted by a dry execution before */
    double total;
    size_t most;
    kspec_error *err;

    /* the matrices given */
    const ks_mat *source[KS_SOURCES];
    uint64_t copied; /* by ks_exec_source(), a bit for each */
    /* the value of each graph, and what it counts in the next backward pass */
    double *graph, *seed;
    /* work so far, in multiply-adds, matrix products, and bytes */
    double work;
    size_t products, live, peak;
    ks_exec_spare spare[KS_EXEC_SPARES]; /* the oldest first */
    int spares;
    size_t spare_bytes;
    /* the first failure; every step does nothing after it */
    kspec_status status;

    ks_arena arena;
    /* of products and of vectors: NULL where not yet made, or dropped */
    ks_mat **value, **adjoint;
    double **vector, **vector_adjoint;
    /* of products and vectors: the operation after which it can be dropped */
    int *last_use, *vector_last_use;
    /* vectors as long as the longest axis */
    double *scratch[3];
    size_t longest;
    double *const *through;
} ks_exec_state;

void ks_exec_begin(ks_exec_state *x);
/* Source k from the host's memory, where it stays; ks_exec_end() releases it. */
void ks_exec_source(ks_exec_state *x, int k, const double *host);
void ks_exec_forward(ks_exec_state *x);

/*
 * Adds to through[axis][i] (where not NULL) the derivative of the sum of seed times value by the weight of
 * index i: that of the tuples that use it, each vertex counting its positions. May be called again with other
 * seeds; what a seed of 0 concerns is left out.
 */
void ks_exec_backward(ks_exec_state *x, double *const *through);

/* Frees everything but the matrices given that were not copied in by ks_exec_source(). */
void ks_exec_end(ks_exec_state *x);

/* The host's matrix where the plan is carried out; a dry execution only tells matrices apart. */
const ks_mat *ks_exec_copy_in(ks_exec_state *x, const double *host, size_t rows, size_t cols);

/* ---- hold.c ---- */

/*
 * Memory for a matrix, counted; NULL after a failure, never NULL in a dry execution before
 * one. The same for a vector.
 */
ks_mat *ks_exec_hold(ks_exec_state *x, size_t rows, size_t cols);
void ks_exec_drop(ks_exec_state *x, ks_mat *p, size_t rows, size_t cols);
double *ks_exec_hold_vector(ks_exec_state *x, size_t count);
void ks_exec_drop_vector(ks_exec_state *x, double *p, size_t count);

/* The next step is this product or expression, for which its backend needs room. */
void ks_exec_room(ks_exec_state *x, const ks_room *of);

/* Counts the work; 1 if it is to be done, with the part of the run that it covers. */
int ks_exec_step(ks_exec_state *x, double work, ks_run *part);

/* Frees the matrices that wait. */
void ks_exec_end_spares(ks_exec_state *x);

/* ---- shared by run.c and hard.c ---- */

/* out (dense, first index by second) = the edge as a matrix between vertices of axes u, w. */
void ks_exec_edge(ks_exec_state *x, uint32_t edge, int u, int w, ks_mat *out);

/*
 * The edge (of axes u, w) has the adjoint alpha T[u,w] row[u] col[w] (NULL: ones): hands it on to the
 * products that the edge is made of.
 */
void ks_exec_hand_on(ks_exec_state *x, uint32_t edge, int u, int w, double alpha, const ks_mat *T,
                     const double *row, const double *col);

/* The value of a hard graph. backward: also what ks_exec_backward() does, with its seed. */
double ks_hard(ks_exec_state *x, const ks_terminal *t, double seed, int backward);
