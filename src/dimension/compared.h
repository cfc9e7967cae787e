/*
 * The estimates of one matrix that a comparison needs. All pairs with this matrix can share these estimates.
 */
#pragma once

#include "checks/check.h"
#include "dimension/permuted.h"
#include "kspec/dimension.h"
#include "moments/second.h"

enum { KS_QUARTERS = 4 };

typedef struct {
    /* estimates from all rows and columns */
    ks_second second;
    /*
     * estimates from each of KS_QUARTERS quarters: even or odd rows, and even or odd columns. NULL: the
     * matrix is too small for quarters, or the rows are in groups
     */
    ks_second *quarter;
    /*
     * sums for the null test. n = 0 if the test is impossible: without centring or pairing, with groups or
     * finite populations
     */
    ks_shape shape;
} ks_compared;

/*
 * Computes `out` on the run's device if the trials are there. `what` names the matrix in messages. `data`
 * helps to find the entry that caused a failure, or is NULL.
 */
kspec_status ks_compared_make(const ks_run *run, ks_measured *m, const kspec_compare_opts *o,
                              const ks_checked *data, const char *what, ks_compared *out, ks_arena *arena,
                              kspec_error *err);
