/* A pair of columns in twice the digits (base/twice.h). */
#pragma once

#include <stddef.h>

/* Row counts are multiples of this; the padding rows are 0. */
enum { KS_TWICE_ROWS = 8 };

/* Columns as high and low parts, n rows: x and z of the first, y and w of the second, p = x z, q = y w */
typedef struct {
    size_t n;
    int centered;
    const double *x[2], *z[2], *p[2], *y[2], *w[2], *q[2];
} ks_twice_pair;

/* Sums over rows of products; the sums from XW on (except PQ) only if centred */
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

/* With s the sums above, v the sum of p and v2 the sum of q, row i contributes: */
enum {
    KS_TWICE_OWN,    /* s_xy z w + s_zw x y */
    KS_TWICE_SECOND, /* v q + v2 p */
    KS_TWICE_ALL,    /* p q */
    KS_TWICE_THIRD,  /* s_xw y z + s_yz x w, only if centred */
    KS_TWICE_CUBES,  /* s_xyz w + s_xyw z + s_xzw y + s_yzw x, only if centred */
    KS_TWICE_LISTS
};
