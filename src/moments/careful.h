/*
 * Second-order estimates that rounding may have spoiled: tests whether it did, and recomputes them with twice
 * the digits (pairs/twice.h). It also averages and centres the trials with twice the digits.
 */
#pragma once

#include "moments/second.h"

/* May rounding have changed the values or their error bars? `lost`: of P rows and the other columns */
int ks_lost_matters(const double *values, size_t P, size_t count, const ks_lost *lost);

/* Recomputes the lists of `s` or of `cross` if that is not too much work; *made says whether it did. */
kspec_status ks_second_careful(const ks_run *run, const ks_measured *m, int splits, uint64_t seed,
                               ks_second *s, int *made, kspec_error *err);
kspec_status ks_cross_careful(const ks_run *run, const ks_measured *first, const ks_measured *second,
                              int splits, uint64_t seed, double *cross, ks_lost *lost, int *made,
                              kspec_error *err);
