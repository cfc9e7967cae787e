/*
 * Accesses strided views of matrices, and makes the one dense copy of its input that every computation needs.
 */
#pragma once

#include "kspec/base.h"

/* Returns entry (i,j). */
static inline double ks_at(const kspec_matrix *m, size_t i, size_t j) {
    return m->data[(ptrdiff_t)i * m->row_stride + (ptrdiff_t)j * m->col_stride];
}

/*
 * Fails with KSPEC_E_ARG unless m is a valid matrix: not NULL, at least 1 x 1, with data. The message calls
 * the matrix `what`.
 */
kspec_status ks_matrix_check(const kspec_matrix *m, const char *what, kspec_error *err);

/*
 * Copies rows first ... first+count-1 of m to the dense row-major array `out` (count x cols). Every entry
 * must be finite. Otherwise the function fails with KSPEC_E_DATA and "WHAT: row 3, column 0 (from 0) is NaN".
 */
kspec_status ks_matrix_copy(const kspec_matrix *m, size_t first, size_t count, const char *what, double *out,
                            kspec_error *err);

/* Fails as ks_matrix_copy() does if an entry is not finite, but copies nothing. */
kspec_status ks_matrix_finite(const kspec_matrix *m, const char *what, kspec_error *err);

/* Returns a view of a dense row-major array. */
static inline kspec_matrix ks_matrix_of(const double *data, size_t rows, size_t cols) {
    return (kspec_matrix){data, rows, cols, (ptrdiff_t)cols, 1};
}
