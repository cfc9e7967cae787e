/*
 * Second-order sums (pairs/sums.h) of matrices with one trial each, X = Z and Y = W, from lists over rows and
 * columns. The sums need nothing else of the entries, which may be on a GPU.
 */
#pragma once

#include "pairs/sums.h"

typedef struct {
    const ks_two *t;
    /* per row: |x_i|^2, |y_i|^2 and x_i' M y_i with M = X^T Y; and tx.x_i + ty.y_i if centred */
    double *u, *u2, *form, *third;
    /* per row, for columns paired with themselves: sums over columns of x^4, s_xx x^2 and s_xxx x */
    double *fourth, *squares, *cubes;
    /* per column of X: s_xx, the sum of squares of M's row, s_xxx, s_xxxx, and the sum of u2 x^2 */
    double *v, *c, *S3, *S4, *d;
    /* per column of Y, the same without higher powers; NULL if Y is X */
    double *v2, *o, *d2;
} ks_lists;

/* The fraction of pairs of a column with itself to subtract, of all columns, or (less = 1) of all but one */
double ks_lists_own(const ks_two *t, int less);

/* Allocates lists of zeros in the arena; for a whole matrix, the only lists per row are u and form. */
kspec_status ks_lists_open(ks_lists *l, const ks_two *t, ks_arena *arena, kspec_error *err);

/* The same sums as from ks_sums_make() */
kspec_status ks_lists_sums(const ks_lists *l, ks_sums *s, ks_arena *arena, kspec_error *err);

/* Sets the lists on the CPU through X^T Y; with t->scaled, also *scaled (ks_sums.scaled). */
kspec_status ks_lists_on_host(const ks_run *run, const ks_lists *l, ks_quad *scaled, kspec_error *err);

/* Sets the lists on run->device, copying X and Y to it if needed. */
kspec_status ks_lists_on_device(const ks_run *run, const ks_lists *l, kspec_error *err);
