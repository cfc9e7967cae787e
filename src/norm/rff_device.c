/* Computes random features on a device in tiles of rows, and products with them. */
#include "norm/rff_device.h"

#include "base/error.h"
#include "device/device.h"
#include "device/gpu.h"

#include <string.h>

/* This is 512 MB: large enough for fast products, and small compared with a device's memory. */
size_t ks_rff_device_entries = (size_t)1 << 26;

static size_t tile_rows(size_t n, size_t q) {
    const size_t rows = ks_rff_device_entries / q;
    return rows < 1 ? 1 : rows < n ? rows : n;
}

size_t ks_rff_device_bytes(size_t n, size_t p, size_t q) {
    const size_t data = ks_size_add(ks_size(n, p), ks_size(q, p + 3));
    const size_t tile = ks_size(tile_rows(n, q), q + 1);
    return ks_size(ks_size_add(data, tile), sizeof(double));
}

/* ---- tiles ---- */

typedef struct {
    size_t first, rows;
    ks_mat *Z; /* rows x q */
    /* The tile lies in the memory of the run's device. */
    ks_run run;
} tile;

/* Computes Z[i,j] = scale cos(2 pi (w_j.x_i + b_j)), where the phases b_j are in turns. */
static kspec_status make_tile(const ks_rff_device *z, const tile *t, kspec_error *err) {
    const size_t p = z->f->p, q = z->f->q;
    const ks_mat *X = ks_mat_view(z->X, t->first * p);
    const ks_mat_product phases = {0, 1, t->rows, q, p, 1, X, p, z->W, p, 0, t->Z, q};
    kspec_status st = ks_gpu_backend.product(&t->run, &phases, err);
    return st ? st : ks_device_cosines(&t->run, t->rows, q, z->b, z->scale, t->Z, err);
}

/* Computes the features of the next tile. It returns 0 after the last tile or a failure. */
static int next_tile(const ks_rff_device *z, const ks_run *run, tile *t, int make, kspec_status *st,
                     kspec_error *err) {
    const double n = (double)z->n;
    t->first += t->rows;
    if (*st || t->first >= z->n) return 0;
    t->rows = z->n - t->first < z->tile ? z->n - t->first : z->tile;
    t->Z = z->held ? ks_mat_view(z->Z, t->first * z->f->q) : z->Z;
    t->run = ks_run_part(run, (double)t->first / n, (double)(t->first + t->rows) / n);
    if (make) *st = make_tile(z, t, err);
    return !*st;
}

kspec_status ks_rff_device_open(ks_rff_device *z, const ks_run *run, const ks_inputs *x, const ks_fourier *f,
                                double scale, size_t memory, ks_arena *arena, kspec_error *err) {
    const ks_backend *at = &ks_gpu_backend;
    const size_t n = x->n, q = f->q;
    *z = (ks_rff_device){.f = f, .n = n, .tile = tile_rows(n, q), .scale = scale};
    kspec_status st = at->copy_in(run, x->x, n, x->p, "the rows", &z->X, err);
    if (!st) st = at->copy_in(run, f->W, q, x->p, "the frequencies", &z->W, err);
    if (!st) st = at->copy_in(run, f->b, 1, q, "the phases", &z->b, err);
    if (!st) st = at->hold(run, 1, 2 * q + z->tile, "the random features", &z->vectors, err);
    if (st) return st;
    z->part = ks_arena_alloc(arena, q, sizeof *z->part);
    if (!z->part) return ks_nomem(err, "the random features", arena->failed);
    const size_t bytes = ks_size(ks_size(n, q), sizeof(double));
    z->held = bytes <= memory && bytes <= ks_device_available(run->device) / 2;
    if ((st = at->hold(run, z->held ? n : z->tile, q, "the random features", &z->Z, err))) return st;
    for (tile t = {0}; z->held && next_tile(z, run, &t, 1, &st, err);) {
    }
    return st;
}

void ks_rff_device_close(ks_rff_device *z, const ks_run *run) {
    const ks_backend *at = &ks_gpu_backend;
    at->drop(run, z->Z);
    at->drop(run, z->vectors);
    at->release(run, z->b);
    at->release(run, z->W);
    at->release(run, z->X);
    *z = (ks_rff_device){0};
}

/* Computes w = Z^T Z v tile by tile: first the products of the rows with v, then the sums over rows. */
kspec_status ks_rff_device_apply(ks_rff_device *z, const ks_run *run, const double *v, double *w,
                                 kspec_error *err) {
    const ks_backend *at = &ks_gpu_backend;
    const size_t q = z->f->q;
    ks_mat *vector = z->vectors, *part = ks_mat_view(vector, q), *Zv = ks_mat_view(part, q);
    kspec_status st = at->put(run, vector, v, q, err);
    memset(w, 0, q * sizeof *w);
    for (tile t = {0}; next_tile(z, run, &t, !z->held, &st, err);) {
        ks_mat_expression e = {.m = t.rows, .n = q, .alpha = 1, .count = 1, .factor = {{t.Z, 0, 1}}};
        e.col_held = vector;
        st = at->expression(&t.run, &e, KS_TILE_ROW_SUMS, Zv, NULL, err);
        e.col_held = NULL, e.row_held = Zv;
        if (!st) st = at->expression(&t.run, &e, KS_TILE_COL_SUMS, part, NULL, err);
        if (!st) st = at->get(&t.run, z->part, part, q, 1, err);
        for (size_t j = 0; j < q && !st; j++) w[j] += z->part[j];
    }
    return st;
}

kspec_status ks_rff_device_gram(ks_rff_device *z, const ks_run *run, double *G, kspec_error *err) {
    const ks_backend *at = &ks_gpu_backend;
    const size_t q = z->f->q;
    ks_mat *sum = NULL;
    kspec_status st = at->hold(run, q, q, "the Gram matrix of the features", &sum, err);
    for (tile t = {0}; next_tile(z, run, &t, !z->held, &st, err);) {
        const double share = (double)q / (double)z->n, more = t.first ? 1 : 0;
        const ks_mat_product p = {1, 0, q, q, t.rows, share, t.Z, q, t.Z, q, more, sum, q, 1};
        st = at->product(&t.run, &p, err);
    }
    if (!st) st = at->get(run, G, sum, ks_size(q, q), 1, err);
    at->drop(run, sum);
    return st;
}
