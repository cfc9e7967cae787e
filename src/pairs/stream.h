/*
 * Second-order sums of rows that arrive once. The rows belong to one matrix, or to two matrices side by side.
 * The state is the number of rows, the mean of each column, and sums about that mean. Let y be a centred row,
 * y_0 and y_1 the parts of y in the two matrices, and r_a = |y_a|^2. The sums are
 *
 *     G = sum y y^T,  S3 = sum y^3 and S4 = sum y^4 per column,  N2_a = sum r_a,  N4_ab = sum r_a r_b,
 *     V_a = sum r_a y.
 *
 * Merging re-expresses both states about the mean of all rows. Merging never subtracts large numbers, even if
 * the means are large. The state determines the sums of sums.h. The state and a sample of the rows also
 * determine the sums without a row.
 */
#pragma once

#include "base/memory.h"
#include "base/parallel.h"
#include "pairs/sums.h"

typedef struct {
    /* columns of the first matrix, of the second matrix (0: only one matrix), and of both */
    size_t cols[2], all;
    size_t n; /* rows */
    /* the sums use entries / 2^exponent. known: 1 after the arrival of an entry other than 0 */
    int exponent, known;
    double N2[2], N4[3]; /* N4: of 00, 01, 11 */
    /* `all` numbers each; the mean is mean + low. G is all x all, and only its upper triangle counts. */
    double *mean, *low, *S3, *S4, *V[2], *G;
} ks_stream;

/*
 * Returns the total length of the arrays, which are consecutive from `mean` on; SIZE_MAX if the length
 * overflows
 */
size_t ks_stream_numbers(const size_t cols[2]);

/* Opens an empty state. The arena owns the arrays */
kspec_status ks_stream_open(ks_stream *s, const size_t cols[2], ks_arena *arena, kspec_error *err);

/*
 * A state of some of the rows, with sums about the mean of these rows, and of G only the diagonal. A move by
 * d also needs g[a] = G d_a, where d_a is d in the columns of matrix a and 0 elsewhere
 */
typedef struct {
    double n, N2[2], N4[3], *S3, *S4, *V[2], *diagonal, *g[2];
} ks_stream_part;
kspec_status ks_stream_part_open(ks_stream_part *p, size_t all, ks_arena *arena, kspec_error *err);

/* Copies the state except G to p, in units of 2^exponent; g = 0. */
void ks_stream_part_set(ks_stream_part *p, const ks_stream *s, int exponent);

/* Makes p a part of n rows whose sums are all 0. */
void ks_stream_part_clear(ks_stream_part *p, size_t all, size_t n);

/* Joins both parts about their common mean into s, except G. d: the mean of q minus the mean of p */
void ks_stream_join(ks_stream *s, ks_stream_part *p, ks_stream_part *q, const double *d);

/* Copies G's upper triangle to the lower one. */
void ks_stream_mirror(const ks_stream *s);

/* Scratch of the functions below, for batches of this many rows. These functions cannot fail. */
typedef struct {
    ks_stream_part part[2];
    double *vectors, *rows, *partial;
} ks_stream_room;
kspec_status ks_stream_room_open(ks_stream_room *room, size_t all, size_t rows, ks_arena *arena,
                                 kspec_error *err);

/*
 * Do `count` numbers call for a new unit 2^unit of the sums? The first numbers set the unit, until much
 * larger ones arrive. known = 0: the sums have no unit yet.
 */
int ks_stream_unit(const double *x, size_t count, int known, int exponent, int *unit);

/* Adds `count` >= 1 rows. Overwrites x, which must have space for one additional row. */
void ks_stream_add(int threads, ks_stream *s, double *x, size_t count, ks_stream_room *room);

/* Adds the rows of another state with the same columns. */
void ks_stream_merge(int threads, ks_stream *s, const ks_stream *other, ks_stream_room *room);

/* Adds f G d_a to g[a], using the upper triangle of G. partial: as in ks_stream_room */
void ks_stream_times(int threads, const ks_stream *s, const double *d, double f, double *g[2],
                     double *partial);

/* Moves the part's centre by f d. */
void ks_stream_move(const ks_stream *s, ks_stream_part *p, double f, const double *d);

/* A stream, with the rows that the jackknife leaves out one at a time */
typedef struct {
    ks_stream *s;
    int centered;
    const double *rows; /* count x all, in the original units: all n rows, or a uniform sample */
    size_t count;
} ks_stream_of;

/*
 * The sums of the first matrix (0), of the second (1), and of both (2), in units of 2^exponent; 1 and 2 only
 * if there are two matrices. `columns` as in ks_two. row has `count` entries. The sums without a column use
 * the sample's sum of r y^2, scaled to N4. This sum is exact if the sample contains all rows.
 */
kspec_status ks_stream_sums(int threads, const ks_stream_of *of, const double columns[2],
                            ks_stream_room *room, ks_sums out[3], ks_arena *arena, kspec_error *err);
