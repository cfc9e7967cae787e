/* Sorting doubles. NaN must not be among them. */
#pragma once

#include <stddef.h>

void ks_sort_ascending(double *x, size_t count);
void ks_sort_descending(double *x, size_t count);

/* order[k] = the place of the k-th largest of x; of equals, the first comes first. */
void ks_order_descending(const double *x, size_t count, size_t *order);
