/* Moments that no factor of the matrix changes. */
#pragma once

#include "device/pair.h"
#include "kspec/moments.h"

/*
 * Fills the scale-free fields of the estimate of order n from the estimates of orders 1 and n in `sum`, with
 * P + Q left out. share: as in ks_jackknife(). room: 2 (P + Q) numbers.
 */
void ks_scale_free(kspec_estimate *e, const ks_moments_out *sum, size_t P, size_t Q, const double share[2],
                   double *room);
