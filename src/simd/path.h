/*
 * Runs the recursion of the path estimator for VL start rows at once. Lane l of every vector belongs to start
 * row h0 + l, so the code never sums across lanes. A cell is a band of rows and a tile of columns. Each
 * column has sums A[1..nmax], and each row has sums R[1..nmax-1]. Passing through the cell updates them:
 *
 *    for each row a, for each column b:
 *        for n = nmax ... 2:  old = A[n];  A[n] += R[n-1] x[a,b];  R[n] += old y[a,b]   (but for R[nmax])
 *        R[1] += A[1] y[a,b]
 *
 * A[n] of a column is stored at A + n-1, and R[n] of a row at R + n-1. A[n] and R[n] are vectors of VL
 * doubles. Every division of rows and columns into cells gives the same bits.
 */
#pragma once

#include <stddef.h>

/* A cell has at most KS_PATH_COLS columns, and so few that their sums stay in the first-level cache. */
enum { KS_PATH_COLS = 128, KS_PATH_L1 = 24 * 1024 };

typedef struct {
    const double *x, *y; /* The entries of the first row and column. With one trial, y is x. */
    size_t ld;           /* row distance in doubles */
    size_t rows, cols;
    int dir;      /* The walk goes to later rows and columns (1) or to earlier ones (-1). */
    int nmax;     /* at least 2 */
    double scale; /* Every entry is multiplied by this power of two. */
    double *A;    /* The sums of the first column. The sums of the next column follow at nmax * VL. */
    double *R;    /* The sums of the first row. The sums of the next row follow at (nmax-1) * VL. */
} ks_path_cell;

/*
 * A cell walked forward (dir = 1) that also sums the cycles through each column and row. C[j] of a column and
 * T[j] of a row are sums over the rest of the cycle, for j = 0 ... nmax-2. C and T have the layout of A and
 * R. A sweep with x and y exchanged and dir = -1 computes C and T first. The forward walk undoes that sweep
 * step by step. The walk adds up the cycles through each column in V[N], N = 1 ... nmax, and through each row
 * in W[N], N = 2 ... nmax. V has the layout of A, and W that of R.
 *
 *    for each row a, for each column b:
 *        for j = 0 ... nmax-2:  T[j] -= x[a,b] C[j];  C[j+1] -= y[a,b] T[j]
 *        for N = 2 ... nmax:    v = y[a,b] sum_{k+j=N-1} A[k] T[j];  V[N] += v;  W[N] += v
 *        A and R as above
 */
typedef struct {
    ks_path_cell cell;
    double *C, *V; /* first column */
    double *T, *W; /* first row */
} ks_path_loo_cell;

/*
 * Describes one row that passes through some columns, for rows or columns in groups. A cycle contains at most
 * one member of each group. All rows of a group read `old`, the sums before the group, and add to A. All
 * columns of a group read the R before the group. So for each column b, in the order of the walk,
 *
 *    for n = nmax ... 2:  A[n] += R[n-1] x[b];  S[n] += old[n] y[b]   (but for S[nmax])
 *    S[1] += old[1] y[b]
 *    where a group ends:  R = S
 *
 * S starts as a copy of R. The last column ends a group, so R and S are also equal at the end. If a group has
 * one row, old is A. If prefix is given, the walk is the backward one (x and y exchanged, dir = -1), and old
 * and R are the sums over the rest of a cycle. The walk first adds up the cycles through the row and the
 * columns:
 *
 *    for N = 2 ... nmax:  v = x[b] sum_{k+j=N-1} prefix[k] R[j];  V[N] += v;  W[N] += v
 */
typedef struct {
    const double *x, *y; /* first column */
    /*
     * ends[b] is 1 if column b is the last of its group in the order of the walk. ends has the layout of x.
     */
    const unsigned char *ends;
    size_t cols;
    int dir, nmax; /* see ks_path_cell */
    double scale;
    /*
     * old contains the sums of the first column before the group. old, prefix and V have the layout of A in
     * ks_path_cell.
     */
    const double *old;
    /* A belongs to the first column, and R to the row. S is scratch of nmax-1 vectors. */
    double *A, *R, *S;
    const double *prefix; /* or NULL */
    double *V, *W;
} ks_path_group_row;
