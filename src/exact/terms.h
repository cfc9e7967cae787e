/*
 * Lists the graphs of centred kernels and of finite populations with their weights: the input of a weighted
 * plan.
 */
#pragma once

#include "exact/cycles.h"

/*
 * The highest order of a weighted plan, and with both sides centred. At higher orders some graphs need more
 * than matrix products.
 */
enum { KS_WEIGHTED_NMAX = 4, KS_BOTH_NMAX = 3 };

/*
 * Lists the different graphs of order n of a weighted form in the arena; *count is their number. Returns NULL
 * without enough memory. size: rows and columns; *room: the bytes needed meanwhile.
 */
ks_graph *ks_terms(const ks_exact_form *form, const size_t size[2], int n, size_t *count, ks_arena *arena,
                   size_t *room);
