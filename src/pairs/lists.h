/*
 * The sums of second order (pairs/sums.h) of one trial of each matrix, X = Z and Y = W, from lists over rows
 * and columns: nothing else is needed of the entries, which may be on a GPU.
 */
#pragma once

#include "pairs/sums.h"

typedef struct {
    const ks_two *t;
    /* per row: |x_i|^2, |y_i|^2 and x_i' M y_i with M = X^T Y; and tx.x_i + ty.y_i where centred */
    double *u, *u2, *form, *third;
    /* per row, where a column is paired with itself: sums over columns of x^4, s_xx x^2 and s_xxx x */
    double *fourth, *squares, *cubes;
    /* per column of X: s_xx, the sum of squares of M's row, s_xxx, s_xxxx, and the sum of u2 x^2 */
    double *v, *c, *S3, *S4, *d;
    /* per column of Y, the same but for powers; NULL where Y is X */
    double *v2, *o, *d2;
} ks_lists;

/* How much of a column with itself is taken off: of all columns, or of all but one */
double ks_lists_own(const ks_two *t, int less);

/* Lists of zeros in the arena; of a whole matrix, those per row are u and form alone */
kspec_status ks_lists_open(ks_lists *l, const ks_two *t, ks_arena *arena, kspec_error *err);

/* The sums, as ks_sums_make() has them */
kspec_status ks_lists_sums(const ks_lists *l, ks_sums *s, ks_arena *arena, kspec_error *err);

/* Sets the lists on run->device, where X and Y are or are brought. */
kspec_status ks_lists_on_device(const ks_run *run, const ks_lists *l, kspec_error *err);
