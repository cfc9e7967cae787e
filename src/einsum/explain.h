/* Prints the plan of an expression for a person to read. */
#pragma once

#include "einsum/names.h"
#include "einsum/slices.h"

/*
 * Returns the text in the arena, with one line for each result, or NULL if memory is short. After `lines`
 * lines the text ends with the number of further lines.
 */
const char *ks_explain(const ks_plan *p, const ks_slices *slices, const ks_formula *text,
                       const ks_names *names, const ks_given *given, const ks_sum *sum,
                       const size_t *graph_of, size_t lines, ks_arena *arena);
