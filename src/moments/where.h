/* What of a call a GPU can do, and what it takes there. */
#pragma once

#include "device/device.h"
#include "moments/average.h"

/*
 * Decides where the tasks of s run (ks_place_decide()), `repeats` pairs of matrices each, by the work that
 * they take; their memory must fit the device.
 */
kspec_status ks_where(ks_place *place, const ks_source *s, size_t repeats, int threads, kspec_error *err);
