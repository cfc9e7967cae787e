/*
 * Graphs in which every vertex has three neighbours or more: with one index fixed, the entries at it are
 * vectors at its neighbours, and matrix products may suffice for what is left. The value is the sum over that
 * index, one slice after the other. Slices are the processor's.
 */
#pragma once

#include "engine/run.h"

/* All graphs that are sliced along one axis. A source above those of the plan is a line of one of them. */
typedef struct {
    int axis, first;
    ks_plan plan;
    /* of each source from number `first` on: the matrix, and which of its two indices is fixed */
    struct {
        uint8_t matrix, end;
    } line[KS_SOURCES];
    double *buffer[KS_SOURCES];
    /* of each graph: its number in the plan, and the positions of the fixed vertex */
    size_t graphs;
    struct {
        uint32_t graph;
        uint8_t positions;
    } * of;
    /* by graph and index */
    double *value;
    /* of one slice, without and with a backward pass */
    double work[2];
    size_t peak[2], products[2];
} ks_slice_set;

typedef struct {
    size_t sets;
    ks_slice_set set[KS_AXES];
} ks_slices;

/*
 * Slices for the graphs at which `plan` is stuck. *stuck: one that stays so with any one index fixed, or
 * SIZE_MAX.
 */
kspec_status ks_slices_make(ks_slices *s, const ks_plan *plan, const ks_plan_graph *task, int axes,
                            size_t *stuck, ks_arena *arena, kspec_error *err);
void ks_slices_free(ks_slices *s);

/* Multiply-adds of all slices, once */
double ks_slices_work(const ks_slices *s);

/* The values of sliced graphs, into x->graph; data: the sources in the host's memory */
void ks_slices_forward(ks_slices *s, ks_exec_state *x, const double *const *data);
/* What ks_exec_backward() adds, of the sliced graphs */
void ks_slices_backward(ks_slices *s, ks_exec_state *x, const double *const *data, double *const *through);
