/* What a comparison needs of each matrix alone. Every pair with this matrix can share it. */
#pragma once

#include "checks/check.h"
#include "dimension/permuted.h"
#include "kspec/dimension.h"
#include "moments/second.h"

enum { KS_QUARTERS = 4 };

typedef struct {
    /* from all rows and columns */
    ks_second second;
    /*
     * from each of KS_QUARTERS quarters: even or odd rows, and even or odd columns. NULL: the matrix is too
     * small for quarters, or its rows are in groups
     */
    ks_second *quarter;
    /* of the null test; n = 0 if there is none: not centred, groups, finite populations, or not paired */
    ks_shape shape;
} ks_compared;

/*
 * Computes it on the run's device if the trials are there. `what` names the matrix in a failure; `data` tells
 * which entry caused it, or is NULL.
 */
kspec_status ks_compared_make(const ks_run *run, ks_measured *m, const kspec_compare_opts *o,
                              const ks_checked *data, const char *what, ks_compared *out, ks_arena *arena,
                              kspec_error *err);
