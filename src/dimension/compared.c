/*
 * Computes the input of a comparison for one matrix: estimates from the matrix, estimates from its quarters,
 * and sums for a null test.
 */
#include "dimension/compared.h"

#include "base/center.h"
#include "base/error.h"
#include "moments/trials_device.h"

#include <math.h>

/* ---- quarters ---- */

/*
 * Opens a quarter of the matrix: every second row from `row` on, and every second column from `col` on, of
 * each trial. A complete side is not a sample, so a quarter contains the whole side.
 */
static kspec_status open_quarter(const ks_run *run, const ks_measured *m, size_t row, size_t col,
                                 ks_measured *out, ks_arena *arena, kspec_error *err) {
    const ks_trials *t = &m->trials;
    kspec_matrix *phi = ks_arena_alloc(arena, t->count, sizeof *phi);
    size_t *row_trials = t->row_trials ? ks_arena_alloc(arena, t->P, sizeof *row_trials) : NULL, missing;
    if (arena->failed) return ks_nomem(err, "a quarter of the matrix", arena->failed);
    const size_t down = m->population[0] > (double)t->P ? 2 : 1,
                 right = m->population[1] > (double)t->Q ? 2 : 1;
    row = down == 1 ? 0 : row, col = right == 1 ? 0 : col;
    for (size_t k = 0; k < t->count; k++) {
        const kspec_matrix *x = &t->phi[k];
        phi[k] = (kspec_matrix){x->data + (ptrdiff_t)row * x->row_stride + (ptrdiff_t)col * x->col_stride,
                                (x->rows - row + down - 1) / down, (x->cols - col + right - 1) / right,
                                (ptrdiff_t)down * x->row_stride, (ptrdiff_t)right * x->col_stride};
    }
    for (size_t i = 0; i < phi->rows && row_trials; i++) row_trials[i] = t->row_trials[row + down * i];
    const ks_dependence how = {.population = m->population, .on_device = t->on_device ? run : NULL};
    kspec_status st = ks_measured_open_dependent(out, phi, t->count, row_trials, &how, ks_centred(t->center),
                                                 "a quarter", &missing, arena, err);
    out->standardized = m->standardized;
    out->ratio_unused = 1;
    return st;
}

/* Is the matrix large enough for quarters? */
static int has_quarters(const ks_measured *m) {
    const ks_trials *t = &m->trials;
    const int rows = m->population[0] > (double)t->P, cols = m->population[1] > (double)t->Q;
    return !m->rows.of && !(rows && t->P < (ks_centred(t->center) ? 10 : 6)) && !(cols && t->Q < 6);
}

static kspec_status make_quarters(const ks_run *run, const ks_measured *m, const kspec_compare_opts *o,
                                  ks_compared *out, ks_arena *arena, kspec_error *err) {
    kspec_status st = KSPEC_OK;
    if (!has_quarters(m)) return KSPEC_OK;
    out->quarter = ks_arena_alloc(arena, KS_QUARTERS, sizeof *out->quarter);
    if (!out->quarter) return ks_nomem(err, "the quarters of the matrix", arena->failed);
    for (int q = 0; q < KS_QUARTERS && !st; q++) {
        ks_measured part = {.trials.count = 0};
        ks_arena scratch = {0};
        const ks_run each = ks_run_part(run, q / (double)KS_QUARTERS, (q + 1) / (double)KS_QUARTERS);
        st = open_quarter(&each, m, (size_t)q / 2, (size_t)q % 2, &part, &scratch, err);
        if (!st) st = ks_second_make(&each, &part, o->splits, o->seed, &out->quarter[q], arena, err);
        if (part.trials.on_device) ks_trials_device_end(&each, &part.trials);
        ks_arena_free(&scratch);
    }
    return st;
}

/* ---- null test ---- */

static kspec_status make_shape(const ks_run *run, ks_measured *m, const kspec_compare_opts *o,
                               ks_compared *out, kspec_error *err) {
    if (o->paired != KSPEC_PAIRED_ROWS || !ks_centred(o->center) || isfinite(m->population[0]) || m->rows.of)
        return KSPEC_OK;
    const ks_pair p = ks_measured_pair(m, o->seed, 0);
    ks_run near = *run;
    if (!m->trials.on_device) near.device = NULL;
    return ks_shape_make(&near, p.A, p.B, p.P, p.Q, o->seed, &out->shape, err);
}

kspec_status ks_compared_make(const ks_run *run, ks_measured *m, const kspec_compare_opts *o,
                              const ks_checked *data, const char *what, ks_compared *out, ks_arena *arena,
                              kspec_error *err) {
    const ks_run whole = ks_run_part(run, 0, 0.45), quarters = ks_run_part(run, 0.45, 0.9),
                 rest = ks_run_part(run, 0.9, 1);
    *out = (ks_compared){.quarter = NULL};
    kspec_status st = ks_second_make(&whole, m, o->splits, o->seed, &out->second, arena, err);
    if (!st) st = ks_second_check(&out->second, what, err);
    if (st && data) st = ks_check_blame(st, data, err);
    if (!st) st = make_quarters(&quarters, m, o, out, arena, err);
    return st ? st : make_shape(&rest, m, o, out, err);
}
