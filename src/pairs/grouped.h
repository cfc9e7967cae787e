/*
 * Second-order state of rows that arrive in whole groups. The rows belong to one matrix, or to two matrices
 * side by side. All tuples of rows from different groups have equal weight in an estimate (pairs.h). So a
 * constant added to a column changes no estimate, even if groups differ in size.
 *
 * A group of n rows has a mean m and the products W = sum of (x - m)(x - m)^T. u = m - c is the mean about a
 * centre c. Over pairs (i, j) of rows from two groups a and b, (x_i - x_j)(x_i - x_j)^T / 2 has the mean
 * (W_a/n_a + W_b/n_b + (u_a - u_b)(u_a - u_b)^T) / 2. Products of two such matrices from four groups need
 * sums over groups: O(columns) numbers, and these matrices:
 *
 *     W_k = sum n^k W (k = 0, 1, 2),   E_k = sum n^k u u^T (k = 1, 2),
 *
 * W_0 and E_1 suffice while all groups have one size. Moving the centre and adding two states need no further
 * sums. Without centring, W is the sum of x x^T, u = 0, and W_0 suffices.
 */
#pragma once

#include "base/memory.h"
#include "base/parallel.h"

/*
 * Vectors over the columns. For each of the matrices 0 and 1, t is the trace of W, r = |u|^2, and d is the
 * diagonal of W.
 */
typedef enum {
    KS_G_CENTRE,
    KS_G_LOW, /* centre = KS_G_CENTRE + KS_G_LOW */
    KS_G_P1,  /* sum n u */
    KS_G_P2,  /* sum n^2 u */
    /* two: sum n W u_b, where u_b is u in the columns of matrix b and 0 elsewhere */
    KS_G_U1,
    KS_G_U2 = KS_G_U1 + 2,             /* two: sum n^2 W u_b */
    KS_G_T1 = KS_G_U2 + 2,             /* sum n t u, with t of the column's own matrix */
    KS_G_T2,                           /* sum n^2 t u */
    KS_G_V,                            /* two: sum n^2 r_b u */
    KS_G_OWN = KS_G_V + 2,             /* three: sum n^k d^2, k = 0, 1, 2 */
    KS_G_COLUMN_Z = KS_G_OWN + 3,      /* two: sum n^k d u^2, k = 1, 2 */
    KS_G_COLUMN_U = KS_G_COLUMN_Z + 2, /* two: sum n^k d u */
    KS_G_COLUMN_Q = KS_G_COLUMN_U + 2, /* sum n^2 u^4 */
    KS_G_COLUMN_V,                     /* sum n^2 u^3 */
    KS_G_VECTORS
} ks_grouped_vector;

/* Numbers of the fourth degree, for each block of a matrix with another: 00, 11, 01 */
typedef enum {
    KS_G_W2,               /* nine: sum n^k |W|^2, by block and k = 0, 1, 2 */
    KS_G_TT = KS_G_W2 + 9, /* six: sum n^k t^2, by matrix */
    KS_G_Z = KS_G_TT + 6,  /* six: sum n^k u W u, by block and k = 1, 2 */
    KS_G_TR = KS_G_Z + 6,  /* four: sum n^k t r, by matrix and k = 1, 2 */
    KS_G_Q = KS_G_TR + 4,  /* three: sum n^2 r r, by block */
    KS_G_NUMBERS = KS_G_Q + 3
} ks_grouped_number;

extern const int ks_grouped_first[3], ks_grouped_second[3]; /* matrices of a block */

typedef struct {
    size_t cols[2], all;
    int centered;
    size_t groups, rows;
    double size;         /* the size of every group, or 0 if sizes differ */
    double S[4];         /* sums over groups of n, n^2, n^3, n^4 */
    double moved;        /* the number of rows when the centre last moved to their mean */
    int exponent, known; /* as in ks_stream */
    double number[KS_G_NUMBERS], *vector[KS_G_VECTORS];
    /*
     * Matrices all x all with valid upper triangles. While all groups have one size, W_k = size^k W_0 and E_2
     * = size E_1, so the state stores only W_0 and E_1. Without centring, it stores only W_0
     */
    double *W[3], *E[2];
    ks_arena *arena;
} ks_grouped;

/* The bytes of a state, with groups of one size or of several */
size_t ks_grouped_bytes(const size_t cols[2], int centered, int one_size);

/* Opens an empty state. The arena owns the arrays, and must exist as long as the state. */
kspec_status ks_grouped_open(ks_grouped *g, const size_t cols[2], int centered, ks_arena *arena,
                             kspec_error *err);

/* Allocates the matrices for groups of different sizes, unless all sizes equal `size` (0: sizes differ). */
kspec_status ks_grouped_expand(ks_grouped *g, double size, kspec_error *err);

/* Rows first[k] ... first[k+1]-1 of x (rows x all) are group k. */
typedef struct {
    double *x;
    const size_t *first;
    size_t count;
} ks_group_rows;

/* Adds groups, after ks_grouped_expand() for their sizes. Changes x. A failure changes nothing else. */
kspec_status ks_grouped_add(int threads, ks_grouped *g, const ks_group_rows *rows, kspec_error *err);

/* Adds another state with the same columns. A failure changes nothing. */
kspec_status ks_grouped_merge(int threads, ks_grouped *g, const ks_grouped *other, kspec_error *err);

/* Moves the centre to the mean of all rows. */
kspec_status ks_grouped_centre(int threads, ks_grouped *g, kspec_error *err);

/* Represents W_k or E_k as factor * M */
typedef struct {
    const double *M;
    double factor;
} ks_grouped_matrix;
ks_grouped_matrix ks_grouped_w(const ks_grouped *g, int k);
ks_grouped_matrix ks_grouped_e(const ks_grouped *g, int k);

/* Sets mean to the mean of one group, and subtracts the mean from the rows x, both in units of 2^exponent */
void ks_group_centre(const ks_grouped *g, size_t n, double *x, double *mean);

/* ---- a sample of the groups ---- */

typedef struct {
    double key;
    uint64_t stream, group;
    size_t rows, first; /* the number of rows, and the index of the first row */
} ks_kept_group;

/*
 * The groups with the smallest keys, as many as `capacity` rows can hold together. Keys are random numbers of
 * (seed, stream, group number), so the order in which groups arrive and streams merge does not matter.
 */
typedef struct {
    uint64_t seed;
    size_t capacity, width, count, rows; /* count, rows: how many groups and rows the sample contains */
    /* the sample's groups in order of keys, and the group with the smallest key outside the sample */
    ks_kept_group *kept, limit;
    int limited;
    size_t *next, unused; /* index of a group's next row; first unused index */
    double *data;
} ks_group_sample;

kspec_status ks_group_sample_open(ks_group_sample *s, uint64_t seed, size_t capacity, size_t width,
                                  ks_arena *arena, kspec_error *err);

/* Offers a group of n <= capacity rows; */
void ks_group_sample_offer(ks_group_sample *s, uint64_t stream, uint64_t group, const double *x, size_t n);
void ks_group_sample_merge(ks_group_sample *s, const ks_group_sample *other);

/*
 * Adds a group with this key, whose rows the caller fills. Returns the index of the first row, or SIZE_MAX if
 * the sample does not contain the group.
 */
size_t ks_group_sample_enter(ks_group_sample *s, ks_kept_group k);

/* Copies the rows of a group that is kept. */
void ks_group_sample_rows(const ks_group_sample *s, const ks_kept_group *k, double *to);

/* ---- estimates ---- */

/*
 * Lists as in ks_second for each matrix: from all data, without each group of the sample, without each
 * column. cross: as in ks_cross_add(). whole: <K, L> of the Gram matrices themselves, for each block.
 * columns: for each matrix, the population as in ks_two.
 */
typedef struct {
    double columns[2];
    double *trace[2], *square[2], *moment[2], *cross;
    double whole[3], spread[2]; /* spread: each matrix's sum of squares about the mean */
} ks_grouped_out;

/* Call ks_grouped_centre() first. */
kspec_status ks_grouped_estimates(int threads, const ks_grouped *g, const ks_group_sample *sample,
                                  ks_grouped_out *out, kspec_error *err);
