/*
 * Transposes or copies a pair of matrices for the run's device. A result that a GPU computed stays on the
 * GPU, and the GPU's backend uses it directly (ks_device_has()).
 */
#pragma once

#include "device/backend.h"
#include "device/pair.h"

typedef struct {
    ks_pair p;
    ks_arena arena;
    /* On a GPU, the matrices to release. */
    ks_mat *held[2];
} ks_moved;

/*
 * Computes the transposes of p where the run computes. The caller must call ks_moved_end(), also after a
 * failure.
 */
kspec_status ks_turn(const ks_run *run, const ks_pair *p, ks_moved *to, kspec_error *err);

/*
 * Provides p in host memory, as a copy if p is on a GPU. The caller must call ks_moved_end(), also after a
 * failure.
 */
kspec_status ks_to_host(const ks_run *run, const ks_pair *p, ks_moved *to, kspec_error *err);

void ks_moved_end(const ks_run *run, ks_moved *m);

/*
 * Returns the run for sums over X. The run uses the device if X is on the device already, and otherwise the
 * CPU.
 */
ks_run ks_run_near(const ks_run *run, const double *X);
