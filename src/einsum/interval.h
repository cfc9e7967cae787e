/* The error bar of an estimate from its values without each index of each axis. */
#pragma once

#include <stddef.h>

typedef struct {
    double std_error, low, high;
} ks_interval;

/*
 * without[k]: size[k] values, of an axis that is this share of what it is sampled from short of all of it: 1
 * of an infinite population. part[k] = the standard error from that axis alone.
 */
void ks_interval_make(double value, const double *const *without, const size_t *size, const double *share,
                      size_t axes, double *part, ks_interval *out);
