/* From estimates of second order, with rows and columns left out, to the result of kspec_dimension(). */
#pragma once

#include "kspec/dimension.h"
#include "moments/second.h"

/* Sets the dimension, its interval and what it is the ratio of; *d has the interval's degrees of freedom. */
kspec_status ks_dimension_set(const ks_second *s, ks_dimensionality *d, kspec_dimension_result *r,
                              ks_arena *arena, kspec_error *err);

/* Lists what is doubtful about the dimension itself; nothing is said of entries. */
kspec_status ks_dimension_doubts(kspec_dimension_result *r, kspec_error *err);
