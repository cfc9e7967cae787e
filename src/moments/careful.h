/*
 * Tests whether rounding may have spoiled second-order estimates. If rounding may have spoiled them, the
 * functions recompute the estimates with twice the digits (pairs/twice.h).
 */
#pragma once

#include "moments/second.h"

/*
 * May rounding errors have spoiled the values or their error bars? `lost` bounds the rounding of the values
 * without each of P rows and without each column.
 */
int ks_lost_matters(const double *values, size_t P, size_t count, const ks_lost *lost);

/*
 * Recomputes the lists of `s` or of `cross` with twice the digits, unless this takes too much work. Sets
 * *made to 1 after recomputing, and to 0 otherwise.
 */
kspec_status ks_second_careful(const ks_run *run, const ks_measured *m, int splits, uint64_t seed,
                               ks_second *s, int *made, kspec_error *err);
kspec_status ks_cross_careful(const ks_run *run, const ks_measured *first, const ks_measured *second,
                              int splits, uint64_t seed, double *cross, ks_lost *lost, int *made,
                              kspec_error *err);
