/* Prepares the rows and targets of a prediction: checks, splits, copies, centres and scales them. */
#pragma once

#include "ridge/plan.h"

/* Holds the matrices of a prediction; the two matrices of the test set may be NULL. */
typedef struct {
    const kspec_matrix *x, *y, *xt, *yt;
} ks_ridge_data;

/*
 * Returns KSPEC_E_ARG if the sizes of the matrices do not match; otherwise sets the sizes n, nt, p and m
 * of r.
 */
kspec_status ks_ridge_check_data(kspec_ridge *r, const ks_ridge_data *d, kspec_error *err);

/*
 * Copies the selected rows to r->X, r->Y, r->Xt and r->Yt, and centres and scales them as the options
 * request.
 */
kspec_status ks_ridge_copy_data(kspec_ridge *r, const ks_ridge_data *d, kspec_error *err);

/* Divides X and Xt by sigma. If sigma is the median distance, computes it first. */
kspec_status ks_ridge_divide_by_sigma(kspec_ridge *r, kspec_error *err);
