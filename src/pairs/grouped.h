/*
 * Second-order state of rows that arrive in whole groups. The rows belong to one matrix, or to two matrices
 * side by side. All tuples of rows from different groups have equal weight in an estimate (pairs.h). So a
 * constant added to a column changes no estimate, even if groups differ in size.
 *
 * A group of n rows has a mean m and the products W = sum of (x - m)(x - m)^T. The vector u = m - c is the
 * mean about a centre c. Over pairs (i, j) of rows from two groups a and b, (x_i - x_j)(x_i - x_j)^T / 2 has
 * the mean (W_a/n_a + W_b/n_b + (u_a - u_b)(u_a - u_b)^T) / 2. Products of two such matrices from four groups
 * need O(columns) sums over groups, and these matrices:
 *
 *     W_k = sum n^k W (k = 0, 1, 2),   E_k = sum n^k u u^T (k = 1, 2).
 *
 * As long as all groups have the same size, the state needs only W_0 and E_1. The two matrices also suffice
 * for moving the centre and for adding two states. Without centring, W is the sum of x x^T, u is 0, and the
 * state needs only W_0.
 */
#pragma once

#include "base/memory.h"
#include "base/parallel.h"

/*
 * Names the state's vectors over the columns. For each of the matrices 0 and 1, t is the trace of W, r =
 * |u|^2, and d is the diagonal of W. u_b is u in the columns of matrix b, and 0 elsewhere. All sums run over
 * groups. The centre is CENTRE + LOW. P1 and P2 are the sums of n u and n^2 u. U1 and U2 are the sums of n W
 * u_b and n^2 W u_b, one vector for each b. T1 and T2 are the sums of n t u and n^2 t u, where t belongs to
 * the column's own matrix. V is the sum of n^2 r_b u, one vector for each b. The three vectors OWN are the
 * sums of n^k d^2 for k = 0, 1, 2. For k = 1, 2, COLUMN_Z are the sums of n^k d u^2, and COLUMN_U the sums of
 * n^k d u. COLUMN_Q is the sum of n^2 u^4, and COLUMN_V the sum of n^2 u^3.
 */
typedef enum {
    KS_G_CENTRE,
    KS_G_LOW,
    KS_G_P1,
    KS_G_P2,
    KS_G_U1,
    KS_G_U2 = KS_G_U1 + 2,
    KS_G_T1 = KS_G_U2 + 2,
    KS_G_T2,
    KS_G_V,
    KS_G_OWN = KS_G_V + 2,
    KS_G_COLUMN_Z = KS_G_OWN + 3,
    KS_G_COLUMN_U = KS_G_COLUMN_Z + 2,
    KS_G_COLUMN_Q = KS_G_COLUMN_U + 2,
    KS_G_COLUMN_V,
    KS_G_VECTORS
} ks_grouped_vector;

/*
 * Names the state's numbers, which are sums over groups of the fourth degree in the entries. The blocks of
 * one matrix with another are 00, 11 and 01. W2 is the sum of n^k |W|^2 for each block and k = 0, 1, 2. TT is
 * the sum of n^k t^2 for each matrix and k = 0, 1, 2. Z is the sum of n^k u W u for each block and k = 1, 2.
 * TR is the sum of n^k t r for each matrix and k = 1, 2. Q is the sum of n^2 r r for each block.
 */
typedef enum {
    KS_G_W2,
    KS_G_TT = KS_G_W2 + 9,
    KS_G_Z = KS_G_TT + 6,
    KS_G_TR = KS_G_Z + 6,
    KS_G_Q = KS_G_TR + 4,
    KS_G_NUMBERS = KS_G_Q + 3
} ks_grouped_number;

/* Block w pairs the matrices ks_grouped_first[w] and ks_grouped_second[w]. */
extern const int ks_grouped_first[3], ks_grouped_second[3];

typedef struct {
    size_t cols[2], all;
    int centered;
    size_t groups, rows;
    double size;         /* 0: sizes differ */
    double S[4];         /* S[k-1] is the sum of n^k over groups. */
    double moved;        /* The number of rows when the centre last moved to their mean. */
    int exponent, known; /* see ks_stream */
    double number[KS_G_NUMBERS], *vector[KS_G_VECTORS];
    /*
     * W[k] and E[k-1] have `all` rows and columns and valid upper triangles. As long as all groups have the
     * same size, W_k = size^k W_0 and E_2 = size E_1, so the state stores only W_0 and E_1. Without centring,
     * the state stores only W_0.
     */
    double *W[3], *E[2];
    ks_arena *arena;
} ks_grouped;

/* Returns the bytes of a state whose groups have one size or several sizes. */
size_t ks_grouped_bytes(const size_t cols[2], int centered, int one_size);

/* Opens an empty state. The arena owns the arrays, and must exist as long as the state. */
kspec_status ks_grouped_open(ks_grouped *g, const size_t cols[2], int centered, ks_arena *arena,
                             kspec_error *err);

/* Allocates the matrices for groups of different sizes, unless all sizes equal `size` (0: sizes differ). */
kspec_status ks_grouped_expand(ks_grouped *g, double size, kspec_error *err);

/* Describes a list of groups. Group k consists of the rows first[k] ... first[k+1]-1 of x. */
typedef struct {
    double *x;
    const size_t *first;
    size_t count;
} ks_group_rows;

/*
 * Adds groups to the state, after a call of ks_grouped_expand() for their sizes. The function overwrites the
 * rows x. A failure changes nothing else.
 */
kspec_status ks_grouped_add(int threads, ks_grouped *g, const ks_group_rows *rows, kspec_error *err);

/* Adds another state with the same columns. After a failure, g is unchanged. */
kspec_status ks_grouped_merge(int threads, ks_grouped *g, const ks_grouped *other, kspec_error *err);

/* Moves the centre to the mean of all rows. */
kspec_status ks_grouped_centre(int threads, ks_grouped *g, kspec_error *err);

/* Represents the matrix W_k or E_k as factor * M. */
typedef struct {
    const double *M;
    double factor;
} ks_grouped_matrix;
ks_grouped_matrix ks_grouped_w(const ks_grouped *g, int k);
ks_grouped_matrix ks_grouped_e(const ks_grouped *g, int k);

/*
 * Sets mean to the mean of one group of n rows, and subtracts the mean from the rows x. Both results are in
 * units of 2^exponent.
 */
void ks_group_centre(const ks_grouped *g, size_t n, double *x, double *mean);

/* ---- sample ---- */

typedef struct {
    double key;
    uint64_t stream, group;
    size_t rows, first;
} ks_kept_group;

/*
 * A sample of the groups with the smallest keys, as many as `capacity` rows can hold together. Keys are
 * random numbers of (seed, stream, group number). So the sample does not depend on the order in which groups
 * arrive and streams merge.
 */
typedef struct {
    uint64_t seed;
    size_t capacity, width, count, rows;
    /*
     * kept lists the sample's groups in order of keys. limit is the group with the smallest key outside the
     * sample.
     */
    ks_kept_group *kept, limit;
    int limited;
    /* next[i] is the row that follows row i in its group. unused is the first unused row. */
    size_t *next, unused;
    double *data;
} ks_group_sample;

kspec_status ks_group_sample_open(ks_group_sample *s, uint64_t seed, size_t capacity, size_t width,
                                  ks_arena *arena, kspec_error *err);

/* Offers a group of n <= capacity rows to the sample. */
void ks_group_sample_offer(ks_group_sample *s, uint64_t stream, uint64_t group, const double *x, size_t n);
void ks_group_sample_merge(ks_group_sample *s, const ks_group_sample *other);

/*
 * Adds a group whose rows the caller fills. Returns the index of the first row, or SIZE_MAX if the key is too
 * large for the sample.
 */
size_t ks_group_sample_enter(ks_group_sample *s, ks_kept_group k);

/* Copies the rows of a group in the sample. */
void ks_group_sample_rows(const ks_group_sample *s, const ks_kept_group *k, double *to);

/* ---- estimates ---- */

/*
 * The estimates of one or two matrices. trace, square and moment are lists as in ks_second: from all data,
 * without each group of the sample, and without each column. ks_cross_add() explains the list cross. whole[w]
 * is the product <K, L> of the Gram matrices of block w. columns[a] is the population of matrix a's columns
 * (ks_two).
 */
typedef struct {
    double columns[2];
    double *trace[2], *square[2], *moment[2], *cross;
    double whole[3], spread[2]; /* spread[a] is the sum of squares of matrix a about the mean. */
} ks_grouped_out;

/* Computes the estimates from the state and the sample. The caller must call ks_grouped_centre() first. */
kspec_status ks_grouped_estimates(int threads, const ks_grouped *g, const ks_group_sample *sample,
                                  ks_grouped_out *out, kspec_error *err);
