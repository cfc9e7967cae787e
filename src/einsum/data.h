/* The matrices of a program: halves of trials, means removed, scaled near 1. */
#pragma once

#include "einsum/names.h"
#include "kspec/unbiased.h"

typedef struct {
    const kspec_operand *operands;
    const ks_names *names;
    const ks_groups *groups; /* of the rows, or NULL */
    uint64_t seed;
    /* by matrix given: entries are divided by 2^exponent */
    int exponent[KS_GIVEN + 1];
    /* by source: dense; the same where it is not the caller's own */
    const double *matrix[KS_SOURCES];
    double *own[KS_SOURCES];
    /* of one trial: is it scaled? */
    int done[KS_SOURCES];
    size_t *order;
    /* are halves drawn at random: is there a matrix with more than two trials? */
    int random;
} ks_data;

/* Memory for all sources and the scale of each matrix, from its first trial; entries must be finite. */
kspec_status ks_data_make(ks_data *d, const ks_given *given, size_t count, ks_arena *arena, kspec_error *err);

/* The matrices of split r; of shapes and scale as before */
kspec_status ks_data_split(ks_data *d, size_t r, kspec_error *err);
