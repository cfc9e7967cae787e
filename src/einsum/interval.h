/* The error bar of an estimate, from the estimates without each index of each axis. */
#pragma once

#include "moments/jackknife.h"

/*
 * Computes the standard error and the confidence interval of a value. With order > 0 the value is one
 * product, and its interval is computed on the logarithm, as for m(n); skewness moves both of its ends, while
 * for m(n) it moves one outwards. With order = 0 the value is any function, and its interval is on its own
 * scale. room: as many numbers as all sides have together (order > 0). part[k]
 * receives the standard error from side k alone.
 */
void ks_interval_make(double value, int order, const ks_sides *of, double *room, double *part,
                      ks_error_bar *out);
