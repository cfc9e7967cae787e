/* Warnings and notes about an estimated dimension, for every result that contains one. */
#pragma once

#include "base/doubt.h"
#include "kspec/moments.h"
#include "moments/jackknife.h"

typedef struct {
    /* the dimension (NaN: undefined) and its standard error (NaN: unknown) */
    double value, std_error;
    /* the two estimates whose ratio is the dimension */
    double square, moment;
    /* the reason why the dimension is undefined, such as "every entry is 0", or NULL */
    const char *constant;
} ks_doubted;

/*
 * Adds doubts about the moments of a matrix with `rows` rows, and about the dimension computed from these
 * moments.
 */
void ks_doubt_moments(kspec_moments_result *r, size_t rows);

/* Says that orders `first` (0: none) to `last` were omitted to save time. */
void ks_doubt_orders_left_out(ks_doubts to, int first, int last);

void ks_doubt_dimension(ks_doubts to, const char *where, const ks_doubted *d);

/* The units left out: first rows or groups of rows, then columns; turned: rows are columns */
typedef struct {
    size_t rows, cols;
    int row_groups, col_groups, turned;
} ks_labels;

/*
 * Warns if one row or column dominates the error of `what`, since the interval then has few degrees of
 * freedom.
 */
void ks_doubt_dominated(ks_doubts to, const char *what, const ks_error_bar *bar, const ks_labels *of);

/* Does rounding exceed a tenth of the standard error, or of the value if the error is unknown? */
int ks_estimate_doubtful(const kspec_estimate *e);

/* Fails if every moment is 0 although the matrix is not 0, because the squared entries underflow. */
kspec_status ks_moments_check(const kspec_moments_result *r, const kspec_matrix *phi, size_t ntrials,
                              kspec_error *err);
