/*
 * Matrices held by a team: in strips of KS_STRIP rows (linalg/linalg.h), of which every rank has a stretch,
 * or, as the data are, whole on every rank. What a rank lacks of others' rows it gets in two ways: the
 * columns that correspond to its own rows, for a transposition, and blocks that all get, panel by panel.
 *
 * Functions named _begin take the memory and may fail on one rank alone; after it the ranks synchronise; what
 * follows talks to the others, and fails only where they cannot be reached.
 */
#pragma once

#include "team/team.h"

typedef struct {
    size_t rows, cols;
    /* rows of a strip */
    size_t height;
    /* all of it, or NULL and the rows of this rank */
    const double *whole;
    double *own;
} ks_strips;

/* from ... to-1 */
typedef struct {
    size_t from, to;
} ks_range;

static inline size_t ks_range_size(ks_range r) { return r.to - r.from; }

/* The rows that a rank has of a matrix, and the most that any has */
ks_range ks_strip_rows(size_t rows, size_t height, int rank, int ranks);
size_t ks_strip_rows_most(size_t rows, int ranks);

/* Doubles that a rank holds at most of a matrix; all where ranks <= 1 */
size_t ks_strips_count(int ranks, size_t rows, size_t cols);

/* Is all of it local? */
static inline const double *ks_strips_own(const kspec_team *t, const ks_strips *x) {
    return x->whole ? x->whole : t->comm.ranks == 1 ? x->own : NULL;
}

/* All rows of those columns that this rank would have as rows of the transposed matrix */
typedef struct {
    const ks_strips *of;
    /* of->rows x ks_range_size(range) */
    const double *x;
    ks_range range;
    double *sent, *got;
    size_t *bytes;
} ks_columns;

kspec_status ks_columns_begin(kspec_team *t, const ks_strips *of, ks_columns *c, kspec_error *err);
kspec_status ks_columns_get(kspec_team *t, ks_columns *c, kspec_error *err);
void ks_columns_end(ks_columns *c);

/* Doubles that they take at most */
size_t ks_columns_room(int ranks, size_t rows, size_t cols);

/*
 * all[k] = x[k] whole, of one or two, in memory that the ranks share (team/area.h), to be read until the next
 * meeting; unchanged where there is none. Its other part has at least so many doubles.
 */
kspec_status ks_strips_share(kspec_team *t, const ks_strips *const *x, int count, size_t least,
                             const double **all, kspec_error *err);

/* to = from^T; to is rows x cols */
void ks_transpose(double *to, size_t ld, const double *from, size_t from_ld, size_t rows, size_t cols);

/*
 * to (dense) = rows x cols of x, for all: by the rows' owners one after the other, or with `packed`, as large
 * as this rank's part, by all at once.
 */
kspec_status ks_block_get(kspec_team *t, const ks_strips *x, ks_range rows, ks_range cols, double *packed,
                          double *to, kspec_error *err);

/* v (n numbers) for all, of which every rank contributes those of its rows in `mine` */
kspec_status ks_vector_gather(kspec_team *t, const double *mine, size_t n, double *v, kspec_error *err);
