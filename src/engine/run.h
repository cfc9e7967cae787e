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
 * One execution of a plan. Set the fields down to `most`. Then call ks_exec_begin(), ks_exec_source() for
 * each given matrix, and the calls below in their order. A dry execution computes nothing, but counts work
 * and memory with the same code as a real one.
 */
typedef struct {
    const ks_plan *plan;
    const ks_run *run;
    /* the backend of matrices (NULL: of the run's device or of the CPU); vectors are in host memory */
    const ks_backend *at;
    /* the purpose of the computation, for messages */
    const char *what;
    /* 1: matrices stay for ks_exec_backward(), which then also computes the values of hard graphs */
    int keep;
    /* 1: every process of a team has the whole given matrices */
    int whole;
    int dry;
    /* Called for each graph with a value: d is the factor of the weight of its last vertex. NULL: no call */
    void (*watch)(void *ctx, uint32_t graph, int axis, double value, const double *d);
    void *ctx;
    /* the total work and the most bytes, as counted by a dry execution */
    double total;
    size_t most;
    kspec_error *err;

    /* the matrices given */
    const ks_mat *source[KS_SOURCES];
    uint64_t copied; /* a bit for each matrix that ks_exec_source() copied */
    /* the value of each graph, and its factor in the next backward pass */
    double *graph, *seed;
    /* so far: the work in multiply-adds, the matrix products, and the bytes */
    double work;
    size_t products, live, peak;
    ks_exec_spare spare[KS_EXEC_SPARES]; /* the oldest first */
    int spares;
    size_t spare_bytes;
    /* the first failure; later steps do nothing */
    kspec_status status;

    ks_arena arena;
    /* the values and adjoints of products and vectors; NULL if not yet computed, or released */
    ks_mat **value, **adjoint;
    double **vector, **vector_adjoint;
    /* of products and vectors: the operation after which it can be dropped */
    int *last_use, *vector_last_use;
    /* scratch vectors, as long as the longest axis */
    double *scratch[3];
    size_t longest;
    double *const *through;
} ks_exec_state;

void ks_exec_begin(ks_exec_state *x);
/* Gives matrix k, which stays in host memory. ks_exec_end() releases any copy. */
void ks_exec_source(ks_exec_state *x, int k, const double *host);
void ks_exec_forward(ks_exec_state *x);

/*
 * Adds the derivative of the sum of seed times value, by the weight of index i, to through[axis][i] (if not
 * NULL). This derivative sums the tuples that use i, and each vertex counts its positions. May be called
 * again with other seeds. Graphs with a seed of 0 are skipped.
 */
void ks_exec_backward(ks_exec_state *x, double *const *through);

/* Frees everything but the matrices given that were not copied in by ks_exec_source(). */
void ks_exec_end(ks_exec_state *x);

/* The host's matrix where the plan is carried out; a dry execution only tells matrices apart. */
const ks_mat *ks_exec_copy_in(ks_exec_state *x, const double *host, size_t rows, size_t cols);

/* ---- hold.c ---- */

/*
 * Allocates and counts a matrix; the next function does so for a vector. NULL after a failure. Without a
 * failure, a dry execution never returns NULL.
 */
ks_mat *ks_exec_hold(ks_exec_state *x, size_t rows, size_t cols);
void ks_exec_drop(ks_exec_state *x, ks_mat *p, size_t rows, size_t cols);
double *ks_exec_hold_vector(ks_exec_state *x, size_t count);
void ks_exec_drop_vector(ks_exec_state *x, double *p, size_t count);

/* Counts the room that the backend needs for the next step, a product or an expression. */
void ks_exec_room(ks_exec_state *x, const ks_room *of);

/*
 * Counts the work of a step. Returns 1 if the step must be computed, and sets `part` to its part of the run.
 */
int ks_exec_step(ks_exec_state *x, double work, ks_run *part);

/* Frees the matrices that wait. */
void ks_exec_end_spares(ks_exec_state *x);

/* ---- shared by run.c and hard.c ---- */

/* Writes the edge between vertices of axes u and w as a dense matrix, first index by second. */
void ks_exec_edge(ks_exec_state *x, uint32_t edge, int u, int w, ks_mat *out);

/*
 * The edge between axes u and w has the adjoint alpha T[u,w] row[u] col[w] (NULL: ones). Passes this adjoint
 * to the products that the edge contains.
 */
void ks_exec_hand_on(ks_exec_state *x, uint32_t edge, int u, int w, double alpha, const ks_mat *T,
                     const double *row, const double *col);

/* Returns the value of a hard graph. backward: also does its part of ks_exec_backward(), with this seed. */
double ks_hard(ks_exec_state *x, const ks_terminal *t, double seed, int backward);
