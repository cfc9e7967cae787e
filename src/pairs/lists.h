/*
 * Computes second-order sums (pairs/sums.h) of matrices with one trial each from lists over rows and columns.
 * With one trial, X = Z and Y = W. Only the lists depend on the entries, so the entries may be on a GPU.
 */
#pragma once

#include "pairs/sums.h"

typedef struct {
    const ks_two *t;
    /*
     * Lists over rows, with M = X^T Y: u is |x_i|^2, u2 is |y_i|^2, and form is x_i' M y_i. For centred data,
     * third is tx.x_i + ty.y_i.
     */
    double *u, *u2, *form, *third;
    /*
     * fourth, squares and cubes are the sums over columns of x^4, s_xx x^2 and s_xxx x for each row. These
     * sums describe pairs of a column with itself.
     */
    double *fourth, *squares, *cubes;
    /*
     * Lists over the columns of X: v is s_xx, c is the sum of squares of M's row, S3 is s_xxx, S4 is s_xxxx,
     * and d is the sum of u2 x^2.
     */
    double *v, *c, *S3, *S4, *d;
    /*
     * Lists over the columns of Y: v2 is s_yy, o is the sum of squares of M's column, and d2 is the sum of u
     * y^2. NULL if Y is X.
     */
    double *v2, *o, *d2;
} ks_lists;

/*
 * Returns the fraction of the pairs of a column with itself that must be subtracted. less is 0 for all
 * columns, and 1 for all but one.
 */
double ks_lists_own(const ks_two *t, int less);

/*
 * Allocates lists of zeros in the arena. If the caller needs no leave-one-out values, the only lists over
 * rows are u and form.
 */
kspec_status ks_lists_open(ks_lists *l, const ks_two *t, ks_arena *arena, kspec_error *err);

/* Computes the results of ks_sums_make() from the lists. */
kspec_status ks_lists_sums(const ks_lists *l, ks_sums *s, ks_arena *arena, kspec_error *err);

/*
 * Computes the lists on the CPU through X^T Y. If t->scaled is set, also computes *scaled (ks_sums.scaled).
 */
kspec_status ks_lists_on_host(const ks_run *run, const ks_lists *l, ks_quad *scaled, kspec_error *err);

/* Computes the lists on run->device, after copying X and Y to the device if needed. */
kspec_status ks_lists_on_device(const ks_run *run, const ks_lists *l, kspec_error *err);
