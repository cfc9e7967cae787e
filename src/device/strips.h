/*
 * Stores matrices for a team, in strips of KS_STRIP rows (linalg/linalg.h), where every rank has a range of
 * strips. The data are on every rank as a whole. A rank receives other ranks' rows in two ways. For a
 * transposition, it receives the columns that correspond to its own rows. For products, all ranks receive
 * blocks, panel by panel.
 *
 * Functions named _begin allocate the memory and may fail on one rank alone. After them the ranks
 * synchronise. The functions that follow send messages to the other ranks, and fail only if a rank cannot be
 * reached.
 */
#pragma once

#include "team/team.h"

typedef struct {
    size_t rows, cols;
    /* rows of a strip */
    size_t height;
    /* If `whole` is NULL, this rank stores only its own rows. */
    const double *whole;
    double *own;
} ks_strips;

/* from ... to-1 */
typedef struct {
    size_t from, to;
} ks_range;

static inline size_t ks_range_size(ks_range r) { return r.to - r.from; }

/* Return a rank's rows of a matrix, and the largest number of rows of any rank. */
ks_range ks_strip_rows(size_t rows, size_t height, int rank, int ranks);
size_t ks_strip_rows_most(size_t rows, int ranks);

/* Returns the largest number of doubles of a matrix on one rank. If ranks <= 1, all doubles count. */
size_t ks_strips_count(int ranks, size_t rows, size_t cols);

/* Returns the whole matrix if it is local, and otherwise NULL. */
static inline const double *ks_strips_own(const kspec_team *t, const ks_strips *x) {
    return x->whole ? x->whole : t->comm.ranks == 1 ? x->own : NULL;
}

/* All rows of the columns that are this rank's rows in the transposed matrix. */
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

/* Returns the largest number of doubles that these columns take. */
size_t ks_columns_room(int ranks, size_t rows, size_t cols);

/*
 * Sets all[k] to the whole matrix x[k], for one or two matrices, in memory that the ranks share
 * (team/area.h). The memory is valid until the ranks synchronise next. Without shared memory, all[k] is
 * unchanged. At least `least` doubles of shared memory stay free.
 */
kspec_status ks_strips_share(kspec_team *t, const ks_strips *const *x, int count, size_t least,
                             const double **all, kspec_error *err);

/* Sets `to` to the transpose of `from`, a matrix of rows x cols. */
void ks_transpose(double *to, size_t ld, const double *from, size_t from_ld, size_t rows, size_t cols);

/*
 * Copies a block of x, rows x cols, to the dense matrix `to` on all ranks. The owners of the rows send them
 * one after another. If `packed` has space for the part of this rank, all owners send at once.
 */
kspec_status ks_block_get(kspec_team *t, const ks_strips *x, ks_range rows, ks_range cols, double *packed,
                          double *to, kspec_error *err);

/* Gathers the n numbers v on all ranks. Every rank contributes the numbers of its rows in `mine`. */
kspec_status ks_vector_gather(kspec_team *t, const double *mine, size_t n, double *v, kspec_error *err);
