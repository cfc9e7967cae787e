/* Doubts about a dimension, in whichever result it stands. */
#pragma once

#include "base/doubt.h"
#include "kspec/moments.h"
#include "moments/jackknife.h"

typedef struct {
    /* the dimension, NaN where it is undefined, and its standard error, NaN where there is none */
    double value, std_error;
    /* the estimates that it is the ratio of */
    double square, moment;
    /* why it cannot be defined, such as "every entry is 0", or NULL */
    const char *constant;
} ks_doubted;

/* Adds to the result's list: about the moments of a matrix of so many rows, and the dimension they give */
void ks_doubt_moments(kspec_moments_result *r, size_t rows);

/* The orders from `first` (0: none) to `last` were left out to save time. */
void ks_doubt_orders_left_out(ks_doubts to, int first, int last);

void ks_doubt_dimension(ks_doubts to, const char *where, const ks_doubted *d);

/* What was left out: rows first, or groups of them, then columns; turned: rows are columns */
typedef struct {
    size_t rows, cols;
    int row_groups, col_groups, turned;
} ks_labels;

/* One row or column makes much of the error of `what`: the interval has few degrees of freedom. */
void ks_doubt_dominated(ks_doubts to, const char *what, const ks_error_bar *bar, const ks_labels *of);

/* Does rounding exceed a tenth of the standard error, or of the value where there is none? */
int ks_estimate_doubtful(const kspec_estimate *e);

/* Fails where every moment is 0, though the matrix is not: its squares are below the smallest double. */
kspec_status ks_moments_check(const kspec_moments_result *r, const kspec_matrix *phi, size_t ntrials,
                              kspec_error *err);
