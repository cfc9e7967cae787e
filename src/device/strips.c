/* Divides matrices into strips for the ranks of a team, and exchanges rows, columns and blocks. */
#include "device/strips.h"

#include "base/error.h"
#include "base/memory.h"
#include "linalg/linalg.h"
#include "team/area.h"

#include <string.h>

ks_range ks_strip_rows(size_t rows, size_t height, int rank, int ranks) {
    const size_t strips = (rows + height - 1) / height, r = (size_t)rank, n = (size_t)ranks;
    const size_t from = strips * r / n * height, to = strips * (r + 1) / n * height;
    return (ks_range){from < rows ? from : rows, to < rows ? to : rows};
}

size_t ks_strip_rows_most(size_t rows, int ranks) {
    const size_t strips = (rows + KS_STRIP - 1) / KS_STRIP, n = (size_t)(ranks > 1 ? ranks : 1);
    const size_t most = (strips + n - 1) / n * KS_STRIP;
    return most < rows ? most : rows;
}

size_t ks_strips_count(int ranks, size_t rows, size_t cols) {
    return ks_size(ks_strip_rows_most(rows, ranks), cols);
}

static ks_range rows_of(const kspec_team *t, const ks_strips *x, int rank) {
    return ks_strip_rows(x->rows, x->height, rank, t->comm.ranks);
}

/* Copies some columns of `rows` rows of x to `to` as a dense matrix. Returns the end of the copy. */
static double *pack(double *to, const double *x, size_t ld, size_t rows, ks_range cols) {
    const size_t n = ks_range_size(cols);
    for (size_t i = 0; i < rows; i++) memcpy(to + i * n, x + i * ld + cols.from, n * sizeof *to);
    return to + rows * n;
}

/* Transposes blocks of 8 x 8 numbers, which stay in the cache. */
void ks_transpose(double *to, size_t ld, const double *from, size_t from_ld, size_t rows, size_t cols) {
    for (size_t a0 = 0; a0 < rows; a0 += 8)
        for (size_t b0 = 0; b0 < cols; b0 += 8)
            for (size_t a = a0; a < rows && a < a0 + 8; a++)
                for (size_t b = b0; b < cols && b < b0 + 8; b++) to[a * ld + b] = from[b * from_ld + a];
}

/* ---- whole ---- */

kspec_status ks_strips_share(kspec_team *t, const ks_strips *const *x, int count, size_t least,
                             const double **all, kspec_error *err) {
    size_t most = least;
    for (int k = 0; k < count; k++) {
        const size_t numbers = ks_size(x[k]->rows, x[k]->cols);
        if (numbers > most) most = numbers;
    }
    double *to[2];
    kspec_status st = ks_area_get(t, ks_size(most, sizeof **to), count, to, err);
    if (st || !to[0]) return st;
    for (int k = 0; k < count; k++) {
        const ks_range own = rows_of(t, x[k], t->comm.rank);
        const size_t cols = x[k]->cols;
        memcpy(to[k] + own.from * cols, x[k]->own, ks_range_size(own) * cols * sizeof **to);
        all[k] = to[k];
    }
    return ks_team_synchronise(t, KS_AT_LOOP, KSPEC_OK, "step", 0, err);
}

/* ---- columns ---- */

/*
 * Matrices with at least SHARED entries go through shared memory. For smaller matrices a message is faster.
 */
enum { SHARED = 1 << 17 };

kspec_status ks_columns_begin(kspec_team *t, const ks_strips *of, ks_columns *c, kspec_error *err) {
    const int ranks = t->comm.ranks;
    *c = (ks_columns){.of = of, .range = ks_strip_rows(of->cols, KS_STRIP, t->comm.rank, ranks)};
    if (ranks == 1) return KSPEC_OK;
    const size_t mine = ks_range_size(rows_of(t, of, t->comm.rank)), width = ks_range_size(c->range);
    c->got = ks_alloc(ks_size(of->rows, width), sizeof *c->got);
    if (!of->whole) {
        c->sent = ks_alloc(ks_size(mine, of->cols), sizeof *c->sent);
        c->bytes = ks_alloc((size_t)ranks, 2 * sizeof *c->bytes);
    }
    if (c->got && (of->whole || (c->sent && c->bytes))) return KSPEC_OK;
    return ks_nomem(err, "a matrix's columns", ks_size(ks_size(of->rows, width), sizeof *c->got));
}

kspec_status ks_columns_get(kspec_team *t, ks_columns *c, kspec_error *err) {
    const ks_strips *of = c->of;
    const int ranks = t->comm.ranks;
    kspec_status st = KSPEC_OK;
    if (ranks == 1) {
        c->x = ks_strips_own(t, of);
        return KSPEC_OK;
    }
    c->x = c->got;
    if (of->whole) {
        pack(c->got, of->whole, of->cols, of->rows, c->range);
        return KSPEC_OK;
    }
    if (ks_size(of->rows, of->cols) >= SHARED) {
        const double *all = NULL;
        st = ks_strips_share(t, &of, 1, 0, &all, err);
        if (!st && all) pack(c->got, all, of->cols, of->rows, c->range);
        if (st || all) return st;
    }
    const size_t mine = ks_range_size(rows_of(t, of, t->comm.rank));
    double *to = c->sent;
    for (int r = 0; r < ranks; r++) {
        const ks_range theirs = ks_strip_rows(of->cols, KS_STRIP, r, ranks);
        to = pack(to, of->own, of->cols, mine, theirs);
        c->bytes[r] = mine * ks_range_size(theirs) * sizeof *to;
        c->bytes[ranks + r] = ks_range_size(rows_of(t, of, r)) * ks_range_size(c->range) * sizeof *to;
    }
    /* Each rank has a range of consecutive rows, so the received pieces form the matrix in order. */
    st = ks_team_exchange(t, c->sent, c->bytes, c->got, c->bytes + ranks, err);
    ks_free(c->sent);
    c->sent = NULL;
    return st;
}

void ks_columns_end(ks_columns *c) {
    ks_free(c->sent);
    ks_free(c->got);
    ks_free(c->bytes);
    *c = (ks_columns){0};
}

size_t ks_columns_room(int ranks, size_t rows, size_t cols) {
    return ks_size_add(ks_strips_count(ranks, rows, cols), ks_strips_count(ranks, cols, rows));
}

/* ---- blocks ---- */

static ks_range common(ks_range a, ks_range b) {
    const size_t from = a.from > b.from ? a.from : b.from, to = a.to < b.to ? a.to : b.to;
    return (ks_range){from, to > from ? to : from};
}

kspec_status ks_block_get(kspec_team *t, const ks_strips *x, ks_range rows, ks_range cols, double *packed,
                          double *to, kspec_error *err) {
    const size_t line = ks_range_size(cols) * sizeof *to;
    kspec_status st = KSPEC_OK;
    for (int r = 0; r < t->comm.ranks && !st; r++) {
        const ks_range has = rows_of(t, x, r), part = common(has, rows);
        const size_t count = ks_range_size(part);
        t->bytes[r] = count * line;
        if (!count) continue;
        double *place = packed ? packed : to + (part.from - rows.from) * ks_range_size(cols);
        if (r == t->comm.rank) pack(place, x->own + (part.from - has.from) * x->cols, x->cols, count, cols);
        if (!packed) st = ks_team_broadcast(t, r, place, count * line, err);
    }
    return st || !packed ? st : ks_team_gather(t, packed, to, t->bytes, err);
}

kspec_status ks_vector_gather(kspec_team *t, const double *mine, size_t n, double *v, kspec_error *err) {
    for (int r = 0; r < t->comm.ranks; r++)
        t->bytes[r] = ks_range_size(ks_strip_rows(n, KS_STRIP, r, t->comm.ranks)) * sizeof *v;
    return ks_team_gather(t, mine, v, t->bytes, err);
}
