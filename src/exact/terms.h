/*
 * Lists the graphs of centred kernels and of finite populations with their weights. A weighted plan starts
 * from this list.
 */
#pragma once

#include "exact/cycles.h"

/*
 * KS_WEIGHTED_NMAX is the highest order of a weighted plan, and KS_BOTH_NMAX the highest order with both
 * sides centred. At higher orders some graphs need more than matrix products.
 */
enum { KS_WEIGHTED_NMAX = 4, KS_BOTH_NMAX = 3 };

/*
 * Lists the different graphs of order n of a weighted form in the arena. *count receives their number.
 * Returns NULL if memory is short. size contains the numbers of rows and columns. *room receives the bytes of
 * temporary memory.
 */
ks_graph *ks_terms(const ks_exact_form *form, const size_t size[2], int n, size_t *count, ks_arena *arena,
                   size_t *room);
