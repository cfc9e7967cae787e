/* The plan as a person would write it. */
#pragma once

#include "einsum/names.h"
#include "einsum/slices.h"

/* Text in the arena, a line for each result; NULL without memory. `lines` at most, and then how many more. */
const char *ks_explain(const ks_plan *p, const ks_slices *slices, const ks_formula *text,
                       const ks_names *names, const ks_given *given, const ks_sum *sum,
                       const size_t *graph_of, size_t lines, ks_arena *arena);
