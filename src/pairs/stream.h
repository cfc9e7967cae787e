/*
 * Computes second-order sums of rows that arrive once. The rows belong to one matrix, or to two matrices side
 * by side. The state contains the number of rows, the mean of each column, and sums about that mean. Let y be
 * a centred row, y_0 and y_1 the parts of y in the two matrices, and r_a = |y_a|^2. The sums are
 *
 *     G = sum y y^T,  S3 = sum y^3 and S4 = sum y^4 per column,  N2_a = sum r_a,  N4_ab = sum r_a r_b,
 *     V_a = sum r_a y.
 *
 * Merging moves both states to the mean of all rows. Merging never subtracts large numbers, even if the means
 * are large. The state determines the sums of sums.h. The state and a sample of the rows also determine the
 * sums without a row.
 */
#pragma once

#include "base/memory.h"
#include "base/parallel.h"
#include "pairs/sums.h"

typedef struct {
    /* cols[1] is 0 if there is only one matrix. `all` is the number of columns of both. */
    size_t cols[2], all;
    size_t n;
    /* The sums use entries / 2^exponent. known becomes 1 when an entry other than 0 arrives. */
    int exponent, known;
    double N2[2], N4[3];
    /*
     * Each vector has `all` numbers, and the mean is mean + low. G has `all` rows and columns, and only its
     * upper triangle counts.
     */
    double *mean, *low, *S3, *S4, *V[2], *G;
} ks_stream;

/*
 * Returns the total length of the arrays, which follow each other in memory from `mean` on. Returns SIZE_MAX
 * if the length overflows.
 */
size_t ks_stream_numbers(const size_t cols[2]);

/* Opens an empty state whose arrays the arena owns. */
kspec_status ks_stream_open(ks_stream *s, const size_t cols[2], ks_arena *arena, kspec_error *err);

/*
 * Contains the state of a part of the rows, with sums about the mean of this part. The part stores only the
 * diagonal of G. A move of the centre by d also needs g[a] = G d_a, where d_a is d in the columns of matrix a
 * and 0 elsewhere.
 */
typedef struct {
    double n, N2[2], N4[3], *S3, *S4, *V[2], *diagonal, *g[2];
} ks_stream_part;
kspec_status ks_stream_part_open(ks_stream_part *p, size_t all, ks_arena *arena, kspec_error *err);

/* Copies the state except G to p, in units of 2^exponent, and sets g to 0. */
void ks_stream_part_set(ks_stream_part *p, const ks_stream *s, int exponent);

/* Makes p a part of n rows whose sums are all 0. */
void ks_stream_part_clear(ks_stream_part *p, size_t all, size_t n);

/*
 * Combines both parts about their common mean, and stores the sums except G in s. d is the mean of q minus
 * the mean of p.
 */
void ks_stream_join(ks_stream *s, ks_stream_part *p, ks_stream_part *q, const double *d);

/* Copies G's upper triangle to the lower one. */
void ks_stream_mirror(const ks_stream *s);

/*
 * Contains the scratch for batches of at most a given number of rows. The functions that use it cannot fail.
 */
typedef struct {
    ks_stream_part part[2];
    double *vectors, *rows, *partial;
} ks_stream_room;
kspec_status ks_stream_room_open(ks_stream_room *room, size_t all, size_t rows, ks_arena *arena,
                                 kspec_error *err);

/*
 * Sets *unit to a new unit 2^unit of the sums if these `count` numbers need one, and then returns 1. The
 * first numbers set the unit, until much larger numbers arrive. If known is 0, the sums have no unit yet.
 */
int ks_stream_unit(const double *x, size_t count, int known, int exponent, int *unit);

/*
 * Adds `count` >= 1 rows to the state. The function overwrites x, which must have space for one additional
 * row.
 */
void ks_stream_add(int threads, ks_stream *s, double *x, size_t count, ks_stream_room *room);

/* Adds the rows of another state with the same columns. */
void ks_stream_merge(int threads, ks_stream *s, const ks_stream *other, ks_stream_room *room);

/*
 * Adds f G d_a to g[a] for both matrices, using the upper triangle of G. ks_stream_room contains the scratch
 * `partial`.
 */
void ks_stream_times(int threads, const ks_stream *s, const double *d, double f, double *g[2],
                     double *partial);

/* Moves the centre of the part by f d. */
void ks_stream_move(const ks_stream *s, ks_stream_part *p, double f, const double *d);

/* A stream and the rows that the jackknife leaves out one at a time. */
typedef struct {
    ks_stream *s;
    int centered;
    /*
     * `rows` contains all n rows in the original units, or a uniform sample of them. Each row has `all`
     * numbers.
     */
    const double *rows;
    size_t count;
} ks_stream_of;

/*
 * Computes the sums of the first matrix (out[0]), of the second matrix (out[1]), and of both together
 * (out[2]), in units of 2^exponent. With one matrix, only out[0] is set. ks_two explains `columns`. The list
 * out[k].row has `count` entries. The sums without a column use the sample's sum of r y^2, corrected by
 * regression and scaled to N4. This sum is exact if the sample contains all rows.
 */
kspec_status ks_stream_sums(int threads, const ks_stream_of *of, const double columns[2],
                            ks_stream_room *room, ks_sums out[3], ks_arena *arena, kspec_error *err);
