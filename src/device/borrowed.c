/* Finds the GPU whose memory contains the caller's matrices, and packs or copies the matrices. */
#include "device/borrowed.h"

#include "base/error.h"
#include "base/matrix.h"

#include <stdio.h>

kspec_status ks_borrowed_check(kspec_memory memory, kspec_error *err) {
    if (memory == KSPEC_MEMORY_HOST || memory == KSPEC_MEMORY_DEVICE) return KSPEC_OK;
    return ks_fail(err, KSPEC_E_ARG, "unknown memory %d", (int)memory);
}

/* Finds the number of the GPU whose memory contains all matrices. */
static kspec_status owner_of(const kspec_matrix *m, size_t count, int *owner, kspec_error *err) {
    const char *why;
    const ks_plugin *plugin = ks_plugin_load(&why);
    if (!plugin) return ks_fail(err, KSPEC_E_ARG, "no matrix can be on a GPU: %s", why);
    *owner = -1;
    for (size_t k = 0; k < count; k++) {
        kspec_status st = ks_matrix_check(&m[k], "a matrix on a GPU", err);
        if (st) return st;
        const int at = plugin->owner(m[k].data);
        if (at < 0) return ks_fail(err, KSPEC_E_ARG, "matrix %zu is not in the memory of a GPU", k);
        if (k && at != *owner)
            return ks_fail(err, KSPEC_E_ARG, "matrix %zu is on gpu:%d, matrix 0 on gpu:%d", k, at, *owner);
        *owner = at;
    }
    return KSPEC_OK;
}

kspec_status ks_placement_of_data(ks_placement *p, kspec_device want, const kspec_matrix *m, size_t count,
                                  kspec_error *err) {
    int owner = -1;
    *p = (ks_placement){.want = KSPEC_DEVICE_CPU};
    kspec_status st = owner_of(m, count, &owner, err);
    const kspec_device owner_device = (kspec_device)(KSPEC_DEVICE_GPU_FIRST + owner);
    if (!st) st = ks_placement_open(p, want, err);
    const kspec_device asked = p->want;
    if (st || asked == KSPEC_DEVICE_CPU || asked == owner_device) return st;
    if (asked >= KSPEC_DEVICE_GPU_FIRST)
        return ks_fail(err, KSPEC_E_ARG, "the matrix is on gpu:%d, not on gpu:%d", owner,
                       (int)asked - KSPEC_DEVICE_GPU_FIRST);
    if (asked == KSPEC_DEVICE_GPU && owner == 0) return KSPEC_OK;
    ks_placement_close(p);
    st = ks_placement_open(p, owner_device, err);
    p->want = asked;
    if (asked == KSPEC_DEVICE_AUTO) snprintf(p->why, sizeof p->why, "the data are there");
    return st;
}

int ks_borrowed_by_rows(const kspec_matrix *m) {
    return m->col_stride == 1 && (m->row_stride == (ptrdiff_t)m->cols || m->rows == 1);
}

int ks_borrowed_by_cols(const kspec_matrix *m) {
    return m->row_stride == 1 && (m->col_stride == (ptrdiff_t)m->rows || m->cols == 1);
}

kspec_status ks_borrowed_pack(const ks_run *run, const kspec_matrix *m, double alpha, ks_mat *out,
                              kspec_error *err) {
    ks_device *d = run->device;
    const int by_rows = ks_borrowed_by_rows(m);
    const ks_mat_expression e = {.m = m->rows,
                                 .n = m->cols,
                                 .alpha = alpha,
                                 .count = 1,
                                 .factor = {{ks_mat_of(m->data), !by_rows, 1}}};
    if (by_rows || ks_borrowed_by_cols(m))
        return ks_backend_of(run)->expression(run, &e, KS_TILE_STORE, out, NULL, err);
    ks_plugin_status on_device = d->plugin->pack(d->gpu, alpha, m->data, m->rows, m->cols, m->row_stride,
                                                 m->col_stride, ks_mat_address(out));
    return ks_device_status(d, on_device, "a copy of the matrix", err);
}

/*
 * Copies dense matrices directly. The device first packs the rows of other matrices, PACK entries at a time.
 */
static kspec_status fetch(ks_device *d, const kspec_matrix *m, double *to, kspec_error *err) {
    enum { PACK = 1 << 24 };
    const size_t P = m->rows, Q = m->cols, band = Q < PACK ? PACK / Q : 1;
    const ks_plugin *plugin = d->plugin;
    const char *what = "copying a matrix to the host";
    void *packed = NULL;
    if (ks_borrowed_by_rows(m) || ks_borrowed_by_cols(m))
        return ks_device_status(d, plugin->get(d->gpu, to, m->data, P * Q, 1), what, err);
    ks_plugin_status st = plugin->alloc(d->gpu, (P < band ? P : band) * Q * sizeof *to, &packed);
    for (size_t i = 0; i < P && !st; i += band) {
        const size_t rows = P - i < band ? P - i : band;
        const double *from = m->data + (ptrdiff_t)i * m->row_stride;
        st = plugin->pack(d->gpu, 1, from, rows, Q, m->row_stride, m->col_stride, packed);
        if (!st) st = plugin->get(d->gpu, to + i * Q, packed, rows * Q, 1);
    }
    if (packed) plugin->release(d->gpu, packed);
    return ks_device_status(d, st, what, err);
}

kspec_status ks_borrowed_fetch(ks_placement *p, const kspec_matrix *from, size_t count, kspec_matrix *to,
                               ks_arena *arena, kspec_error *err) {
    ks_placement own = {0};
    int owner = -1;
    kspec_status st = p->device ? KSPEC_OK : owner_of(from, count, &owner, err);
    if (!st && !p->device) st = ks_placement_open(&own, (kspec_device)(KSPEC_DEVICE_GPU_FIRST + owner), err);
    ks_device *d = p->device ? p->device : own.device;
    for (size_t k = 0; k < count && !st; k++) {
        const size_t P = from[k].rows, Q = from[k].cols;
        const int cols = !ks_borrowed_by_rows(&from[k]) && ks_borrowed_by_cols(&from[k]);
        double *copy = ks_arena_alloc(arena, ks_size(P, Q), sizeof *copy);
        st = copy ? fetch(d, &from[k], copy, err) : ks_nomem(err, "a copy of the matrix", arena->failed);
        to[k] = (kspec_matrix){copy, P, Q, cols ? 1 : (ptrdiff_t)Q, cols ? (ptrdiff_t)P : 1};
    }
    ks_placement_close(&own);
    return st;
}

kspec_status ks_borrowed_open(ks_placement *p, kspec_device want, kspec_memory memory, kspec_matrix *x,
                              ks_arena *arena, kspec_error *err) {
    kspec_matrix copy;
    kspec_status st = ks_borrowed_check(memory, err);
    if (st || memory == KSPEC_MEMORY_HOST) return st ? st : ks_placement_open(p, want, err);
    st = ks_placement_of_data(p, want, x, 1, err);
    if (!st) st = ks_borrowed_fetch(p, x, 1, &copy, arena, err);
    if (!st) *x = copy;
    return st;
}
