/*
 * Second-order sums of rows that arrive once, for one matrix, or for two with the same rows side by side. The
 * state is the number of rows, the mean of each column, and sums about that mean. With y a centred row, y_0
 * and y_1 its parts in the two matrices and r_a = |y_a|^2, these are
 *
 *     G = sum y y^T,  S3 = sum y^3 and S4 = sum y^4 per column,  N2_a = sum r_a,  N4_ab = sum r_a r_b,
 *     V_a = sum r_a y.
 *
 * Two states are merged by moving both to the mean of all rows. Nothing large is ever subtracted, even if the
 * means are large. The state determines the sums of sums.h. Together with a sample of the rows it also
 * determines the sums without a row.
 */
#pragma once

#include "base/memory.h"
#include "base/parallel.h"
#include "pairs/sums.h"

typedef struct {
    /* columns of the first matrix, of the second (0: there is only one), and of both */
    size_t cols[2], all;
    size_t n; /* rows */
    /* sums use entries / 2^exponent; known: 1 once an entry other than 0 has arrived */
    int exponent, known;
    double N2[2], N4[3]; /* N4: of 00, 01, 11 */
    /* `all` numbers each; the mean is mean + low. G is all x all, and only its upper triangle counts. */
    double *mean, *low, *S3, *S4, *V[2], *G;
} ks_stream;

/* The length of all arrays, which are consecutive from `mean` on; SIZE_MAX if it overflows */
size_t ks_stream_numbers(const size_t cols[2]);

/* An empty state; its arrays are in the arena */
kspec_status ks_stream_open(ks_stream *s, const size_t cols[2], ks_arena *arena, kspec_error *err);

/*
 * Some of the rows, with sums about their own mean: the vectors and scalars of a state, and the diagonal of
 * its G. For a move by d, also g[a] = G d_a, where d_a is d in the columns of matrix a and 0 elsewhere
 */
typedef struct {
    double n, N2[2], N4[3], *S3, *S4, *V[2], *diagonal, *g[2];
} ks_stream_part;
kspec_status ks_stream_part_open(ks_stream_part *p, size_t all, ks_arena *arena, kspec_error *err);

/* Copies the state except G to p, in units of 2^exponent; g = 0. */
void ks_stream_part_set(ks_stream_part *p, const ks_stream *s, int exponent);

/* Makes p a part of n rows whose sums are all 0. */
void ks_stream_part_clear(ks_stream_part *p, size_t all, size_t n);

/* Joins both parts about their common mean into s, except G. d: from the mean of p to the mean of q */
void ks_stream_join(ks_stream *s, ks_stream_part *p, ks_stream_part *q, const double *d);

/* Copies G's upper triangle to the lower one. */
void ks_stream_mirror(const ks_stream *s);

/* Scratch of the functions below, for batches of this many rows; with it they cannot fail. */
typedef struct {
    ks_stream_part part[2];
    double *vectors, *rows, *partial;
} ks_stream_room;
kspec_status ks_stream_room_open(ks_stream_room *room, size_t all, size_t rows, ks_arena *arena,
                                 kspec_error *err);

/* Adds `count` >= 1 rows. Uses x as scratch, with room for one additional row. */
void ks_stream_add(int threads, ks_stream *s, double *x, size_t count, ks_stream_room *room);

/* Adds the rows of another state with the same columns. */
void ks_stream_merge(int threads, ks_stream *s, const ks_stream *other, ks_stream_room *room);

/* g[a] += f G d_a, using the upper triangle; partial: as in ks_stream_room */
void ks_stream_times(int threads, const ks_stream *s, const double *d, double f, double *g[2],
                     double *partial);

/* Moves the part's centre by f d. */
void ks_stream_move(const ks_stream *s, ks_stream_part *p, double f, const double *d);

/* A stream, with the rows to leave out one at a time */
typedef struct {
    ks_stream *s;
    int centered;
    const double *rows; /* count x all, in the original units: a uniform sample of the n rows, or all */
    size_t count;
} ks_stream_of;

/*
 * The sums of the first matrix (0), of the second (1), and of both (2), in units of 2^exponent; 1 and 2 only
 * if there are two matrices. `columns` as in ks_two. row has `count` entries. The sums without a column take
 * the sum of r y^2 from the sample, scaled to N4, which is exact if the sample is all rows.
 */
kspec_status ks_stream_sums(int threads, const ks_stream_of *of, const double columns[2],
                            ks_stream_room *room, ks_sums out[3], ks_arena *arena, kspec_error *err);
