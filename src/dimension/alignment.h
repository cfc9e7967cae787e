/* The alignment of two matrices with the same rows, with its interval. */
#pragma once

#include "kspec/dimension.h"
#include "moments/second.h"

/*
 * Sets it, unless a second moment is not positive. cross, lost: as ks_cross_make() gives them. grouped:
 * leaving out has few degrees of freedom.
 */
kspec_status ks_alignment_set(const ks_second *a, const ks_second *b, const double *cross,
                              const ks_lost *lost, int grouped, kspec_compare_result *r, ks_arena *arena,
                              kspec_error *err);
