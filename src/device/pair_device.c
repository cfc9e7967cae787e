/* Transposes a pair of matrices on the run's device, or copies it to the host. */
#include "device/pair_device.h"

#include "base/error.h"
#include "device/device.h"

/* Computes X^T (Q x P) on the device, and registers it as a matrix on the device. */
static kspec_status turn_on_device(const ks_run *run, const double *X, size_t P, size_t Q, ks_mat **to,
                                   kspec_error *err) {
    const ks_backend *at = ks_backend_of(run);
    const ks_mat *from;
    kspec_status st = at->copy_in(run, X, P, Q, "the transposed matrix", &from, err);
    if (st) return st;
    st = at->hold(run, Q, P, "the transposed matrix", to, err);
    const ks_mat_expression e = {.m = Q, .n = P, .alpha = 1, .count = 1, .factor = {{from, 1, 1}}};
    if (!st) st = at->expression(run, &e, KS_TILE_STORE, *to, NULL, err);
    at->release(run, from);
    if (!st) ks_device_take(run->device, ks_mat_address(*to));
    return st;
}

kspec_status ks_turn(const ks_run *run, const ks_pair *p, ks_moved *to, kspec_error *err) {
    *to = (ks_moved){0};
    if (!run->device) return ks_pair_transpose(p, &to->p, &to->arena, err);
    kspec_status st = turn_on_device(run, p->A, p->P, p->Q, &to->held[0], err);
    if (!st && p->B != p->A) st = turn_on_device(run, p->B, p->P, p->Q, &to->held[1], err);
    to->p =
        (ks_pair){ks_mat_address(to->held[0]), ks_mat_address(to->held[p->B != p->A]), p->Q, p->P, p->nmax};
    return st;
}

static kspec_status fetch(const ks_run *run, const double *X, size_t count, ks_arena *arena,
                          const double **out, kspec_error *err) {
    double *to = ks_arena_alloc(arena, count, sizeof *to);
    *out = to;
    if (!to) return ks_nomem(err, "a copy of the matrix", arena->failed);
    return ks_backend_of(run)->get(run, to, ks_mat_of(X), count, 1, err);
}

kspec_status ks_to_host(const ks_run *run, const ks_pair *p, ks_moved *to, kspec_error *err) {
    *to = (ks_moved){.p = *p};
    if (!ks_device_has(run->device, p->A)) return KSPEC_OK;
    kspec_status st = fetch(run, p->A, ks_size(p->P, p->Q), &to->arena, &to->p.A, err);
    to->p.B = to->p.A;
    if (!st && p->B != p->A) st = fetch(run, p->B, ks_size(p->P, p->Q), &to->arena, &to->p.B, err);
    return st;
}

void ks_moved_end(const ks_run *run, ks_moved *m) {
    for (int k = 0; k < 2; k++)
        if (m->held[k]) {
            ks_device_forget(run->device, ks_mat_address(m->held[k]));
            ks_backend_of(run)->drop(run, m->held[k]);
        }
    ks_arena_free(&m->arena);
}

ks_run ks_run_near(const ks_run *run, const double *X) {
    ks_run near = *run;
    if (!ks_device_has(run->device, X)) near.device = NULL;
    return near;
}
