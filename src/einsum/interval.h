/* The error bar of an estimate from its values without each index of each axis. */
#pragma once

#include "moments/jackknife.h"

/*
 * order > 0: that of one product, whose interval is that of its logarithm as for m(n); 0: of any function, on
 * its own scale. room: as many numbers as all sides have (order > 0). part[k] = the standard error from side
 * k alone.
 */
void ks_interval_make(double value, int order, const ks_sides *of, double *room, double *part,
                      ks_error_bar *out);
