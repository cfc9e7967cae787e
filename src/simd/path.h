/*
 * The recursion behind the `path` estimator, for VL start rows at once (lane l of every vector is start row
 * h0 + l, so nothing is ever summed across lanes). A cell is a band of rows and a tile of columns; a column
 * brings in the sums A[1..nmax], a row the sums R[1..nmax-1], and passing through the cell means
 *
 *     for each row a, for each column b:
 *         for n = nmax ... 2:  old = A[n];  A[n] += R[n-1] x[a,b];  R[n] += old y[a,b]   (but for R[nmax])
 *         R[1] += A[1] y[a,b]
 *
 * A[n] of a column stands at A + n-1, R[n] of a row at R + n-1, each VL doubles. The same bits come out
 * however rows and columns are cut into cells.
 */
#pragma once

#include <stddef.h>

/* Columns per cell: at most KS_PATH_COLS, and few enough for their sums to stay in the first-level cache. */
enum { KS_PATH_COLS = 128, KS_PATH_L1 = 24 * 1024 };

typedef struct {
    const double *x, *y; /* the entries at the first row and column; y = x with one trial */
    size_t ld;           /* doubles from one row of x and y to the next */
    size_t rows, cols;
    int dir;      /* +1: to later rows and columns; -1: to earlier ones, everywhere below too */
    int nmax;     /* at least 2 */
    double scale; /* multiplies every entry; a power of two */
    double *A;    /* of the first column; the next is nmax * VL further on */
    double *R;    /* of the first row; the next is (nmax-1) * VL further on */
} ks_path_cell;

/*
 * The same cell walked forward (dir = +1) with the sums over the rest of the cycle: C[j] of a column, T[j] of
 * a row (j = 0 ... nmax-2; records as long as those of A and R). A sweep with x and y exchanged and dir = -1
 * has left them; the walk undoes it step by step, and adds up the cycles through each column (V[N], N = 1 ...
 * nmax, records as A) and through each row (W[N], N = 2 ... nmax, records as R):
 *
 *     for each row a, for each column b:
 *         for j = 0 ... nmax-2:  T[j] -= x[a,b] C[j];  C[j+1] -= y[a,b] T[j]
 *         for N = 2 ... nmax:    v = y[a,b] sum_{k+j=N-1} A[k] T[j];  V[N] += v;  W[N] += v
 *         A and R as above
 */
typedef struct {
    ks_path_cell cell;
    double *C, *V; /* of the first column */
    double *T, *W; /* of the first row */
} ks_path_loo_cell;

/*
 * One row through some columns, where rows or columns come in groups of which a cycle takes one member. The
 * rows of a group all read the sums `old` of before the group and add to A; the columns of a group all read R
 * of before it, so that for each column b, in the order of the walk,
 *
 *     for n = nmax ... 2:  A[n] += R[n-1] x[b];  S[n] += old[n] y[b]   (but for S[nmax])
 *     S[1] += old[1] y[b]
 *     where a group ends:  R = S
 *
 * R = S at the start and, since the columns end with a group, at the end. A row that is a group of its own
 * has old = A. Where prefix is given, the walk is the one back (x and y exchanged, dir = -1), old and R are
 * the sums over the rest of a cycle, and the cycles through the row and the columns are added up first:
 *
 *     for N = 2 ... nmax:  v = x[b] sum_{k+j=N-1} prefix[k] R[j];  V[N] += v;  W[N] += v
 */
typedef struct {
    const double *x, *y;       /* at the first column */
    const unsigned char *ends; /* 1 at the last column of a group, in the order of the walk; as x */
    size_t cols;
    int dir, nmax; /* as in ks_path_cell */
    double scale;
    const double *old;    /* of the first column; records as those of A in ks_path_cell, like prefix and V */
    double *A, *R, *S;    /* of the first column; of the row; nmax-1 vectors of scratch */
    const double *prefix; /* or NULL */
    double *V, *W;
} ks_path_group_row;
