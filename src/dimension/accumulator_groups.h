/* Computes estimates from the groups of an accumulator. */
#pragma once

#include "dimension/accumulator.h"
#include "moments/second.h"

/* Fails if the accumulator contains too few groups, or the sample too few of them. */
kspec_status ks_accumulator_check_groups(const kspec_accumulator *a, kspec_error *err);

/*
 * Computes the estimates of each matrix. population[k] contains the population sizes of the rows and columns
 * of matrix k. For two matrices, the function also computes cross and lost as ks_cross_make() does, and whole
 * as in ks_sums. The arena owns the lists.
 */
kspec_status ks_accumulator_groups(kspec_accumulator *a, const double (*population)[2], ks_second *second,
                                   double **cross, ks_lost *lost, double *whole, ks_arena *arena,
                                   kspec_error *err);
