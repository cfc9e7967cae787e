/* Reads the points of a smooth curve from the caller's arrays. */
#pragma once

#include "wls/smooth.h"

/* Checks the points, and stores the points in use. An error message names the value and the bound. */
kspec_status ks_smooth_take(size_t N, const double *x, const double *y, const kspec_wls_smooth_opts *o,
                            ks_arena *arena, ks_smooth_data *d, kspec_error *err);
