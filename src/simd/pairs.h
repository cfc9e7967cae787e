/*
 * Estimates of second order from pairs of columns (pairs/pairs.c says what the sums mean): a column a
 * with a strip of KS_PAIRS_STRIP others. A unit, one row or a group of rows, has the sums KS_PAIR_N ...
 * KS_PAIR_E of each pair; what is summed over units are these and their products.
 */
#pragma once

#include <stddef.h>

/* clang-format off */
enum {
    KS_PAIR_N, /* rows, where both columns are seen */
    KS_PAIR_X, KS_PAIR_Y, KS_PAIR_Z, KS_PAIR_W, KS_PAIR_P, KS_PAIR_R, KS_PAIR_D, KS_PAIR_E,
    KS_PAIR_OWN,
    KS_PAIR_XY = KS_PAIR_OWN, KS_PAIR_ZW, KS_PAIR_XZ, KS_PAIR_YW, KS_PAIR_XW, KS_PAIR_YZ,
    KS_PAIR_PR, KS_PAIR_XR, KS_PAIR_YR, KS_PAIR_ZP, KS_PAIR_WP,
    KS_PAIR_DE, KS_PAIR_XE, KS_PAIR_ZE, KS_PAIR_YD, KS_PAIR_WD,
    KS_PAIR_XYR, KS_PAIR_ZWP, KS_PAIR_XZE, KS_PAIR_YWD,
    KS_PAIR_XYZ, KS_PAIR_XYW, KS_PAIR_XZW, KS_PAIR_YZW, KS_PAIR_XYZW,
    KS_PAIR_SUMS
};
/* clang-format on */

enum { KS_PAIRS_STRIP = 32 };

typedef struct {
    /* unit g is rows first[g] ... first[g+1]-1; NULL: row g */
    size_t units;
    const size_t *first;
    /* of each row, column a in both trials, and 1 where it is seen in both, else 0 (NULL: everywhere) */
    const double *x, *z, *here;
    /*
     * the strip in both trials, as rows of KS_PAIRS_STRIP; and 1 where it is seen in both (NULL:
     * everywhere)
     */
    const double *y, *w, *seen;
    int centered;
    /*
     * centred groups: in how many ways 2, 3 and 4 rows can be taken from different groups, without each group
     * in turn and, last, of all; NULL: units are rows
     */
    const double *counts;
} ks_pairs_panel;
