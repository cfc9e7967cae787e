/*
 * Describes sparse matrices by rows (CSR) or by columns (CSC), as SciPy, AnnData and MATLAB store them. A
 * line is a row (CSR) or a column (CSC). `start` gives the beginning of each line, and `index` the position
 * of each value in its line. All numbers are doubles, which are exact for every count that fits in memory.
 * The library and kspec-hdf5 share this file, so it depends on no other.
 */
#pragma once

#include <stddef.h>

typedef struct {
    size_t rows, cols;
    int by_columns;
    /* start has lines + 1 numbers. index and value have `count` numbers. */
    const double *start, *index, *value;
    size_t starts, indices, values;
} ks_sparse;

/*
 * Returns the reason why the matrix is not valid, or NULL. NULL guarantees that every entry lies inside the
 * matrix.
 */
const char *ks_sparse_unfit(const ks_sparse *s);

/* Adds the entries to a row-major array of zeros. Repeated entries add up, as in SciPy. */
void ks_sparse_expand(const ks_sparse *s, double *dense);
