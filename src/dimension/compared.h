/* The estimates of one matrix that a comparison needs. All pairs with this matrix share these estimates. */
#pragma once

#include "checks/check.h"
#include "dimension/permuted.h"
#include "kspec/dimension.h"
#include "moments/second.h"

enum { KS_QUARTERS = 4 };

typedef struct {
    /* from all data */
    ks_second second;
    /*
     * quarter contains the estimates from each of KS_QUARTERS quarters, which consist of even or odd rows and
     * even or odd columns. NULL if the matrix is too small for quarters, or if its rows are in groups.
     */
    ks_second *quarter;
    /*
     * The sums for the null test. shape.n is 0 if the test is impossible, which holds without centring or
     * pairing, with groups, and for finite populations.
     */
    ks_shape shape;
} ks_compared;

/*
 * Computes `out`. The run's device does so if the trials are on the device. Messages name the matrix by the
 * string `what`. `data` helps to find the entry that caused a failure, or is NULL.
 */
kspec_status ks_compared_make(const ks_run *run, ks_measured *m, const kspec_compare_opts *o,
                              const ks_checked *data, const char *what, ks_compared *out, ks_arena *arena,
                              kspec_error *err);
