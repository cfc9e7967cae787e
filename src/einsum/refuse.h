/*
 * Reports why an expression cannot be estimated, and marks the reason in the text. All functions return a
 * failure.
 */
#pragma once

#include "einsum/names.h"

/* An axis has fewer indices than the expression needs distinct ones. */
kspec_status ks_refuse_short(const ks_formula *text, const ks_names *names, ks_sum_shortage s,
                             kspec_error *err);

/* With groups, a product has this many entries and grouped rows: more than a graph can hold. */
kspec_status ks_refuse_groups(const ks_formula *text, const ks_names *names, int entries, kspec_error *err);

/* The products of expression number `part` cancel. */
kspec_status ks_refuse_zero(const ks_formula *text, const ks_names *names, ks_nets *nets, int part,
                            kspec_error *err);

/*
 * The plan cannot sum over these vertices of a graph one after the other. The message names the axes of the
 * vertices.
 */
kspec_status ks_refuse_stuck(const ks_names *names, const ks_net *graph, uint32_t stuck, kspec_error *err);
