/*
 * Second-order sums of rows that pass by once, of one matrix or of two with the same rows side by side. The
 * state is the number of rows, the mean of each column, and about that mean, with y a centred row, y_0 and
 * y_1 its parts in the two matrices and r_a = |y_a|^2,
 *
 *     G = sum y y^T,  S3 = sum y^3 and S4 = sum y^4 per column,  N2_a = sum r_a,  N4_ab = sum r_a r_b,
 *     V_a = sum r_a y.
 *
 * Two states become one by moving both to the mean of all rows: nothing large is ever subtracted, however
 * large the means are. From the state follow the sums of sums.h, and from some of the rows as well those
 * without a row.
 */
#pragma once

#include "base/memory.h"
#include "base/parallel.h"
#include "pairs/sums.h"

typedef struct {
    /* columns of the first and of the second matrix (0: there is none), and of both */
    size_t cols[2], all;
    size_t n; /* rows */
    /* sums are of entries / 2^exponent; known: 1 when an entry other than 0 has come */
    int exponent, known;
    double N2[2], N4[3]; /* N4: of 00, 01, 11 */
    /* `all` numbers each; the mean is mean + low. G is all x all, of which the upper triangle counts. */
    double *mean, *low, *S3, *S4, *V[2], *G;
} ks_stream;

/* How many numbers the arrays hold, one after the other from `mean` on; SIZE_MAX where it overflows */
size_t ks_stream_numbers(const size_t cols[2]);

/* An empty state; its arrays are in the arena */
kspec_status ks_stream_open(ks_stream *s, const size_t cols[2], ks_arena *arena, kspec_error *err);

/*
 * A part of the rows, its sums about its own mean: the vectors and scalars of a state, the diagonal of its G
 * and, for a move by d, g[a] = G d_a, where d_a is d in the columns of matrix a and 0 elsewhere
 */
typedef struct {
    double n, N2[2], N4[3], *S3, *S4, *V[2], *diagonal, *g[2];
} ks_stream_part;
kspec_status ks_stream_part_open(ks_stream_part *p, size_t all, ks_arena *arena, kspec_error *err);

/* p becomes the state, in units of 2^exponent, but for G; g = 0. */
void ks_stream_part_set(ks_stream_part *p, const ks_stream *s, int exponent);

/* p of so many rows, all its sums 0 */
void ks_stream_part_clear(ks_stream_part *p, size_t all, size_t n);

/* s becomes what both parts are about the common mean, but for G. d: from the mean of p to that of q */
void ks_stream_join(ks_stream *s, ks_stream_part *p, ks_stream_part *q, const double *d);

/* Sets G's lower triangle, too. */
void ks_stream_mirror(const ks_stream *s);

/* Scratch of the calls below, for batches of so many rows; with it they cannot fail. */
typedef struct {
    ks_stream_part part[2];
    double *vectors, *rows, *partial;
} ks_stream_room;
kspec_status ks_stream_room_open(ks_stream_room *room, size_t all, size_t rows, ks_arena *arena,
                                 kspec_error *err);

/* Adds `count` >= 1 rows, x, which it uses as scratch and which has room for one row more. */
void ks_stream_add(int threads, ks_stream *s, double *x, size_t count, ks_stream_room *room);

/* Adds the rows of another state with the same columns. */
void ks_stream_merge(int threads, ks_stream *s, const ks_stream *other, ks_stream_room *room);

/* g[a] += f G d_a, by the upper triangle; partial: as in the room */
void ks_stream_times(int threads, const ks_stream *s, const double *d, double f, double *g[2],
                     double *partial);

/* The same rows about their mean plus f d */
void ks_stream_move(const ks_stream *s, ks_stream_part *p, double f, const double *d);

/* What the sums are asked of, and the rows that are left out one at a time */
typedef struct {
    ks_stream *s;
    int centered;
    const double *rows; /* count x all, as they came: a uniform sample of the n, or all */
    size_t count;
} ks_stream_of;

/*
 * The sums of the first matrix (0), of the second (1), and of both (2), in units of 2^exponent; 1 and 2 only
 * where there is a second. `columns` as in ks_two. row has `count` entries. Columns left out take the sum of
 * r y^2 from the sample, scaled to N4: exact where the sample is all rows.
 */
kspec_status ks_stream_sums(int threads, const ks_stream_of *of, const double columns[2],
                            ks_stream_room *room, ks_sums out[3], ks_arena *arena, kspec_error *err);
