/* Decides whether a call runs on the GPU, from the work and the memory that it takes. */
#pragma once

#include "device/device.h"
#include "moments/average.h"

/*
 * Decides where the tasks of s run (ks_placement_decide()), with `repeats` pairs of matrices each, by the
 * work that they take. Their memory must fit the device.
 */
kspec_status ks_where(ks_placement *placement, const ks_source *s, size_t repeats, kspec_error *err);

/* The cost of second-order sums: multiply-adds, and the most bytes of device memory */
typedef struct {
    double work;
    size_t bytes;
} ks_load;

/* Adds the cost for a P x Q and a P x R matrix, or one with itself, and so many pairs of `two` trials. */
void ks_load_sums(ks_load *l, size_t P, size_t Q, size_t R, int two, size_t repeats);

/* Decides where the sums run; data too large for the device are streamed. refused: as for ks_where() */
kspec_status ks_where_second(ks_placement *placement, const ks_load *l, const char *refused,
                             kspec_error *err);
