/* Scales and centres one or two trials in GPU memory. */
#include "moments/trials_device.h"

#include "base/center.h"
#include "base/error.h"
#include "device/backend.h"
#include "device/device.h"
#include "device/borrowed.h"

#include <math.h>

int ks_trials_device_suit(size_t ntrials, const kspec_moments_opts *o) {
    if (ntrials > 2 || o->row_trials || o->row_groups || o->col_groups || o->pairwise ||
        ks_centred(o->center) || o->bound)
        return 0;
    return o->permutations <= 1 && o->scheme == KSPEC_TRIALS_SPLIT;
}

/* Sets *out to a row-major copy of alpha m. */
static kspec_status copy(const ks_run *run, const kspec_matrix *m, double alpha, ks_mat **out,
                         kspec_error *err) {
    kspec_status st = ks_backend_of(run)->hold(run, m->rows, m->cols, "a copy of the matrix", out, err);
    return st ? st : ks_borrowed_pack(run, m, alpha, *out, err);
}

/*
 * Writes partial sums of the squared entries to `square`. The total of these numbers is the sum of squares.
 */
static kspec_status squares(const ks_run *run, const kspec_matrix *m, double *square, kspec_error *err) {
    ks_mat *packed = NULL;
    kspec_status st =
        ks_borrowed_by_rows(m) || ks_borrowed_by_cols(m) ? KSPEC_OK : copy(run, m, 1, &packed, err);
    const ks_mat_expression e = {.m = m->rows,
                                 .n = m->cols,
                                 .alpha = 1,
                                 .count = 1,
                                 .factor = {{packed ? packed : ks_mat_of(m->data), 0, 2}}};
    if (!st) st = ks_backend_of(run)->expression(run, &e, KS_TILE_ROW_SUMS, NULL, square, err);
    ks_backend_of(run)->drop(run, packed);
    return st;
}

kspec_status ks_trials_device_measure(const ks_run *run, ks_trials *t, double *rms, kspec_error *err) {
    ks_arena arena = {0};
    double *square = ks_arena_alloc(&arena, t->P, sizeof *square), sum = 0;
    kspec_status st = square ? KSPEC_OK : ks_nomem(err, "the scale", arena.failed);
    for (size_t k = 0; k < t->count && !st; k++) {
        st = squares(run, &t->phi[k], square, err);
        for (size_t i = 0; i < t->P && !st; i++) sum += square[i];
    }
    ks_arena_free(&arena);
    *rms = sqrt(sum / ((double)t->count * (double)t->P * (double)t->Q));
    if (st || (*rms > 1e-100 && *rms < 1e100)) return st;
    return KS_RETRY_ON_HOST;
}

/* Subtracts one row of numbers from every row of X. */
static kspec_status take_row(const ks_run *run, const ks_trials *t, ks_mat *X, const double *row,
                             kspec_error *err) {
    const ks_mat_expression e = {.m = t->P, .n = t->Q, .alpha = -1, .col = row};
    return ks_backend_of(run)->expression(run, &e, KS_TILE_ADD, X, NULL, err);
}

/*
 * Subtracts the mean of each column, computed from differences to the column's first entry. trials.c explains
 * why.
 */
static kspec_status centre(const ks_run *run, const ks_trials *t, ks_mat *X, kspec_error *err) {
    const ks_backend *at = ks_backend_of(run);
    ks_arena arena = {0};
    double *row = ks_arena_alloc(&arena, t->Q, sizeof *row);
    const ks_mat_expression mean = {
        .m = t->P, .n = t->Q, .alpha = 1 / (double)t->P, .count = 1, .factor = {{X, 0, 1}}};
    kspec_status st = row ? at->get(run, row, X, t->Q, 1, err) : ks_nomem(err, "the means", arena.failed);
    if (!st) st = take_row(run, t, X, row, err);
    if (!st) st = at->expression(run, &mean, KS_TILE_COL_SUMS, NULL, row, err);
    if (!st) st = take_row(run, t, X, row, err);
    ks_arena_free(&arena);
    return st;
}

kspec_status ks_trials_device_scale(const ks_run *run, ks_trials *t, kspec_error *err) {
    const double scale = ldexp(t->factor, -(t->normalize ? t->normal_exponent : t->exponent));
    const int centred = ks_rows_centred(t->center);
    kspec_status st = KSPEC_OK;
    for (size_t k = 0; k < t->count && !st; k++) {
        const kspec_matrix *m = &t->phi[k];
        if (scale != 1 || centred || !ks_borrowed_by_rows(m)) st = copy(run, m, scale, &t->held[k], err);
        if (!st && centred) st = centre(run, t, t->held[k], err);
        ks_device_take(run->device, t->held[k] ? ks_mat_address(t->held[k]) : m->data);
    }
    return st;
}

kspec_status ks_trials_device_mean(const ks_run *run, const ks_trials *t, ks_mat **out, kspec_error *err) {
    const ks_backend *at = ks_backend_of(run);
    kspec_status st = at->hold(run, t->P, t->Q, "the mean over trials", out, err);
    for (size_t k = 0; k < t->count && !st; k++) {
        const ks_mat *x = t->held[k] ? t->held[k] : ks_mat_of(t->phi[k].data);
        const ks_mat_expression e = {
            .m = t->P, .n = t->Q, .alpha = 1 / (double)t->count, .count = 1, .factor = {{x, 0, 1}}};
        st = at->expression(run, &e, k ? KS_TILE_ADD : KS_TILE_STORE, *out, NULL, err);
    }
    return st;
}

void ks_trials_device_end(const ks_run *run, ks_trials *t) {
    for (size_t k = 0; k < t->count && k < 2 && run->device; k++) {
        ks_device_forget(run->device, t->held[k] ? ks_mat_address(t->held[k]) : t->phi[k].data);
        ks_backend_of(run)->drop(run, t->held[k]);
    }
}
