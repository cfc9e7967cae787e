/* Computes the alignment of two matrices with the same rows, and the interval of the alignment. */
#pragma once

#include "kspec/dimension.h"
#include "moments/second.h"

/*
 * Sets the alignment unless a second moment is not positive. cross and lost come from ks_cross_make(). If
 * grouped is 1, the leave-one-out values have few degrees of freedom.
 */
kspec_status ks_alignment_set(const ks_second *a, const ks_second *b, const double *cross,
                              const ks_lost *lost, int grouped, kspec_compare_result *r, ks_arena *arena,
                              kspec_error *err);
