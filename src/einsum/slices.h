/*
 * Evaluates graphs that are too dense for matrix products, one index at a time. In such a graph every vertex
 * has three neighbours or more. Fixing one index turns its entries into vectors over the neighbours' indices,
 * and matrix products may then suffice for the remaining graph. The value is the sum over the fixed index.
 * Slices run on the CPU only.
 */
#pragma once

#include "engine/run.h"

/*
 * The graphs in which the fixed index runs over one axis. Sources with numbers from `first` on are single
 * lines of a matrix.
 */
typedef struct {
    int axis, first;
    ks_plan plan;
    /* For each source from number `first` on, the matrix, and which of the matrix's two indices is fixed. */
    struct {
        uint8_t matrix, end;
    } line[KS_SOURCES];
    double *buffer[KS_SOURCES];
    /* `of` lists the number of each graph in the plan, and the number of positions of its fixed vertex. */
    size_t graphs;
    struct {
        uint32_t graph;
        uint8_t positions;
    } * of;
    /* value contains the value of each graph for each fixed index. */
    double *value;
    /* work, peak and products are the costs of one slice, without and with the backward pass. */
    double work[2];
    size_t peak[2], products[2];
} ks_slice_set;

typedef struct {
    size_t sets;
    ks_slice_set set[KS_AXES];
} ks_slices;

/*
 * Makes slices for the graphs that `plan` cannot reduce. If fixing a single index is not enough for a graph,
 * *stuck receives its number, and otherwise SIZE_MAX.
 */
kspec_status ks_slices_make(ks_slices *s, const ks_plan *plan, const ks_plan_graph *task, int axes,
                            size_t *stuck, ks_arena *arena, kspec_error *err);
void ks_slices_free(ks_slices *s);

/* Returns the multiply-adds of all slices, each computed once. */
double ks_slices_work(const ks_slices *s);

/* Writes the values of the sliced graphs to x->graph. `data` lists the sources in host memory. */
void ks_slices_forward(ks_slices *s, ks_exec_state *x, const double *const *data);
/* Adds the sliced graphs' contributions to the result of ks_exec_backward(). */
void ks_slices_backward(ks_slices *s, ks_exec_state *x, const double *const *data, double *const *through);
