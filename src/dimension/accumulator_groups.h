/* Estimates from the groups of an accumulator. */
#pragma once

#include "dimension/accumulator.h"
#include "moments/second.h"

/* Does the accumulator contain enough groups, and the sample enough of these groups? */
kspec_status ks_accumulator_check_groups(const kspec_accumulator *a, kspec_error *err);

/*
 * Computes the estimates of each matrix. population: the population sizes of each matrix's rows and columns.
 * For two matrices, also computes cross and lost as ks_cross_make() does, and whole as in ks_sums. The arena
 * owns the lists.
 */
kspec_status ks_accumulator_groups(kspec_accumulator *a, const double (*population)[2], ks_second *second,
                                   double **cross, ks_lost *lost, double *whole, ks_arena *arena,
                                   kspec_error *err);
