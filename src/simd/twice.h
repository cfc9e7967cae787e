/* Describes a pair of columns whose entries have twice the digits of a double (base/twice.h). */
#pragma once

#include <stddef.h>

/* The number of rows is a multiple of this. Padding rows are 0. */
enum { KS_TWICE_ROWS = 8 };

/*
 * Two columns of n rows as high and low parts. x and z are the trials of the first column, y and w those of
 * the second. p is x z, and q is y w.
 */
typedef struct {
    size_t n;
    int centered;
    const double *x[2], *z[2], *p[2], *y[2], *w[2], *q[2];
} ks_twice_pair;

/* Sums over rows of products. Only centred data need the sums from XW on, except PQ. */
enum {
    KS_TWICE_XY,
    KS_TWICE_ZW,
    KS_TWICE_PQ,
    KS_TWICE_XW,
    KS_TWICE_YZ,
    KS_TWICE_XYZ,
    KS_TWICE_XYW,
    KS_TWICE_XZW,
    KS_TWICE_YZW,
    KS_TWICE_SUMS
};

/*
 * Let s be the sums of twice_sums(), v the sum of p and v2 the sum of q. Row i contributes to five lists. OWN
 * is s_xy z w + s_zw x y, SECOND is v q + v2 p, and ALL is p q. THIRD is s_xw y z + s_yz x w, and CUBES is
 * s_xyz w + s_xyw z + s_xzw y + s_yzw x. Only centred data have THIRD and CUBES.
 */
enum { KS_TWICE_OWN, KS_TWICE_SECOND, KS_TWICE_ALL, KS_TWICE_THIRD, KS_TWICE_CUBES, KS_TWICE_LISTS };
