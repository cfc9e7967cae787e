/* Computes the result of kspec_dimension() from second-order estimates and leave-one-out values. */
#pragma once

#include "kspec/dimension.h"
#include "moments/second.h"

/*
 * Sets the dimension, the two estimates whose ratio it is, and the interval. *d receives the interval's
 * degrees of freedom.
 */
kspec_status ks_dimension_set(const ks_second *s, ks_dimensionality *d, kspec_dimension_result *r,
                              ks_arena *arena, kspec_error *err);

/* Lists doubts about the dimension itself, but not about entries. */
kspec_status ks_dimension_doubts(kspec_dimension_result *r, kspec_error *err);
