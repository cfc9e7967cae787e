/*
 * Sparse matrices by rows (CSR) or by columns (CSC), as SciPy, AnnData and MATLAB store them: `start` gives
 * the beginning of each line, and `index` the position of each value in its line. All numbers are doubles,
 * which hold every count that fits in memory exactly. The library and kspec-hdf5 share this file, so it
 * depends on no other.
 */
#pragma once

#include <stddef.h>

typedef struct {
    size_t rows, cols;
    int by_columns;
    /* lines + 1 numbers; `count` of the other two */
    const double *start, *index, *value;
    size_t starts, indices, values;
} ks_sparse;

/* The reason why it is not a valid matrix, or NULL. NULL guarantees that every entry has its place. */
const char *ks_sparse_unfit(const ks_sparse *s);

/* Adds the entries to a row-major array of zeros; repeated entries add up, as in SciPy. */
void ks_sparse_expand(const ks_sparse *s, double *dense);
