/*
 * Second-order sums (pairs/sums.h) of matrices with one trial each, X = Z and Y = W, from lists over rows and
 * columns. The sums use the entries only through these lists, so the entries may be on a GPU.
 */
#pragma once

#include "pairs/sums.h"

typedef struct {
    const ks_two *t;
    /* for each row: |x_i|^2, |y_i|^2, x_i' M y_i with M = X^T Y, and for centred data tx.x_i + ty.y_i */
    double *u, *u2, *form, *third;
    /* for each row the sums over columns of x^4, s_xx x^2 and s_xxx x, for pairs of a column with itself */
    double *fourth, *squares, *cubes;
    /* for each column of X: s_xx, the sum of squares of M's row, s_xxx, s_xxxx, and the sum of u2 x^2 */
    double *v, *c, *S3, *S4, *d;
    /* for each column of Y: s_yy, the sum of squares of M's column, and the sum of u y^2; NULL if Y is X */
    double *v2, *o, *d2;
} ks_lists;

/*
 * The fraction to subtract of the pairs of a column with itself. less: 0 for all columns, 1 for all but one
 */
double ks_lists_own(const ks_two *t, int less);

/* Allocates lists of zeros in the arena. For a whole matrix, the only lists over rows are u and form. */
kspec_status ks_lists_open(ks_lists *l, const ks_two *t, ks_arena *arena, kspec_error *err);

/* Computes the sums of ks_sums_make() from the lists */
kspec_status ks_lists_sums(const ks_lists *l, ks_sums *s, ks_arena *arena, kspec_error *err);

/* Sets the lists on the CPU through X^T Y; with t->scaled, also *scaled (ks_sums.scaled). */
kspec_status ks_lists_on_host(const ks_run *run, const ks_lists *l, ks_quad *scaled, kspec_error *err);

/* Computes the lists on run->device, after copying X and Y to the device if needed. */
kspec_status ks_lists_on_device(const ks_run *run, const ks_lists *l, kspec_error *err);
