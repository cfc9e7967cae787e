/*
 * Sparse matrices by rows (CSR) or by columns (CSC), as SciPy, AnnData and MATLAB store them: `start` says
 * where each line begins, `index` which entry of its line a value is. Numbers of any file are doubles here,
 * exact for every count that fits memory. Used by the library and by kspec-hdf5, so it stands on nothing.
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

/* Why it is not a matrix, or NULL: after that every entry has its place. */
const char *ks_sparse_unfit(const ks_sparse *s);

/* Adds the entries to a row-major array of zeros; those that come twice add up, as in SciPy. */
void ks_sparse_expand(const ks_sparse *s, double *dense);
