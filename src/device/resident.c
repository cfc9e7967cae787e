/* Stores matrices in host memory if they do not all fit on a GPU, and copies them to the GPU when needed. */
#include "device/resident.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "device/device.h"
#include "device/gpu.h"
#include "device/streamed.h"
#include "device/tile.h"

size_t ks_resident_lock_least = (size_t)1 << 20;

static size_t bytes_of(const ks_resident *r) { return r->count * sizeof(double); }

/* Returns the matrix that contains p. The caller's matrices may overlap. */
static ks_resident *find(const ks_device *d, const double *p) {
    for (ks_resident *r = d->resident; r; r = r->next)
        if (p == r->host) return r;
    for (ks_resident *r = d->resident; r; r = r->next)
        if (p > r->host && p < r->host + r->count) return r;
    return NULL;
}

/* ---- copies ---- */

/*
 * Page-locks a matrix when it is copied a second time. The function is called before each copy. Page-locking
 * takes about as long as it saves in one copy. If the system refuses, copies are slower but otherwise the
 * same.
 */
static void lock_if_copied_again(const ks_device *d, ks_resident *r) {
    if (r && ++r->copies == 2 && !r->borrowed && bytes_of(r) >= ks_resident_lock_least)
        d->plugin->lock(d->gpu, r->host, bytes_of(r));
}

/* Copies a matrix from the device to the host, or from the host to the device. */
static kspec_status copy(const ks_run *run, ks_resident *r, int out, kspec_error *err) {
    ks_device *d = run->device;
    const double start = ks_now();
    lock_if_copied_again(d, r);
    const ks_plugin_status st = out ? d->plugin->get(d->gpu, r->host, r->on_device, r->count, 1)
                                    : d->plugin->put(d->gpu, r->on_device, r->host, r->count);
    /* Only the first copy counts, as if all matrices fitted. */
    if (r->borrowed && r->copies == 1) d->copying += ks_now() - start;
    if (!st) r->valid = KS_ON_HOST | KS_ON_DEVICE;
    return ks_device_status(d, st, "copying", err);
}

static void free_device(const ks_run *run, ks_resident *r) {
    if (!r->on_device) return;
    ks_gpu_drop(run, r->on_device);
    run->device->taken -= bytes_of(r);
    r->on_device = NULL;
    r->valid &= ~KS_ON_DEVICE;
}

static kspec_status to_host(const ks_run *run, ks_resident *r, kspec_error *err) {
    return r && r->valid == KS_ON_DEVICE ? copy(run, r, 1, err) : KSPEC_OK;
}

/*
 * Returns the least recently used matrix on the device, except the matrices of the current operation. Returns
 * NULL if no matrix remains.
 */
static ks_resident *oldest(const ks_device *d) {
    ks_resident *found = NULL;
    for (ks_resident *r = d->resident; r; r = r->next)
        if (r->on_device && r->used != d->operation && (!found || r->used < found->used)) found = r;
    return found;
}

static kspec_status move_out(const ks_run *run, ks_resident *r, kspec_error *err) {
    kspec_status st = to_host(run, r, err);
    if (!st) free_device(run, r);
    return st;
}

/* Moves other matrices to the host until `bytes` more bytes fit the device's share. */
static kspec_status make_room(const ks_run *run, size_t bytes, kspec_error *err) {
    const ks_device *d = run->device;
    const size_t share = d->share ? d->share : 2 * d->streamed * sizeof(double);
    kspec_status st = KSPEC_OK;
    for (ks_resident *r; !st && ks_size_add(d->taken, bytes) > share && (r = oldest(d));)
        st = move_out(run, r, err);
    return st;
}

static kspec_status to_device(const ks_run *run, ks_resident *r, int read, kspec_error *err) {
    ks_device *d = run->device;
    if (!r->on_device) {
        void *p = NULL;
        kspec_status st = make_room(run, bytes_of(r), err);
        if (st) return st;
        ks_plugin_status got = d->plugin->alloc(d->gpu, bytes_of(r), &p);
        /* another process's memory */
        for (ks_resident *other; got == KS_PLUGIN_NOMEM && (other = oldest(d));) {
            if ((st = move_out(run, other, err))) return st;
            got = d->plugin->alloc(d->gpu, bytes_of(r), &p);
        }
        if (got) return ks_device_status(d, got, "a matrix", err);
        r->on_device = p;
        d->taken += bytes_of(r);
    }
    return read && r->valid == KS_ON_HOST ? copy(run, r, 0, err) : KSPEC_OK;
}

/* ---- operations ---- */

/*
 * The matrices that an operation reads, and the matrix that it writes. `to` is NULL if the operation writes
 * to a host vector.
 */
typedef struct {
    ks_resident *from[KS_TILE_FACTORS + 2], *to;
    int count, in, known;
} operands;

static void reads(const ks_device *d, operands *o, const double *p) {
    ks_resident *r = find(d, p);
    if (!r) o->known = 0;
    for (int k = 0; k < o->count; k++)
        if (o->from[k] == r) r = NULL;
    if (r) o->from[o->count++] = r;
}

/* Records that the operation writes `count` numbers. If add is 1, the operation adds to the old numbers. */
static void writes(const ks_device *d, operands *o, const double *p, size_t count, int add) {
    o->to = find(d, p);
    if (!o->to)
        o->known = 0;
    else
        o->in = add || p != o->to->host || count < o->to->count;
}

/*
 * Do the operands fit on the device? The operands may use 7/4 of ks_device.share, which is less than the free
 * memory.
 */
static int fit(const ks_device *d, const operands *o) {
    size_t all = o->to ? o->to->count : 0;
    for (int k = 0; k < o->count; k++)
        if (o->from[k] != o->to) all = ks_size_add(all, o->from[k]->count);
    return o->known && all <= d->streamed / 4 * 7;
}

static kspec_status all_on_device(const ks_run *run, const operands *o, kspec_error *err) {
    const size_t now = ++run->device->operation;
    kspec_status st = KSPEC_OK;
    for (int k = 0; k < o->count; k++) o->from[k]->used = now; /* all operands stay */
    if (o->to) o->to->used = now;
    for (int k = 0; k < o->count && !st; k++) st = to_device(run, o->from[k], 1, err);
    return o->to && !st ? to_device(run, o->to, o->in, err) : st;
}

static kspec_status all_local(const ks_run *run, const operands *o, kspec_error *err) {
    kspec_status st = o->in ? to_host(run, o->to, err) : KSPEC_OK;
    ++run->device->operation;
    for (int k = 0; k < o->count && !st; k++) st = to_host(run, o->from[k], err);
    return st;
}

static void written(const operands *o, int where) {
    if (o->to) o->to->valid = where;
}

static double *device_address(const ks_device *d, const double *p) {
    const ks_resident *r = find(d, p);
    return r->on_device + (p - r->host);
}

static kspec_status product(const ks_run *run, const ks_mat_product *of, kspec_error *err) {
    const ks_matmul plain = ks_mat_plain(of), *p = &plain;
    const ks_device *d = run->device;
    operands o = {.known = 1};
    reads(d, &o, p->A), reads(d, &o, p->B), writes(d, &o, p->C, p->m * p->n, p->beta != 0);
    if (fit(d, &o)) {
        kspec_status st = all_on_device(run, &o, err);
        if (st) return st;
        ks_matmul on = *p;
        on.A = device_address(d, p->A), on.B = device_address(d, p->B), on.C = device_address(d, p->C);
        written(&o, KS_ON_DEVICE);
        return ks_gpu_product(run, &on, err);
    }
    kspec_status st = all_local(run, &o, err);
    if (!st) st = make_room(run, d->streamed * sizeof(double), err);
    for (int k = 0; k < o.count; k++) lock_if_copied_again(d, o.from[k]);
    lock_if_copied_again(d, o.to);
    written(&o, KS_ON_HOST);
    return st ? st : ks_streamed_product(run, p, err);
}

static kspec_status expression(const ks_run *run, const ks_mat_expression *of, ks_tile_result what,
                               ks_mat *to, double *sums, kspec_error *err) {
    const ks_expression plain = ks_mat_plain_expression(of), *e = &plain;
    double *out = to ? ks_mat_address(to) : sums;
    const ks_device *d = run->device;
    const int matrix = what == KS_TILE_STORE || what == KS_TILE_ADD, vectors = e->vectors_on_device;
    const size_t made = (what == KS_TILE_COL_SUMS ? 1 : e->m) * (what == KS_TILE_ROW_SUMS ? 1 : e->n);
    operands o = {.known = 1};
    for (int k = 0; k < e->count; k++) reads(d, &o, e->factor[k].x);
    if (e->row && vectors) reads(d, &o, e->row);
    if (e->col && vectors) reads(d, &o, e->col);
    if (matrix || vectors) writes(d, &o, out, made, what == KS_TILE_ADD);
    if (fit(d, &o)) {
        kspec_status st = all_on_device(run, &o, err);
        if (st) return st;
        ks_expression on = *e;
        for (int k = 0; k < e->count; k++) on.factor[k].x = device_address(d, e->factor[k].x);
        if (e->row && vectors) on.row = device_address(d, e->row);
        if (e->col && vectors) on.col = device_address(d, e->col);
        written(&o, KS_ON_DEVICE);
        return ks_gpu_expression(run, &on, what, o.to ? device_address(d, out) : out, err);
    }
    kspec_status st = all_local(run, &o, err);
    written(&o, KS_ON_HOST);
    return st ? st : ks_tile_run(run, e, what, out, err);
}

static kspec_status symmetrise(const ks_run *run, size_t n, ks_mat *at, kspec_error *err) {
    const ks_device *d = run->device;
    double *X = ks_mat_address(at);
    operands o = {.known = 1};
    writes(d, &o, X, n * n, 1);
    const int on = fit(d, &o);
    kspec_status st = on ? all_on_device(run, &o, err) : all_local(run, &o, err);
    written(&o, on ? KS_ON_DEVICE : KS_ON_HOST);
    if (st) return st;
    return on ? ks_gpu_backend.symmetrise(run, n, ks_mat_of(device_address(d, X)), err)
              : ks_tile_symmetrise(run, n, X, err);
}

/* The CPU builds this matrix, which is constant. */
static kspec_status triangle(const ks_run *run, size_t n, ks_mat *X, kspec_error *err) {
    ks_resident *r = find(run->device, ks_mat_address(X));
    if (r) r->valid = KS_ON_HOST;
    return ks_cpu_backend.triangle(run, n, X, err);
}

static kspec_status put(const ks_run *run, ks_mat *to, const double *from, size_t count, kspec_error *err) {
    ks_resident *r = find(run->device, ks_mat_address(to));
    kspec_status st = to_host(run, r, err);
    if (r) r->valid = KS_ON_HOST;
    return st ? st : ks_cpu_backend.put(run, to, from, count, err);
}

static kspec_status get(const ks_run *run, double *to, const ks_mat *from, size_t count, size_t step,
                        kspec_error *err) {
    const double *x = ks_mat_address(from);
    const ks_resident *r = find(run->device, x);
    if (r && r->valid == KS_ON_DEVICE)
        return ks_gpu_backend.get(run, to, ks_mat_of(device_address(run->device, x)), count, step, err);
    return ks_cpu_backend.get(run, to, from, count, step, err);
}

static kspec_status diagonal(const ks_run *run, double *to, const ks_mat *from, size_t n, kspec_error *err) {
    return get(run, to, from, n, n + 1, err);
}

/* ---- matrices ---- */

static int suits(const ks_run *run, ks_holding how, double work) {
    (void)work;
    return how != KS_HOLD_ADDRESSES && run->device && run->device->streamed;
}

/* Adds an entry to the list, with newly allocated memory or with memory of the caller. */
static kspec_status enter(const ks_run *run, const double *borrowed, size_t rows, size_t cols,
                          const char *what, ks_resident **out, kspec_error *err) {
    ks_resident *r = ks_zalloc(1, sizeof *r);
    *out = NULL;
    if (!r) return ks_nomem(err, what, sizeof *r);
    r->count = ks_size(rows, cols);
    r->borrowed = borrowed != NULL;
    r->valid = borrowed ? KS_ON_HOST : 0;
    r->host = borrowed ? (double *)borrowed : ks_alloc(r->count, sizeof *r->host);
    if (!r->host) {
        const size_t bytes = ks_size(r->count, sizeof *r->host);
        ks_free(r);
        return ks_nomem(err, what, bytes);
    }
    r->next = run->device->resident;
    *out = run->device->resident = r;
    return KSPEC_OK;
}

static kspec_status hold(const ks_run *run, size_t rows, size_t cols, const char *what, ks_mat **out,
                         kspec_error *err) {
    ks_resident *r;
    kspec_status st = enter(run, NULL, rows, cols, what, &r, err);
    *out = r ? ks_mat_of(r->host) : NULL;
    return st;
}

static void drop(const ks_run *run, ks_mat *p) {
    ks_device *d = run->device;
    ks_resident **at = &d->resident, *r;
    while (*at && (*at)->host != ks_mat_address(p)) at = &(*at)->next;
    if (!(r = *at) || !p) return;
    *at = r->next;
    free_device(run, r);
    d->plugin->unlock(d->gpu, r->host);
    if (!r->borrowed) ks_free(r->host);
    ks_free(r);
}

static void idle(const ks_run *run, ks_mat *p) {
    ks_resident *r = find(run->device, ks_mat_address(p));
    if (!r) return;
    free_device(run, r);
    r->valid = 0;
}

/* Copies the caller's matrix on the device to a matrix of this list, which the code can move to the host. */
static kspec_status copy_in(const ks_run *run, const double *from, size_t rows, size_t cols, const char *what,
                            const ks_mat **out, kspec_error *err) {
    ks_device *d = run->device;
    const int on_device = ks_device_has(d, from);
    ks_resident *r;
    kspec_status st = enter(run, on_device ? NULL : from, rows, cols, what, &r, err);
    *out = r ? ks_mat_of(r->host) : NULL;
    if (st || !on_device) return st;
    r->valid = KS_ON_HOST;
    st = ks_device_status(d, d->plugin->get(d->gpu, r->host, from, r->count, 1), what, err);
    if (st) drop(run, ks_mat_of(r->host)), *out = NULL;
    return st;
}

static void release(const ks_run *run, const ks_mat *p) { drop(run, (ks_mat *)p); }

const ks_backend ks_resident_backend = {KS_BACKEND_OF_ADDRESSES, .idle = idle};
