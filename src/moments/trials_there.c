#include "moments/trials_there.h"

#include "base/error.h"
#include "device/backend.h"
#include "device/device.h"

#include <math.h>

static int by_rows(const kspec_matrix *m) {
    return m->col_stride == 1 && (m->row_stride == (ptrdiff_t)m->cols || m->rows == 1);
}

static int by_cols(const kspec_matrix *m) {
    return m->row_stride == 1 && (m->col_stride == (ptrdiff_t)m->rows || m->cols == 1);
}

int ks_trials_there_suit(const kspec_matrix *phi, size_t ntrials, const kspec_moments_opts *o) {
    if (ntrials > 2 || o->row_trials || o->row_groups || o->col_groups || o->pairwise || o->center ||
        o->bound)
        return 0;
    if (o->permutations > 1 || o->scheme != KSPEC_TRIALS_SPLIT) return 0;
    for (size_t k = 0; k < ntrials; k++)
        if (!by_rows(&phi[k]) && !by_cols(&phi[k])) return 0;
    return 1;
}

kspec_status ks_trials_there_measure(const ks_run *run, ks_trials *t, double *rms, kspec_error *err) {
    ks_arena arena = {0};
    double *square = ks_arena_alloc(&arena, t->P, sizeof *square), sum = 0;
    kspec_status st = square ? KSPEC_OK : ks_nomem(err, "the scale", arena.failed);
    for (size_t k = 0; k < t->count && !st; k++) { /* which entry is in which row does not matter here */
        const ks_expression e = {
            .m = t->P, .n = t->Q, .alpha = 1, .count = 1, .factor = {{t->phi[k].data, 0, 2}}};
        st = ks_backend_of(run)->expression(run, &e, KS_TILE_ROW_SUMS, square, err);
        for (size_t i = 0; i < t->P && !st; i++) sum += square[i];
    }
    ks_arena_free(&arena);
    *rms = sqrt(sum / ((double)t->count * (double)t->P * (double)t->Q));
    if (st || (*rms > 1e-100 && *rms < 1e100)) return st;
    t->there = 0;
    return KSPEC_E_DATA;
}

kspec_status ks_trials_there_scale(const ks_run *run, ks_trials *t, kspec_error *err) {
    const ks_backend *at = ks_backend_of(run);
    const double scale = ldexp(t->factor, -(t->normalize ? t->normal_exponent : t->exponent));
    kspec_status st = KSPEC_OK;
    for (size_t k = 0; k < t->count && !st; k++) {
        const kspec_matrix *m = &t->phi[k];
        const int turned = !by_rows(m);
        const ks_expression e = {
            .m = t->P, .n = t->Q, .alpha = scale, .count = 1, .factor = {{m->data, turned, 1}}};
        if (scale != 1 || turned) {
            st = at->hold(run, t->P, t->Q, "a copy of the matrix", &t->held[k], err);
            if (!st) st = at->expression(run, &e, KS_TILE_STORE, t->held[k], err);
        }
        ks_device_take(run->device, t->held[k] ? t->held[k] : m->data);
    }
    return st;
}

kspec_status ks_trials_there_mean(const ks_run *run, const ks_trials *t, double **out, kspec_error *err) {
    const ks_backend *at = ks_backend_of(run);
    kspec_status st = at->hold(run, t->P, t->Q, "the mean over trials", out, err);
    for (size_t k = 0; k < t->count && !st; k++) {
        const double *x = t->held[k] ? t->held[k] : t->phi[k].data;
        const ks_expression e = {
            .m = t->P, .n = t->Q, .alpha = 1 / (double)t->count, .count = 1, .factor = {{x, 0, 1}}};
        st = at->expression(run, &e, k ? KS_TILE_ADD : KS_TILE_STORE, *out, err);
    }
    return st;
}

void ks_trials_there_end(const ks_run *run, ks_trials *t) {
    for (size_t k = 0; k < t->count && k < 2 && run->device; k++) {
        ks_device_forget(run->device, t->held[k] ? t->held[k] : t->phi[k].data);
        ks_backend_of(run)->drop(run, t->held[k]);
    }
}
