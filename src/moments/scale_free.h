/* Moments that do not change when the whole matrix is multiplied by a factor. */
#pragma once

#include "device/pair.h"
#include "kspec/moments.h"

/*
 * Sets the scale-free fields of an estimate of order n from the estimates of orders 1 and n in `sum`,
 * including the P + Q leave-one-out values. ks_jackknife() explains share. room is scratch of 2 (P + Q)
 * numbers.
 */
void ks_scale_free(kspec_estimate *e, const ks_moments_out *sum, size_t P, size_t Q, const double share[2],
                   double *room);
