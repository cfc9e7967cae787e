/*
 * The matrices of an expression, ready for the sums: halves of trials, with means removed and entries scaled
 * to about 1.
 */
#pragma once

#include "einsum/names.h"
#include "kspec/unbiased.h"

typedef struct {
    const kspec_operand *operands;
    const ks_names *names;
    const ks_groups *groups; /* groups of the rows, or NULL */
    uint64_t seed;
    /* for each given matrix: its entries are divided by 2^exponent */
    int exponent[KS_GIVEN + 1];
    /*
     * for each source: the matrix, and a writable pointer to the matrix, or NULL if the caller owns the
     * matrix
     */
    const double *matrix[KS_SOURCES];
    double *own[KS_SOURCES];
    /* for each source with one trial: 1 if the source is scaled */
    int done[KS_SOURCES];
    size_t *order;
    /* 1: some matrix has more than two trials, which ks_data_split() divides into halves at random */
    int random;
} ks_data;

/*
 * Allocates all sources and finds the scale of each matrix from its first trial. All entries must be finite.
 */
kspec_status ks_data_make(ks_data *d, const ks_given *given, size_t count, ks_arena *arena, kspec_error *err);

/* Fills the matrices of split r; shapes and scale stay as before. */
kspec_status ks_data_split(ks_data *d, size_t r, kspec_error *err);
