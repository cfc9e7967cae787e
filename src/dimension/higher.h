/* Estimates moments above m(2) by the exact estimator, also without each row and without each column. */
#pragma once

#include "moments/second.h"
#include "moments/where.h"

enum { KS_HIGHER_MOST = 4 };

/* nmax is the highest requested order, up to KS_HIGHER_MOST. kspec_moments_opts explains the other fields. */
typedef struct {
    int nmax, splits;
    uint64_t seed;
    kspec_team *team;
    kspec_sampled sampled;
    uint64_t population_rows, population_cols;
    int unit; /* m(n) is in units of 2^(2 n unit). */
} ks_higher;

/*
 * Returns the highest order, up to KS_HIGHER_MOST, for which the exact estimator can give leave-one-out
 * values.
 */
int ks_higher_most(const ks_measured *m);

/* Adds the work of these moments to the load. */
kspec_status ks_higher_load(const ks_higher *how, const ks_measured *m, ks_load *l, kspec_error *err);

/*
 * Sets of[n] for n = 3 ... *highest to 1 + P + Q numbers: from all data, without each row, and without each
 * column. With too few rows or columns or too little memory, *highest is 2.
 */
kspec_status ks_higher_make(const ks_run *run, const ks_higher *how, const ks_measured *m,
                            double *of[1 + KS_HIGHER_MOST], int *highest, ks_arena *arena, kspec_error *err);
