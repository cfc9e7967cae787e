/*
 * Checks of the data behind an estimate: entries, rows and columns that stand out, rows that depend on each
 * other, and matrices that are not data at all. What they find becomes doubts of the result.
 *
 * The estimators assume that rows, and columns, are independent draws of which none decides the result alone.
 * All checks read the data once, and a sample of it a few times: far less than an estimate costs.
 */
#pragma once

#include "base/doubt.h"
#include "kspec/moments.h"

typedef struct {
    const kspec_matrix *phi, *raw; /* raw: before columns were standardized; or NULL */
    int series;                    /* 1: the caller knows that rows follow each other */
    size_t ntrials;
    const size_t *row_trials; /* as in kspec_moments_opts, or NULL; so are the following */
    const uint64_t *row_groups, *col_groups;
    kspec_center center;
    kspec_sampled sampled;
} ks_checked;

/* The data of a call that has them and, in `o`, its options by these names */
#define KS_CHECKED(c)                               \
    ((ks_checked){.phi = (c)->phi,                  \
                  .raw = (c)->raw,                  \
                  .series = (c)->o->block != 0,     \
                  .ntrials = (c)->ntrials,          \
                  .row_trials = (c)->o->row_trials, \
                  .row_groups = (c)->o->row_groups, \
                  .col_groups = (c)->o->col_groups, \
                  .center = (c)->o->center,         \
                  .sampled = (c)->o->sampled})

/* Adds what is doubtful about the matrix, which `where` names. Without memory, to.arena->failed is set. */
void ks_check(ks_doubts to, const char *where, const ks_checked *c);

/* The same for two matrices with the same rows: do they share columns? */
void ks_check_two(ks_doubts to, const char *where, const kspec_matrix *a, const kspec_matrix *b);

/*
 * The numbers failed (KSPEC_E_NUMERIC) because of an entry, a row or a column that stands out: adds to the
 * message which, and what to do about it. Returns st, of whatever failure.
 */
kspec_status ks_check_blame(kspec_status st, const ks_checked *c, kspec_error *err);
