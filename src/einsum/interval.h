/* Computes the error bar of an estimate from the estimates without each index of each axis. */
#pragma once

#include "moments/jackknife.h"

/*
 * Computes the standard error and the confidence interval of a value. If order > 0, the value is one product,
 * and the interval is computed on the logarithm, as for m(n). Skewness moves both ends of this interval,
 * while for m(n) it moves only one end, outwards. If order = 0, the value is any function, and the interval
 * is on the value's own scale. room is needed for order > 0, and has one number for each index of all sides.
 * part[k] receives the standard error from side k alone.
 */
void ks_interval_make(double value, int order, const ks_sides *of, double *room, double *part,
                      ks_error_bar *out);
