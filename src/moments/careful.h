/*
 * Second order where rounding matters: what it may have done to each list of estimates, and the lists made
 * again in twice the digits (pairs/twice.h) from trials that are averaged and centred in twice the digits.
 */
#pragma once

#include "moments/second.h"

/* May rounding have changed the values, or error bars made of them? `lost` of P rows and the other columns */
int ks_lost_matters(const double *values, size_t P, size_t count, const ks_lost *lost);

/* Makes the lists of `s`, or `cross`, again where that is not too much work: *made tells. */
kspec_status ks_second_careful(const ks_run *run, const ks_measured *m, int splits, uint64_t seed,
                               ks_second *s, int *made, kspec_error *err);
kspec_status ks_cross_careful(const ks_run *run, const ks_measured *first, const ks_measured *second,
                              int splits, uint64_t seed, double *cross, ks_lost *lost, int *made,
                              kspec_error *err);
