/* Differences of dimension and of moments between two matrices, with standard errors and p-values. */
#pragma once

#include "kspec/dimension.h"
#include "moments/second.h"
#include "moments/where.h"

/*
 * The two matrices, and what they give from all of their rows and columns. NULL: a matrix that is not there
 * any more; its moments end at order 2, and p is not corrected by its quarters.
 */
typedef struct {
    const kspec_compare_opts *o;
    ks_measured *matrix[2];
    const ks_second *second[2];
} ks_two_matrices;

/* Adds what the moments above m(2) of a matrix take. */
kspec_status ks_differences_load(const kspec_compare_opts *o, const ks_measured *m, ks_load *l,
                                 kspec_error *err);

/* Sets the dimensions, the count and the differences of r, whose arena has them. */
kspec_status ks_differences_make(const ks_run *run, const ks_two_matrices *of, kspec_compare_result *r,
                                 ks_arena *arena, kspec_error *err);
