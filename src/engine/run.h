/*
 * Executes a plan. The forward pass computes the values of graphs. The backward pass computes the sums over
 * tuples that contain an index.
 */
#pragma once

#include "base/parallel.h"
#include "device/backend.h"
#include "engine/plan.h"

/* A matrix that was dropped and waits for reuse. */
typedef struct {
    ks_mat *x;
    size_t rows, cols;
} ks_exec_spare;
enum { KS_EXEC_SPARES = 16 };

/*
 * Describes one execution of a plan. The caller sets the fields down to `most`, and then calls
 * ks_exec_begin(), ks_exec_source() for each given matrix, ks_exec_forward() and, if needed,
 * ks_exec_backward(). A dry execution computes nothing, but counts work and memory with the same code as a
 * real one.
 */
typedef struct {
    const ks_plan *plan;
    const ks_run *run;
    /*
     * The backend that stores the matrices. NULL means the run's device, or the CPU without a device. Vectors
     * are always in host memory.
     */
    const ks_backend *at;
    /* The name of the computation in messages. */
    const char *what;
    /*
     * If keep is 1, matrices stay for ks_exec_backward(), which then also computes the values of hard graphs.
     */
    int keep;
    /* If whole is 1, every process of a team has the whole given matrices. */
    int whole;
    int dry;
    /*
     * If not NULL, watch() is called for each graph with its value. d is the factor of the weight of the
     * graph's last vertex.
     */
    void (*watch)(void *ctx, uint32_t graph, int axis, double value, const double *d);
    void *ctx;
    /* total is the total work and most is the largest number of bytes, as counted by a dry execution. */
    double total;
    size_t most;
    kspec_error *err;

    const ks_mat *source[KS_SOURCES];
    uint64_t copied; /* Bit k is 1 if ks_exec_source() copied matrix k. */
    /* graph contains the value of each graph, and seed its factor in the next backward pass. */
    double *graph, *seed;
    /*
     * `work` counts the multiply-adds so far, products the matrix products, and live the bytes. peak is the
     * largest value of live.
     */
    double work;
    size_t products, live, peak;
    ks_exec_spare spare[KS_EXEC_SPARES]; /* oldest first */
    int spares;
    size_t spare_bytes;
    /* After the first failure, later steps do nothing. */
    kspec_status status;

    ks_arena arena;
    /*
     * The lists contain the values and adjoints of products and vectors. NULL means not yet computed, or
     * released.
     */
    ks_mat **value, **adjoint;
    double **vector, **vector_adjoint;
    /* For each product and vector, the operation after which it can be dropped. */
    int *last_use, *vector_last_use;
    /* scratch contains vectors that are as long as the longest axis. */
    double *scratch[3];
    size_t longest;
    double *const *through;
} ks_exec_state;

void ks_exec_begin(ks_exec_state *x);
/* Sets matrix k, which stays in host memory. ks_exec_end() releases any copy on a device. */
void ks_exec_source(ks_exec_state *x, int k, const double *host);
void ks_exec_forward(ks_exec_state *x);

/*
 * Adds to through[axis][i] the derivative of the sum of seed times value, by the weight of index i. The
 * derivative sums the tuples that contain i, and each vertex counts its positions. A NULL in `through` skips
 * an axis. The function may be called again with other seeds, and skips graphs with a seed of 0.
 */
void ks_exec_backward(ks_exec_state *x, double *const *through);

/*
 * Frees all memory of the execution, including the copies that ks_exec_source() made. The caller's matrices
 * stay.
 */
void ks_exec_end(ks_exec_state *x);

/* Copies a host matrix to where the plan runs. A dry execution copies nothing. */
const ks_mat *ks_exec_copy_in(ks_exec_state *x, const double *host, size_t rows, size_t cols);

/* ---- hold.c ---- */

/*
 * Allocates and counts a matrix. ks_exec_hold_vector() does the same for a vector. After a failure, both
 * functions return NULL. A dry execution without a failure never returns NULL.
 */
ks_mat *ks_exec_hold(ks_exec_state *x, size_t rows, size_t cols);
void ks_exec_drop(ks_exec_state *x, ks_mat *p, size_t rows, size_t cols);
double *ks_exec_hold_vector(ks_exec_state *x, size_t count);
void ks_exec_drop_vector(ks_exec_state *x, double *p, size_t count);

/* Counts the memory that the backend needs for the next step, which is a product or an expression. */
void ks_exec_room(ks_exec_state *x, const ks_room *of);

/*
 * Counts the work of a step. If the caller must compute the step, the function returns 1 and sets `part` to
 * its part of the run.
 */
int ks_exec_step(ks_exec_state *x, double work, ks_run *part);

/* Frees the matrices that wait for reuse. */
void ks_exec_end_spares(ks_exec_state *x);

/* ---- internal ---- */

/* Writes the edge between vertices of axes u and w to `out` as a dense matrix, whose rows belong to u. */
void ks_exec_edge(ks_exec_state *x, uint32_t edge, int u, int w, ks_mat *out);

/*
 * The edge between axes u and w has the adjoint alpha T[u,w] row[u] col[w], where NULL means ones. The
 * function passes this adjoint to the products that the edge contains.
 */
void ks_exec_hand_on(ks_exec_state *x, uint32_t edge, int u, int w, double alpha, const ks_mat *T,
                     const double *row, const double *col);

/* Returns the value of a hard graph. If backward is 1, also adds the graph's derivatives with this seed. */
double ks_hard(ks_exec_state *x, const ks_terminal *t, double seed, int backward);
