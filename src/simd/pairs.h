/*
 * Estimates m(2) and m(1)^2 from pairs of columns: a column a with each column of a strip of KS_PAIRS_STRIP
 * others. A unit is one row or a group of rows. For each pair, a unit has the sums KS_PAIR_N ... KS_PAIR_E.
 * The loops sum these and their products over units. pairs/pairs.c explains the sums.
 */
#pragma once

#include <stddef.h>

/* clang-format off */
enum {
    KS_PAIR_N, /* rows with both columns */
    KS_PAIR_X, KS_PAIR_Y, KS_PAIR_Z, KS_PAIR_W, KS_PAIR_P, KS_PAIR_R, KS_PAIR_D, KS_PAIR_E,
    KS_PAIR_OWN,
    KS_PAIR_XY = KS_PAIR_OWN, KS_PAIR_ZW, KS_PAIR_XZ, KS_PAIR_YW, KS_PAIR_XW, KS_PAIR_YZ,
    KS_PAIR_PR, KS_PAIR_XR, KS_PAIR_YR, KS_PAIR_ZP, KS_PAIR_WP,
    KS_PAIR_DE, KS_PAIR_XE, KS_PAIR_ZE, KS_PAIR_YD, KS_PAIR_WD,
    KS_PAIR_XYR, KS_PAIR_ZWP, KS_PAIR_XZE, KS_PAIR_YWD,
    KS_PAIR_XYZ, KS_PAIR_XYW, KS_PAIR_XZW, KS_PAIR_YZW, KS_PAIR_XYZW,
    KS_PAIR_SUMS,
    /*
     * Only for `alike`: the sums with the terms multiplied by the unit's number of rows, or, with NN, by its
     * square.
     */
    KS_PAIR_NX = KS_PAIR_SUMS, KS_PAIR_NY, KS_PAIR_NZ, KS_PAIR_NW,
    KS_PAIR_NP, KS_PAIR_NR, KS_PAIR_ND, KS_PAIR_NE,
    KS_PAIR_NNP, KS_PAIR_NNR, KS_PAIR_NND, KS_PAIR_NNE,
    KS_PAIR_NXY, KS_PAIR_NZW, KS_PAIR_NXZ, KS_PAIR_NYW,
    KS_PAIR_NXR, KS_PAIR_NYR, KS_PAIR_NZP, KS_PAIR_NWP, KS_PAIR_NXE, KS_PAIR_NZE, KS_PAIR_NYD, KS_PAIR_NWD,
    KS_PAIR_NXYR, KS_PAIR_NZWP, KS_PAIR_NXZE, KS_PAIR_NYWD,
    KS_PAIR_NPR, KS_PAIR_NDE, KS_PAIR_NNPR, KS_PAIR_NNDE,
    KS_PAIR_ALL
};
/* clang-format on */

enum { KS_PAIRS_STRIP = 32, KS_PAIRS_COUNTS = 5 };

typedef struct {
    /* Unit g consists of the rows first[g] ... first[g+1]-1. If first is NULL, unit g is row g. */
    size_t units;
    const size_t *first;
    /*
     * x and z are column a in both trials. here[i] is 1 if both trials have the entry of row i, and 0
     * otherwise. If `here` is NULL, all entries exist.
     */
    const double *x, *z, *here;
    /*
     * y and w are the strip in both trials, with rows of KS_PAIRS_STRIP entries. `seen` is 1 for each entry
     * that both trials have, or NULL if all entries exist.
     */
    const double *y, *w, *seen;
    int centered;
    /*
     * Only for centred groups, otherwise NULL. The list has five numbers without group 0, five without group
     * 1, and so on, and the last five for all groups. The five numbers are the numbers of ways to take 2, 3
     * and 4 rows from different groups, the number of rows, and the sum of squared group sizes.
     */
    const double *counts;
    /*
     * If alike is 1, data are centred and in groups, and all tuples of four rows count equally. Adding a
     * constant to a column then changes nothing.
     */
    int alike;
} ks_pairs_panel;
