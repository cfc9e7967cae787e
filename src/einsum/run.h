/* Carries out a program: forward the values of graphs, backward the sums over tuples that use an index. */
#pragma once

#include "base/parallel.h"
#include "device/backend.h"
#include "einsum/program.h"

enum { KS_RUN_SPARES = 12 };
typedef struct {
    ks_mat *x;
    size_t rows, cols;
} ks_run_spare;

/*
 * One execution. Set the first fields and call the functions below in their order. A dry one computes
 * nothing: it counts work and memory by the same code.
 */
typedef struct {
    const ks_program *program;
    const ks_run *run;
    const ks_backend *at;
    /* dense, row-major, in the host's memory; not looked at by a dry one */
    const double *const *data;
    int dry;
    /* matrices are kept for backward() */
    int keep;
    double total;
    kspec_error *err;

    kspec_status status;
    /* multiply-adds so far, matrix products, bytes */
    double work;
    size_t products, live, peak;
    const ks_mat *source[KS_SOURCES];
    ks_run_spare spare[KS_RUN_SPARES];
    int spares;
    ks_arena arena;
    ks_mat **value, **adjoint;
    double **vector, **vector_adjoint, *scratch[3];
    size_t *last_use, longest;
    double *graph; /* the value of each graph */
} ks_execution;

kspec_status ks_execution_forward(ks_execution *x);

/*
 * seed: of each graph, what its value counts. Adds to through[axis][i] (where not NULL) the derivative of the
 * sum by the weight of index i: that of the tuples that use it, each vertex counting its positions. May be
 * called again with other seeds.
 */
kspec_status ks_execution_backward(ks_execution *x, const double *seed, double *const *through);
void ks_execution_end(ks_execution *x);
