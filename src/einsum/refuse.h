/*
 * Reports why the library cannot estimate an expression, and marks the place in the text. All functions
 * return a failure.
 */
#pragma once

#include "einsum/names.h"

/* Reports that an axis has fewer indices than the distinct ones that the expression needs. */
kspec_status ks_refuse_short(const ks_formula *text, const ks_names *names, ks_sum_shortage s,
                             kspec_error *err);

/* Reports that a product with groups has more entries and grouped rows than a graph can contain. */
kspec_status ks_refuse_groups(const ks_formula *text, const ks_names *names, int entries, kspec_error *err);

/* Reports that the products of expression number `part` cancel. */
kspec_status ks_refuse_zero(const ks_formula *text, const ks_names *names, ks_nets *nets, int part,
                            kspec_error *err);

/*
 * Reports that the plan cannot sum over some vertices of a graph one after the other. The message names the
 * axes of these vertices.
 */
kspec_status ks_refuse_stuck(const ks_names *names, const ks_net *graph, uint32_t stuck, kspec_error *err);
