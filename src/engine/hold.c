/*
 * Counts the memory and the work of executing a plan. A dry execution counts the memory beforehand. The next
 * matrix of the same shape reuses the memory of a released matrix. The total never exceeds the count.
 */
#include "base/error.h"
#include "engine/run.h"

#include <math.h>
#include <string.h>

static double nowhere[1];

static size_t held_bytes(size_t count) {
    return ks_size_add(ks_size(count, sizeof(double)), KS_ALIGN - 1) / KS_ALIGN * KS_ALIGN;
}

static size_t matrix_bytes(const ks_exec_state *x, size_t rows, size_t cols) {
    return held_bytes(x->at->room(x->run, &(ks_room){.rows = rows, .cols = cols}));
}

/* ---- spares ---- */

/* Removes the spare matrix at position `at`. Later spare matrices move up. */
static ks_exec_spare take_spare(ks_exec_state *x, int at) {
    const ks_exec_spare s = x->spare[at];
    x->spare_bytes -= matrix_bytes(x, s.rows, s.cols);
    memmove(x->spare + at, x->spare + at + 1, (size_t)(--x->spares - at) * sizeof *x->spare);
    return s;
}

/* Frees the oldest spare matrices until `bytes` more bytes fit into the counted memory. */
static void make_room(ks_exec_state *x, size_t bytes) {
    while (x->spares && ks_size_add(ks_size_add(x->live, x->spare_bytes), bytes) > x->most)
        x->at->drop(x->run, take_spare(x, 0).x);
}

void ks_exec_end_spares(ks_exec_state *x) {
    while (x->spares) x->at->drop(x->run, take_spare(x, 0).x);
}

/* ---- memory ---- */

/* Counts an allocation. Returns 1 if the caller must really allocate the memory. */
static int count_held(ks_exec_state *x, size_t bytes) {
    if (x->status) return 0;
    x->live = ks_size_add(x->live, bytes);
    if (x->live > x->peak) x->peak = x->live;
    return !x->dry;
}

ks_mat *ks_exec_hold(ks_exec_state *x, size_t rows, size_t cols) {
    ks_mat *p = NULL;
    if (!count_held(x, matrix_bytes(x, rows, cols))) return x->status ? NULL : ks_mat_of(nowhere);
    for (int k = x->spares; k--;)
        if (x->spare[k].rows == rows && x->spare[k].cols == cols) return take_spare(x, k).x;
    make_room(x, 0);
    x->status = x->at->hold(x->run, rows, cols, x->what, &p, x->err);
    return p;
}

void ks_exec_drop(ks_exec_state *x, ks_mat *p, size_t rows, size_t cols) {
    if (!p) return;
    const size_t bytes = matrix_bytes(x, rows, cols);
    x->live -= bytes;
    if (x->dry) return;
    if (x->spares == KS_EXEC_SPARES || ks_size_add(ks_size_add(x->live, x->spare_bytes), bytes) > x->most) {
        x->at->drop(x->run, p);
        return;
    }
    if (x->at->idle) x->at->idle(x->run, p);
    x->spare[x->spares++] = (ks_exec_spare){p, rows, cols};
    x->spare_bytes += bytes;
}

double *ks_exec_hold_vector(ks_exec_state *x, size_t count) {
    if (!count_held(x, held_bytes(count))) return x->status ? NULL : nowhere;
    make_room(x, 0);
    double *p = ks_alloc(count, sizeof *p);
    if (!p) x->status = ks_nomem(x->err, x->what, ks_size(count, sizeof *p));
    return p;
}

void ks_exec_drop_vector(ks_exec_state *x, double *p, size_t count) {
    if (!p) return;
    x->live -= held_bytes(count);
    if (!x->dry) ks_free(p);
}

void ks_exec_room(ks_exec_state *x, const ks_room *of) {
    const size_t bytes = held_bytes(x->at->room(x->run, of)), room = ks_size_add(x->live, bytes);
    if (room > x->peak) x->peak = room;
    make_room(x, bytes);
}

/* ---- work ---- */

int ks_exec_step(ks_exec_state *x, double work, ks_run *part) {
    double before = x->work;
    x->work += work;
    if (x->dry || x->status) return 0;
    *part = ks_run_part(x->run, fmin(before / x->total, 1), fmin(x->work / x->total, 1));
    return 1;
}
