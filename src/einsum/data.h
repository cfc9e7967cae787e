/*
 * Prepares the matrices of an expression for the sums. The prepared matrices are halves of trials, without
 * means, with entries scaled to about 1.
 */
#pragma once

#include "einsum/names.h"
#include "kspec/unbiased.h"

typedef struct {
    const kspec_operand *operands;
    const ks_names *names;
    const ks_groups *groups; /* NULL: no groups */
    uint64_t seed;
    /* The entries of given matrix g are divided by 2^exponent[g]. */
    int exponent[KS_GIVEN + 1];
    /*
     * matrix contains the matrix of each source. own contains a writable pointer to it, or NULL if the caller
     * owns the matrix.
     */
    const double *matrix[KS_SOURCES];
    double *own[KS_SOURCES];
    /* For a source with one trial, 1 if the source is scaled. */
    int done[KS_SOURCES];
    size_t *order;
    /*
     * If random is 1, a matrix has more than two trials, which ks_data_split() divides into halves at random.
     */
    int random;
} ks_data;

/*
 * Allocates all sources and finds the scale of each matrix from its first trial. All entries must be finite.
 */
kspec_status ks_data_make(ks_data *d, const ks_given *given, size_t count, ks_arena *arena, kspec_error *err);

/* Fills the matrices with split r of the trials. Shapes and scales do not change. */
kspec_status ks_data_split(ks_data *d, size_t r, kspec_error *err);
