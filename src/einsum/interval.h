/* Computes the error bar of an estimate from the estimates without each index of each axis. */
#pragma once

#include "moments/jackknife.h"

/*
 * Computes the standard error and the confidence interval of a value. If order > 0, the value is one product,
 * and the interval is computed on the logarithm. The interval of a moment is the one of kspec_moments(), in
 * which skewness moves one end, outwards; for other products it moves both ends. If order = 0, the value is
 * any function, and the interval is on the value's own scale. room is needed for order > 0, and has one
 * number for each index of all sides. part[k] receives the standard error from side k alone.
 */
void ks_interval_make(double value, int order, int moment, const ks_sides *of, double *room, double *part,
                      ks_error_bar *out);
