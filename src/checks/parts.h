/* The shared data of the checks: sums from one pass over the data, and a sample of rows and columns. */
#pragma once

#include "base/memory.h"
#include "checks/check.h"

/* Sums over all trials, of entries x minus the centre c of their column (0 without centring) */
typedef struct {
    size_t P, Q;
    double scale;      /* the sums contain (x - c) scale, so that squares stay finite */
    double *row, *col; /* the sums of squares of each row, of each column, and of all entries */
    double all;
    /*
     * a projection of each row and of each column of the first trial; equal rows have bitwise equal
     * projections
     */
    double *row_image, *col_image;
    double *center; /* of each column of the first trial */
    int marked;     /* 1 if an entry equals a usual mark of missing values */
} ks_scan;

/* Allocates everything in the arena; the caller checks arena->failed. */
void ks_scan_make(const ks_checked *c, ks_scan *s, ks_arena *arena);

/* The centres of n columns of a trial, the medians of some rows; cols: their numbers, NULL for 0 ... n - 1 */
void ks_scan_centers(const ks_checked *c, size_t trial, size_t n, const size_t *cols, double *center);

/* Returns 1 if the trial has row i. */
static inline int ks_is_seen(const ks_checked *c, size_t trial, size_t i) {
    return !c->row_trials || trial < c->row_trials[i];
}

/* Outlying entries, rows and columns, and marks of missing values */
void ks_check_wild(ks_doubts to, const char *where, const ks_checked *c, const ks_scan *s);

/* Columns whose sums of squares have such a long tail that a sample of columns does not determine the mean */
void ks_check_tail(ks_doubts to, const char *where, const ks_checked *c, const ks_scan *s, ks_arena *arena);

/* Finds equal rows, or equal columns. Returns how many rows equal an earlier row. */
size_t ks_check_repeated(ks_doubts to, const char *where, const ks_checked *c, const ks_scan *s, int columns,
                         ks_arena *arena);

/* Rows that are like their neighbours, or nearly copies of others; the second check runs unless `repeated` */
void ks_check_dependent(ks_doubts to, const char *where, const ks_checked *c, const ks_scan *s, int repeated,
                        ks_arena *arena);

/* Correlations, distances, products; trials that are copies */
void ks_check_kind(ks_doubts to, const char *where, const ks_checked *c);
