/*
 * Computes the expected errors for a list of p: one sweep for all p >= N, and one computation for each p <
 * N.
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/result.h"
#include "linalg/linalg.h"
#include "team/team.h"
#include "wls/grid.h"

#include <math.h>

kspec_status ks_wls_expect(const ks_run *run, const ks_wls_grid *g, const size_t *p, size_t count, int qr,
                           ks_wls_errors *out, kspec_error *err) {
    ks_wls_place *at = ks_alloc(count, sizeof *at);
    if (!at) return ks_nomem(err, "the list of p", ks_size(count, sizeof *at));
    kspec_status st = KSPEC_OK;
    size_t n = ks_wls_sort(p, count, g->N, KSPEC_WLS_REGIME_OVER, at);
    double share = n == count ? 1 : 0.1;
    ks_run part = ks_run_part(run, 0, share);
    if (n) st = ks_wls_over(&part, g, at, n, out, err);
    if (!st) {
        n = ks_wls_sort(p, count, g->N, KSPEC_WLS_REGIME_UNDER, at);
        part = ks_run_part(run, share, 1);
        if (n) st = ks_wls_under(&part, g, at, n, qr, out, err);
    }
    ks_free(at);
    return st;
}

kspec_status ks_wls_expect_all(const ks_run *run, const ks_wls_grid *g, const size_t *p, size_t count,
                               ks_wls_errors *out, kspec_error *err) {
    kspec_status st = ks_blas_enter(run->threads, err);
    if (st) return st;
    st = ks_wls_expect(run, g, p, count, 1, out, err);
    ks_blas_exit();
    for (size_t i = 0; i < count && !st; i++)
        if (!isfinite(out[i].error_noise_free) || !isfinite(out[i].error_noise) ||
            (!g->no_variance && !isfinite(out[i].variance)))
            st = ks_fail(err, KSPEC_E_NUMERIC,
                         "the error of p = %zu, or its variance, exceeds the largest double", p[i]);
    return st;
}

kspec_status kspec_wls_theory(size_t N, const size_t *p, size_t count, const kspec_wls_opts *opts,
                              kspec_wls_result **out, kspec_error *err) {
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    double start = ks_now();
    ks_wls_grid g;
    ks_run run;
    kspec_wls_result *r = NULL;
    kspec_status st = ks_wls_check(N, p, count, opts, &g, &run, err);
    if (!st) st = ks_wls_result_new(&g, p, count, &r, err);
    ks_wls_errors *e = st ? NULL : ks_alloc(count, sizeof *e);
    if (!st)
        st = e ? ks_wls_expect_all(&run, &g, p, count, e, err)
               : ks_nomem(err, "the errors", ks_size(count, sizeof *e));
    for (size_t i = 0; i < count && !st; i++) ks_wls_point_set(r->points[i], &e[i]);
    ks_free(e);
    st = ks_team_end(run.team, st, err);
    return ks_end(st, r, start, out);
}
