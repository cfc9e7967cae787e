/*
 * A pair of matrices for the run's device: transposed by it, or copied from it. What is made on a GPU stays
 * on it, and its backend takes it as it is (ks_device_has()).
 */
#pragma once

#include "device/backend.h"
#include "device/pair.h"

typedef struct {
    ks_pair p;
    ks_arena arena;
    /* on a GPU: what is to be dropped */
    ks_mat *held[2];
} ks_moved;

/* The transposes of p, made where the run computes. Call ks_moved_end() afterwards, also after a failure. */
kspec_status ks_turn(const ks_run *run, const ks_pair *p, ks_moved *to, kspec_error *err);

/* p in the host's memory: a copy where it is a GPU's. Likewise. */
kspec_status ks_to_host(const ks_run *run, const ks_pair *p, ks_moved *to, kspec_error *err);

void ks_moved_end(const ks_run *run, ks_moved *m);

/* The run for sums over X: on its device where X already is, otherwise on the processor. */
ks_run ks_run_near(const ks_run *run, const double *X);
