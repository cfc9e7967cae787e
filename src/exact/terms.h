/*
 * The graphs of centred kernels and of finite populations, each with its own weights: what a weighted plan is
 * made of.
 */
#pragma once

#include "exact/cycles.h"

/* The highest order of a weighted plan: above, some graphs are hard, and with both sides centred at n = 4. */
enum { KS_WEIGHTED_NMAX = 4, KS_BOTH_NMAX = 3 };

/*
 * The different graphs of order n of a weighted form, in the arena; *count of them. NULL where there is not
 * enough memory. size: rows and columns; *room: the bytes that it takes meanwhile.
 */
ks_graph *ks_terms(const ks_exact_form *form, const size_t size[2], int n, size_t *count, ks_arena *arena,
                   size_t *room);
