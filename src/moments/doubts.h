/* Warnings and notes about an estimated dimension, for every result that contains one. */
#pragma once

#include "base/doubt.h"
#include "kspec/moments.h"
#include "moments/jackknife.h"

typedef struct {
    /* The value is NaN if undefined, and std_error is NaN if unknown. */
    double value, std_error;
    /* The dimension is square / moment. */
    double square, moment;
    /*
     * The reason why the dimension is undefined, for example "every entry is 0". NULL if the reason is
     * unknown.
     */
    const char *constant;
} ks_doubted;

/*
 * Adds doubts about the moments of a matrix with `rows` rows, and about the dimension that follows from the
 * moments.
 */
void ks_doubt_moments(kspec_moments_result *r, size_t rows);

/*
 * Reports that kspec omitted the orders `first` to `last` to save time. If first is 0, no order was omitted.
 */
void ks_doubt_orders_left_out(ks_doubts to, int first, int last);

void ks_doubt_dimension(ks_doubts to, const char *where, const ks_doubted *d);

/*
 * Describes which rows and columns the jackknife leaves out, so that messages can name them. row_groups or
 * col_groups is 1 if the units are groups. turned is 1 if the rows are columns of the caller's matrix.
 */
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
