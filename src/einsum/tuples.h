/* Counts the tuples of rows in which no two rows share a group: for all rows, and without each group. */
#pragma once

#include <stddef.h>

/* The tuples of r rows in order: r! e_r(sizes), with e_r elementary symmetric. Group g begins at first[g]. */
double ks_tuples(const size_t *first, size_t groups, int r);

/*
 * Sets out[g] to the number of tuples of all rows, divided by the number without group g; infinite if no
 * tuples remain. Returns 0 without memory.
 */
int ks_tuples_ratios(const size_t *first, size_t groups, int r, double *out, size_t *failed);
