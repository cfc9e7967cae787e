/*
 * Checks the data behind an estimate. It looks for outlying entries, rows and columns, for rows that depend
 * on each other, and for matrices that are not data at all. The findings become doubts of the result.
 *
 * The estimators assume that rows, and columns, are independent draws, and that no draw decides the result
 * alone. All checks together read the data once, and a sample of it a few times: far less work than an
 * estimate.
 */
#pragma once

#include "base/doubt.h"
#include "kspec/moments.h"

typedef struct {
    const kspec_matrix *phi, *raw; /* raw: the data before columns were standardized, or NULL */
    int series;                    /* 1: the caller knows that consecutive rows are neighbours */
    size_t ntrials;
    const size_t *row_trials; /* from kspec_moments_opts; this field and those below may be NULL */
    const uint64_t *row_groups, *col_groups;
    kspec_center center;
    kspec_sampled sampled;
    int threads; /* as in kspec_moments_opts */
} ks_checked;

/* Fills ks_checked from a call that has these data and, in `o`, options with these names */
#define KS_CHECKED(c)                               \
    ((ks_checked){.phi = (c)->phi,                  \
                  .raw = (c)->raw,                  \
                  .series = (c)->o->block != 0,     \
                  .ntrials = (c)->ntrials,          \
                  .row_trials = (c)->o->row_trials, \
                  .row_groups = (c)->o->row_groups, \
                  .col_groups = (c)->o->col_groups, \
                  .center = (c)->o->center,         \
                  .sampled = (c)->o->sampled,       \
                  .threads = (c)->o->threads})

/* Adds the doubts about the matrix, which `where` names. If memory is out, sets to.arena->failed. */
void ks_check(ks_doubts to, const char *where, const ks_checked *c);

/* Adds a doubt if two matrices with the same rows share columns. */
void ks_check_two(ks_doubts to, const char *where, const kspec_matrix *a, const kspec_matrix *b);

/*
 * The exponent a of the tail P(x > t) ~ t^-a of n values, from the largest n/part of them. Sorts x. Returns
 * INFINITY if so few values, or such values, show no tail. Below 1 the mean does not exist.
 */
double ks_tail_exponent(size_t n, size_t part, double *x);

/*
 * Call it when a computation failed (KSPEC_E_NUMERIC) because of an outlying entry, row or column: it adds
 * the position and a remedy to the message. Returns st. Any other failure stays unchanged.
 */
kspec_status ks_check_blame(kspec_status st, const ks_checked *c, kspec_error *err);
