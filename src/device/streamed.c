/*
 * Multiplies matrices in host memory on a device. A tile of C stays on the device while panels of op(A) and
 * op(B) pass through. The device stores two panels of each, so that the next panels are copied while the
 * current ones are multiplied. The sizes of tiles and panels depend only on the shape and on the device's
 * memory.
 */
#include "device/streamed.h"

#include "base/error.h"
#include "base/memory.h"
#include "device/device.h"
#include "device/gpu.h"

#include <math.h>

/* Contains the numbers of rows of op(A) and columns of op(B) in a tile, and the length of a panel. */
typedef struct {
    size_t m, n, k;
    /*
     * The number of tiles of C in memory: 2 for a symmetric product, whose tile has a mirror image, and
     * otherwise 1.
     */
    size_t tiles;
} shape;

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Returns the largest multiple t of 64 with tiles t^2 + 4 t k <= room. */
static size_t edge(double room, double k, double tiles) {
    const size_t t = (size_t)((sqrt(4 * k * k + tiles * room) - 2 * k) / tiles);
    return t < 1 ? 1 : t < 64 ? t : t / 64 * 64;
}

static shape shape_of(const ks_matmul *p, size_t room) {
    const double all = (double)room;
    shape s = {.k = least(p->k, least(4096, (size_t)fmax(1, sqrt(all) / 4))), .tiles = 1};
    size_t t = edge(all, (double)s.k, 1);
    s.m = least(p->m, t), s.n = least(p->n, t);
    if (p->symmetric && s.n < p->n) {
        s.tiles = 2;
        s.m = s.n = edge(all, (double)s.k, 2);
        return s;
    }
    /* If one side is short, the tile may be longer on the other side. */
    if (s.m == p->m && s.m + s.k) s.n = least(p->n, (room - 2 * s.m * s.k) / (s.m + 2 * s.k));
    if (s.n == p->n && s.n + s.k) s.m = least(p->m, (room - 2 * s.n * s.k) / (s.n + 2 * s.k));
    return s;
}

size_t ks_streamed_room(size_t bytes) {
    size_t room = 1;
    while (room <= bytes / sizeof(double) / 2) room *= 2;
    return room / 2;
}

/* ---- blocks ---- */

typedef struct {
    const ks_run *run;
    const ks_matmul *p;
    shape s;
    /* The stream has device memory for tiles of C, and for two panels of each operand. */
    double *C, *mirror, *A[2], *B[2];
} stream;

static kspec_status hold_all(stream *x, kspec_error *err) {
    const shape s = x->s;
    const char *what = "tiles of matrices";
    kspec_status st = ks_gpu_hold(x->run, ks_size(s.m, s.n), what, &x->C, err);
    if (!st && s.tiles > 1) st = ks_gpu_hold(x->run, ks_size(s.n, s.m), what, &x->mirror, err);
    for (int k = 0; k < 2 && !st; k++) {
        st = ks_gpu_hold(x->run, ks_size(s.m, s.k), what, &x->A[k], err);
        if (!st) st = ks_gpu_hold(x->run, ks_size(s.k, s.n), what, &x->B[k], err);
    }
    return st;
}

static void drop_all(stream *x) {
    for (int k = 0; k < 2; k++) ks_gpu_drop(x->run, x->A[k]), ks_gpu_drop(x->run, x->B[k]);
    ks_gpu_drop(x->run, x->mirror);
    ks_gpu_drop(x->run, x->C);
}

static kspec_status put(const stream *x, double *to, const double *from, size_t rows, size_t cols, size_t ld,
                        kspec_error *err) {
    ks_device *d = x->run->device;
    return ks_device_status(d, d->plugin->put_block(d->gpu, to, from, rows, cols, ld), "copying", err);
}

static kspec_status get(const stream *x, double *to, size_t ld, const double *from, size_t rows, size_t cols,
                        kspec_error *err) {
    ks_device *d = x->run->device;
    return ks_device_status(d, d->plugin->get_block(d->gpu, to, ld, from, rows, cols), "copying", err);
}

/* ---- tiles ---- */

/* Adds op(A) op(B) to C over all panels, for the m x n tile (i, j). */
static kspec_status multiply_panels(const stream *x, size_t i, size_t j, size_t m, size_t n, ks_run part,
                                    kspec_error *err) {
    const ks_matmul *p = x->p;
    const int diagonal = p->symmetric && i == j && m == n;
    const int one = diagonal && p->A == p->B && p->lda == p->ldb && p->ta != p->tb;
    int set = 0;
    for (size_t k = 0; k < p->k; k += x->s.k, set ^= 1) {
        const size_t depth = least(x->s.k, p->k - k);
        kspec_status st = p->ta ? put(x, x->A[set], p->A + k * p->lda + i, depth, m, p->lda, err)
                                : put(x, x->A[set], p->A + i * p->lda + k, m, depth, p->lda, err);
        if (!st && !one)
            st = p->tb ? put(x, x->B[set], p->B + j * p->ldb + k, n, depth, p->ldb, err)
                       : put(x, x->B[set], p->B + k * p->ldb + j, depth, n, p->ldb, err);
        if (st) return st;
        const ks_matmul more = {.ta = p->ta,
                                .tb = p->tb,
                                .m = m,
                                .n = n,
                                .k = depth,
                                .alpha = p->alpha,
                                .A = x->A[set],
                                .lda = p->ta ? m : depth,
                                .B = one ? x->A[set] : x->B[set],
                                .ldb = p->tb ? depth : n,
                                .beta = k ? 1 : p->beta,
                                .C = x->C,
                                .ldc = n,
                                .symmetric = diagonal};
        const ks_run step = ks_run_part(&part, (double)k / (double)p->k, (double)(k + depth) / (double)p->k);
        if ((st = ks_gpu_product(&step, &more, err))) return st;
    }
    return KSPEC_OK;
}

static kspec_status one_tile(const stream *x, size_t i, size_t j, ks_run part, kspec_error *err) {
    const ks_matmul *p = x->p;
    const size_t m = least(x->s.m, p->m - i), n = least(x->s.n, p->n - j);
    double *C = p->C + i * p->ldc + j;
    kspec_status st = p->beta != 0 ? put(x, x->C, C, m, n, p->ldc, err) : KSPEC_OK;
    if (!st) st = multiply_panels(x, i, j, m, n, part, err);
    if (!st) st = get(x, C, p->ldc, x->C, m, n, err);
    if (st || !p->symmetric || i == j) return st;
    const ks_expression turned = {.m = n, .n = m, .alpha = 1, .count = 1, .factor = {{x->C, 1, 1}}};
    st = ks_gpu_expression(&part, &turned, KS_TILE_STORE, x->mirror, err);
    return st ? st : get(x, p->C + j * p->ldc + i, p->ldc, x->mirror, n, m, err);
}

kspec_status ks_streamed_product(const ks_run *run, const ks_matmul *p, kspec_error *err) {
    stream x = {.run = run, .p = p, .s = shape_of(p, run->device->streamed)};
    const double all = (double)p->m * (double)p->n;
    double done = 0;
    kspec_status st = hold_all(&x, err);
    for (size_t i = 0; i < p->m && !st; i += x.s.m)
        for (size_t j = p->symmetric ? i : 0; j < p->n && !st; j += x.s.n) {
            const double host = (double)least(x.s.m, p->m - i) * (double)least(x.s.n, p->n - j);
            const double share = p->symmetric && i != j ? 2 * host : host;
            st = one_tile(&x, i, j, ks_run_part(run, done / all, (done + share) / all), err);
            done += share;
        }
    drop_all(&x);
    return st;
}
