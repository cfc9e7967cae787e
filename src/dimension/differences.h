/* Computes differences of dimension and moments between two matrices, with standard errors and p-values. */
#pragma once

#include "dimension/compared.h"
#include "moments/second.h"
#include "moments/where.h"

/*
 * Contains two matrices, with their estimates from all rows and columns and from their quarters. A matrix is
 * NULL if it is no longer available, and moments then end at order 2. The quarters may be NULL, and p is then
 * not corrected.
 */
typedef struct {
    const kspec_compare_opts *o;
    ks_measured *matrix[2];
    const ks_second *second[2], *quarter[2];
} ks_two_matrices;

/* Adds the work of a matrix's moments above m(2) to the load. */
kspec_status ks_differences_load(const kspec_compare_opts *o, const ks_measured *m, ks_load *l,
                                 kspec_error *err);

/* Sets the dimensions, the count and the differences of the result r. The arena of r owns the differences. */
kspec_status ks_differences_make(const ks_run *run, const ks_two_matrices *of, kspec_compare_result *r,
                                 ks_arena *arena, kspec_error *err);
