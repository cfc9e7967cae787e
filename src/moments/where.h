/* Decides whether a call runs on the GPU, from the call's work and memory. */
#pragma once

#include "device/device.h"
#include "moments/average.h"

/*
 * Decides from the amount of work whether the tasks of s run on the GPU (ks_placement_decide()). Each task
 * runs on `repeats` pairs of matrices. The memory of each task must fit the device.
 */
kspec_status ks_where(ks_placement *placement, const ks_source *s, size_t repeats, kspec_error *err);

/*
 * The cost of second-order sums: `work` counts multiply-adds, and `bytes` is the largest amount of device
 * memory.
 */
typedef struct {
    double work;
    size_t bytes;
} ks_load;

/*
 * Adds the cost of second-order sums of a P x Q and a P x R matrix, or of one matrix with itself, for
 * `repeats` pairs. two is 1 if the members of a pair differ.
 */
void ks_load_sums(ks_load *l, size_t P, size_t Q, size_t R, int two, size_t repeats);

/*
 * Decides where the second-order sums run. The device streams data that exceed its memory. refused names the
 * part of the call that a GPU cannot run, or is NULL.
 */
kspec_status ks_where_second(ks_placement *placement, const ks_load *l, const char *refused,
                             kspec_error *err);
