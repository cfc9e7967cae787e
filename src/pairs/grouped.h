/*
 * Second-order state of rows that arrive in whole groups, for one matrix, or for two with the same rows side
 * by side. Estimates take all tuples of rows from different groups alike (pairs.h), which makes them
 * independent of a constant added to a column, even if groups differ in size.
 *
 * A group of n rows has a mean m and the products W = sum of (x - m)(x - m)^T; u = m - c is its mean about a
 * centre c. Over pairs (i, j) of rows from two groups a and b, (x_i - x_j)(x_i - x_j)^T / 2 has the mean
 * (W_a/n_a + W_b/n_b + (u_a - u_b)(u_a - u_b)^T) / 2. Products of two such matrices from four groups need
 * sums over groups that take O(columns) numbers, and only these matrices:
 *
 *     W_k = sum n^k W (k = 0, 1, 2),   E_k = sum n^k u u^T (k = 1, 2),
 *
 * of which W_0 and E_1 suffice while all groups have one size. The sums form a closed set: moving the centre
 * and adding two states needs no others. Without centring, W is the sum of x x^T, u = 0, and W_0 suffices.
 */
#pragma once

#include "base/memory.h"
#include "base/parallel.h"

/* Vectors over the columns. t: trace of W; r: |u|^2; d: diagonal of W; of the matrices 0 and 1 */
typedef enum {
    KS_G_CENTRE,
    KS_G_LOW,                          /* the centre is the sum of both */
    KS_G_P1,                           /* sum n u */
    KS_G_P2,                           /* sum n^2 u */
    KS_G_U1,                           /* two: sum n W u_b, u_b being u in the columns of matrix b alone */
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

extern const int ks_grouped_first[3], ks_grouped_second[3]; /* the two matrices of a block */

typedef struct {
    size_t cols[2], all;
    int centered;
    size_t groups, rows;
    double size;         /* of every group; 0 once sizes differ */
    double S[4];         /* sums over groups of n, n^2, n^3, n^4 */
    double moved;        /* the number of rows when the centre last moved to their mean */
    int exponent, known; /* as in ks_stream */
    double number[KS_G_NUMBERS], *vector[KS_G_VECTORS];
    /*
     * all x all, of which the upper triangle counts. While all groups have one size, and without centring,
     * only those that differ exist: W_k = size^k W_0, E_2 = size E_1
     */
    double *W[3], *E[2];
    ks_arena *arena;
} ks_grouped;

/* The bytes of a state, with groups of one size or of several */
size_t ks_grouped_bytes(const size_t cols[2], int centered, int one_size);

/* An empty state; the arena, which must outlive it, holds its arrays. */
kspec_status ks_grouped_open(ks_grouped *g, const size_t cols[2], int centered, ks_arena *arena,
                             kspec_error *err);

/* Makes the matrices for groups of different sizes, unless all sizes equal `size` (0: they differ). */
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

/* The matrix W_k or E_k, and the factor that it is to be multiplied by */
typedef struct {
    const double *M;
    double factor;
} ks_grouped_matrix;
ks_grouped_matrix ks_grouped_w(const ks_grouped *g, int k);
ks_grouped_matrix ks_grouped_e(const ks_grouped *g, int k);

/* The means of one group, and its rows about their mean, both in units of 2^exponent */
void ks_group_centre(const ks_grouped *g, size_t n, double *x, double *mean);

/* ---- a sample of the groups ---- */

typedef struct {
    double key;
    uint64_t stream, group;
    size_t rows, first; /* the number of the group's rows, and the place of its first one */
} ks_kept_group;

/*
 * The groups with the smallest keys, as many as `capacity` rows can hold together. Keys are random numbers of
 * (seed, stream, group number), so the order in which groups arrive and streams merge does not matter.
 */
typedef struct {
    uint64_t seed;
    size_t capacity, width, count, rows; /* groups and rows held */
    ks_kept_group *kept, limit;          /* in order of keys; the smallest one that was left out */
    int limited;
    size_t *next, unused; /* the place of a group's next row; the first unused place */
    double *data;
} ks_group_sample;

kspec_status ks_group_sample_open(ks_group_sample *s, uint64_t seed, size_t capacity, size_t width,
                                  ks_arena *arena, kspec_error *err);

/* Offers a group of n <= capacity rows; */
void ks_group_sample_offer(ks_group_sample *s, uint64_t stream, uint64_t group, const double *x, size_t n);
void ks_group_sample_merge(ks_group_sample *s, const ks_group_sample *other);

/* Enters a group with this key, whose rows the caller fills; its first place, or SIZE_MAX: it is left out. */
size_t ks_group_sample_enter(ks_group_sample *s, ks_kept_group k);

/* Copies the rows of a group that is kept. */
void ks_group_sample_rows(const ks_group_sample *s, const ks_kept_group *k, double *to);

/* ---- estimates ---- */

/*
 * Lists as in ks_second, of each matrix: from all data, without each group of the sample, without each
 * column. cross: as in ks_cross_add(). whole: <K, L> of the Gram matrices themselves, by block.
 * columns: by matrix, the population as in ks_two.
 */
typedef struct {
    double columns[2];
    double *trace[2], *square[2], *moment[2], *cross;
    double whole[3], spread[2]; /* spread: the sum of squares about the mean, by matrix */
} ks_grouped_out;

/* Call ks_grouped_centre() first. */
kspec_status ks_grouped_estimates(int threads, const ks_grouped *g, const ks_group_sample *sample,
                                  ks_grouped_out *out, kspec_error *err);
