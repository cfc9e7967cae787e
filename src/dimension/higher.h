/* Moments above m(2) by exact, with every row and every column left out. */
#pragma once

#include "moments/second.h"
#include "moments/where.h"

enum { KS_HIGHER_MOST = 4 };

/* The highest order wanted, up to KS_HIGHER_MOST; the others as in kspec_moments_opts */
typedef struct {
    int nmax, splits;
    uint64_t seed;
    kspec_team *team;
    kspec_sampled sampled;
    uint64_t population_rows, population_cols;
    int unit; /* of values: m(n) in 2^(2 n unit) */
} ks_higher;

/* The highest order that exact can give with every row and column left out, at most KS_HIGHER_MOST */
int ks_higher_most(const ks_measured *m);

/* Adds what they take. */
kspec_status ks_higher_load(const ks_higher *how, const ks_measured *m, ks_load *l, kspec_error *err);

/*
 * Sets of[n] for n = 3 ... *highest: 1 + P + Q numbers, from all, without each row, without each column.
 * Where rows or columns are too few, or memory is, *highest is 2.
 */
kspec_status ks_higher_make(const ks_run *run, const ks_higher *how, const ks_measured *m,
                            double *of[1 + KS_HIGHER_MOST], int *highest, ks_arena *arena, kspec_error *err);
