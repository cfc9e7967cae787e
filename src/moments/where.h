/* What of a call a GPU can do, and what that takes. */
#pragma once

#include "device/device.h"
#include "moments/average.h"

/*
 * Decides where the tasks of s run (ks_placement_decide()), `repeats` pairs of matrices each, by the work
 * that they take; their memory must fit the device.
 */
kspec_status ks_where(ks_placement *placement, const ks_source *s, size_t repeats, kspec_error *err);

/* What sums of second order take: multiply-adds, and bytes of the device at most */
typedef struct {
    double work;
    size_t bytes;
} ks_load;

/* Adds those of a P x Q matrix and a P x R one, or of one with itself, of so many pairs of `two` trials. */
void ks_load_sums(ks_load *l, size_t P, size_t Q, size_t R, int two, size_t repeats);

/* Decides where they run; what does not fit the device goes through it. refused: as for ks_where() */
kspec_status ks_where_second(ks_placement *placement, const ks_load *l, const char *refused,
                             kspec_error *err);
