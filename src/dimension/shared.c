/* Estimates the shared dimension of two matrices by expressions (einsum/). */
#include "dimension/shared.h"

#include "base/center.h"
#include "base/doubt.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/result.h"
#include "einsum/unbiased.h"
#include "moments/jackknife.h"

#include <math.h>
#include <stdio.h>

/*
 * The first expression is (tr Sxy Syx)^2, which needs two cycles. The second expression is tr (Sxy Syx)^2,
 * which needs one cycle of x, y, y, x, .... With trials, the two entries at each row and at each column come
 * from different halves, x from one half and y from the other.
 */
static const char *const plain[2] = {"X[i,a] Y[i,b] Y[j,b] X[j,a] X[k,c] Y[k,d] Y[l,d] X[l,c]",
                                     "X[i,a] Y[i,b] Y[j,b] X[j,c] X[k,c] Y[k,d] Y[l,d] X[l,a]"};

/* Writes the expression with the names of halves, X1, Y2, Y1, X2, X1, ..., for matrices with trials. */
static void name_halves(const char *text, const int halves[2], char *out, size_t size) {
    static const char order[] = "12121212"; /* halves in order */
    size_t used = 0;
    int factor = 0;
    for (const char *at = text; *at && used + 2 < size; at++) {
        out[used++] = *at;
        if (*at != 'X' && *at != 'Y') continue;
        if (halves[*at == 'Y']) out[used++] = order[factor];
        factor++;
    }
    out[used] = 0;
}

/* Computes the ratio of two estimates, also without each row and each column of both matrices. */
static kspec_status ratio(const kspec_unbiased_result *square, const kspec_unbiased_result *second,
                          kspec_compare_result *r, kspec_error *err) {
    ks_arena arena = {0};
    const double *values[3];
    size_t size[3], all = 0;
    double share[3];
    ks_sides of = {values, size, share, 0, 0};
    kspec_status st = KSPEC_OK;
    if (!(square->value > 0 && second->value > 0)) return KSPEC_OK;
    r->shared_dimension = square->value / second->value;
    for (size_t k = 0; k < square->axis_count && k < 3; k++) {
        const kspec_unbiased_axis *a = square->axes[k], *b = second->axes[k];
        if (!a->without || !b->without) continue;
        double *x = ks_arena_alloc(&arena, a->size, sizeof *x);
        for (size_t i = 0; x && i < a->size; i++) x[i] = a->without[i] / b->without[i];
        values[of.count] = x, size[of.count] = a->size, all += a->size;
        share[of.count++] = isfinite(a->population) ? 1 - (double)a->size / a->population : 1;
    }
    double *room = ks_arena_alloc(&arena, all, sizeof *room);
    if (arena.failed) st = ks_nomem(err, "the jackknife", arena.failed);
    if (!st && of.count) {
        ks_error_bar bar;
        ks_jackknife_sides(r->shared_dimension, 1, &of, room, &bar);
        r->shared_dimension_std_error = bar.std_error;
        r->shared_dimension_ci_low = bar.low, r->shared_dimension_ci_high = bar.high;
    }
    ks_arena_free(&arena);
    return st;
}

/* Is the shared dimension defined for these sizes and options? */
static int defined(const kspec_compare_opts *o, const kspec_matrix *phi, const kspec_matrix *psi) {
    const size_t P = phi->rows, needed = ks_centred(o->center) ? 9 : 5;
    if (o->no_shared || o->paired != KSPEC_PAIRED_ROWS) return 0;
    if (o->row_groups || o->block || o->row_trials || o->other_row_trials) return 0;
    if (o->sampled == KSPEC_SAMPLED_COLS || o->population_rows || o->population_cols) return 0;
    return P >= needed && phi->cols >= 3 && psi->cols >= 3;
}

/*
 * Do the matrices need more than `most` multiply-adds? Every plan computes at least X^T Y, or both Gram
 * matrices of rows.
 */
static int too_large(const kspec_matrix *phi, const kspec_matrix *psi, double most) {
    const double P = (double)phi->rows, Q = (double)phi->cols, R = (double)psi->cols;
    return fmin(P * Q * R, P * P * (Q + R) / 2) > most;
}

int ks_shared_small(const kspec_compare_opts *o, const kspec_matrix *phi, const kspec_matrix *psi,
                    double most) {
    return defined(o, phi, psi) && !too_large(phi, psi, most);
}

kspec_status ks_shared_make(const kspec_compare_opts *o, const kspec_matrix *phi, size_t ntrials,
                            const kspec_matrix *psi, size_t other_ntrials, double most,
                            kspec_compare_result *r, kspec_error *err) {
    const kspec_operand of[2] = {{"X", phi, ntrials}, {"Y", psi, other_ntrials}};
    const int halves[2] = {ntrials > 1, other_ntrials > 1};
    kspec_unbiased_result *made[2] = {NULL, NULL};
    r->shared_dimension = r->shared_dimension_std_error = NAN;
    r->shared_dimension_ci_low = r->shared_dimension_ci_high = NAN;
    if (!defined(o, phi, psi)) return KSPEC_OK;
    char text[2][120], both[250];
    for (int k = 0; k < 2; k++) name_halves(plain[k], halves, text[k], sizeof text[k]);
    snprintf(both, sizeof both, "%s; %s", text[0], text[1]);
    const kspec_unbiased_opts opts = {.size = sizeof opts,
                                      .center = ks_centred(o->center) ? "rows" : NULL,
                                      .complete = o->sampled == KSPEC_SAMPLED_ROWS ? "cols" : NULL,
                                      .splits = o->splits,
                                      .seed = o->seed,
                                      .threads = o->threads,
                                      .device = KSPEC_DEVICE_CPU, /* at most 1 second */
                                      .most = most};
    const int skipped = too_large(phi, psi, most);
    kspec_status st = skipped ? KSPEC_OK : ks_unbiased(both, 2, of, 2, &opts, made, err);
    /* The comparison does not fail if a plan is too large, or if eighth powers overflow. */
    const int large = skipped || st == KSPEC_E_ARG || (made[0] && isnan(made[0]->value));
    if (st == KSPEC_E_ARG || st == KSPEC_E_NUMERIC) {
        ks_clear(err);
        st = KSPEC_OK;
    }
    if (large)
        ks_doubt_left_out(KS_DOUBTS(r), "the shared dimension; unbiased einsums of its two sums give it",
                          NULL, NULL);
    else if (!st && made[0] && made[1])
        st = ratio(made[0], made[1], r, err);
    for (int k = 0; k < 2; k++) kspec_free(made[k]);
    if (!st && ks_result_arena(r)->failed)
        st = ks_nomem(err, "the list of doubts", ks_result_arena(r)->failed);
    return st;
}
