/*
 * Estimates of second order from pairs of columns (moments/pairs.c says what the sums mean): a column a with a
 * strip of KS_PAIRS_STRIP others. A unit, one row or a group of rows, has the means KS_PAIR_N ... KS_PAIR_E of
 * each pair; the sums over units are those of these means and of their products.
 */
#ifndef KS_SIMD_PAIRS_H
#define KS_SIMD_PAIRS_H

#include <stddef.h>

/* clang-format off */
enum {
    KS_PAIR_N, /* 1, where both columns are seen */
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

typedef double ks_pairs_own[KS_PAIR_OWN][KS_PAIRS_STRIP];
typedef double ks_pairs_sums[KS_PAIR_SUMS][KS_PAIRS_STRIP];

/* One row: its entries in column a of both trials, times f where seen, and in the strip */
typedef struct {
    double x, z;
    /* f where the row is seen in column a, otherwise 0 */
    double f;
    const double *y, *w;
    /* 1 where the strip is seen in either trial; or NULL */
    const double *seen_y, *seen_w;
} ks_pairs_row;

/* What the pairs of a strip add up to: estimates times weights, and the weights */
typedef struct {
    double moment, square, weight;
} ks_pairs_total;

#endif
