/* Counts the tuples of rows in which no two rows share a group, for all rows and without each group. */
#pragma once

#include <stddef.h>

/*
 * Returns the number of ordered tuples of r rows, r! e_r(sizes), where e_r is the elementary symmetric
 * polynomial. Group g begins at first[g].
 */
double ks_tuples(const size_t *first, size_t groups, int r);

/*
 * Sets out[g] to the number of tuples of all rows, divided by the number without group g. The result is
 * infinite if no tuples remain. Returns 0 if memory is short.
 */
int ks_tuples_ratios(const size_t *first, size_t groups, int r, double *out, size_t *failed);
