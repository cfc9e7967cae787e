/* Carries out a plan: forward the values, backward the sums over the cycles through each row and column. */
#pragma once

#include "base/parallel.h"
#include "device/backend.h"
#include "exact/plan.h"

/* A matrix that was dropped and waits to be used again */
typedef struct {
    ks_mat *x;
    size_t rows, cols;
} ks_exec_spare;
enum { KS_EXEC_SPARES = 16 };

/*
 * One execution. Set the fields down to `most` and call ks_exec(). A dry execution computes nothing: it
 * counts work and memory by the same code as a real one.
 */
typedef struct {
    const ks_plan *plan;
    const ks_run *run;
    /* where matrices are (NULL: of the run's device, or the processor's); vectors are the host's */
    const ks_backend *at;
    /* two-sided: both trials; one-sided: A is the Gram matrix, and B is not looked at */
    const ks_mat *A, *B;
    /* for each order, the sum over distinct cycles, and the sum of |terms| */
    double *S, *abs_S;
    /*
     * through[side][(n-1)*size + i]: the sum over distinct cycles through i; or both NULL. Of a weighted plan
     * S is the estimate, and the one without i is less[side][n-1] - through[side][(n-1)*size + i].
     */
    double *through[2], *less[2];
    /* fill `through` */
    int with_loo;
    int dry;
    /* work and bytes at most, as counted by a dry execution before */
    double total;
    size_t most;

    /* work so far, in multiply-adds, and bytes */
    double work;
    size_t live, peak;
    ks_exec_spare spare[KS_EXEC_SPARES]; /* the oldest first */
    int spares;
    size_t spare_bytes;
    /* the first failure; every step does nothing after it */
    kspec_status status;
    kspec_error *err;

    ks_arena arena;
    /* of products and of vectors: NULL where not yet made, or dropped */
    ks_mat **value, **adjoint;
    double **vector, **vector_adjoint;
    /* of products and vectors: the operation after which it can be dropped */
    int *last_use, *vector_last_use;
    /* of graphs: weight times value */
    double *term;
    /* vectors as long as the longer side */
    double *scratch[3];
} ks_exec_state;

void ks_exec(ks_exec_state *x);

/* ---- exact_hold.c ---- */

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
void ks_exec_end(ks_exec_state *x);

/* ---- shared by exact_run.c and exact_hard.c ---- */

/* out (dense, first index by second) = the edge as a matrix between vertices of kinds ku, kw. */
void ks_exec_edge(ks_exec_state *x, int edge, int ku, int kw, ks_mat *out);

/*
 * The edge (of kinds ku, kw) has the adjoint alpha T[u,w] row[u] col[w] (NULL: ones): hands it on to the
 * products that the edge is made of.
 */
void ks_exec_hand_on(ks_exec_state *x, int edge, int ku, int kw, double alpha, const ks_mat *T,
                     const double *row, const double *col);

/*
 * The value of a graph without vertices of degree 1 or 2. n > 0: backward too, for order n, with its weight.
 */
double ks_hard(ks_exec_state *x, const ks_terminal *t, double weight, int n);
