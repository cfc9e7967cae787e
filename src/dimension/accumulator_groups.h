/* Estimates from the groups of an accumulator. */
#pragma once

#include "dimension/accumulator.h"
#include "moments/second.h"

/* Are there enough groups, and enough of them in the sample? */
kspec_status ks_accumulator_check_groups(const kspec_accumulator *a, kspec_error *err);

/*
 * The estimates of each matrix (population: of its rows and columns) and, for two matrices, of both together:
 * cross and lost as from ks_cross_make(), whole as ks_sums.whole. The arena holds the lists.
 */
kspec_status ks_accumulator_groups(kspec_accumulator *a, const double (*population)[2], ks_second *second,
                                   double **cross, ks_lost *lost, double *whole, ks_arena *arena,
                                   kspec_error *err);
