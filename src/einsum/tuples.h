/* How many tuples of rows there are with no two of one group, of all rows and without each group. */
#pragma once

#include <stddef.h>

/* of r rows in their order: r! e_r(sizes), e_r elementary symmetric; group g begins at first[g] */
double ks_tuples(const size_t *first, size_t groups, int r);

/* out[g]: the tuples of all rows over those without group g; infinite where none is left. 0 without memory */
int ks_tuples_ratios(const size_t *first, size_t groups, int r, double *out, size_t *failed);
