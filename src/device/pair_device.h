/*
 * Transposes or copies a pair of matrices for the run's device. A result computed on a GPU stays on it, and
 * the GPU's backend uses it directly (ks_device_has()).
 */
#pragma once

#include "device/backend.h"
#include "device/pair.h"

typedef struct {
    ks_pair p;
    ks_arena arena;
    /* on a GPU: the matrices to release */
    ks_mat *held[2];
} ks_moved;

/* The transposes of p, computed where the run computes. Call ks_moved_end(), also after a failure. */
kspec_status ks_turn(const ks_run *run, const ks_pair *p, ks_moved *to, kspec_error *err);

/* Gives p in host memory: a copy if p is on a GPU. Call ks_moved_end() afterwards, also after a failure. */
kspec_status ks_to_host(const ks_run *run, const ks_pair *p, ks_moved *to, kspec_error *err);

void ks_moved_end(const ks_run *run, ks_moved *m);

/* Returns the run for sums over X: on the device if X is there already, otherwise on the CPU */
ks_run ks_run_near(const ks_run *run, const double *X);
