#include "base/error.h"
#include "linalg/linalg.h"
#include "wls/grid.h"

#include <math.h>
#include <string.h>

kspec_status ks_wls_points(const ks_run *run, const kspec_wls_opts *o, const size_t *p, size_t count, int qr,
                           kspec_wls_point *out, kspec_error *err) {
    ks_wls_place *at = ks_alloc(count, sizeof *at);
    if (!at) return ks_nomem(err, "the list of p", ks_size(count, sizeof *at));
    kspec_status st = KSPEC_OK;
    size_t n = ks_wls_sort(p, count, o->N, KSPEC_WLS_OVER, at);
    double share = n == count ? 1 : 0.1;
    ks_run part = ks_run_part(run, 0, share);
    if (n) st = ks_wls_over(&part, o, at, n, out, err);
    if (!st) {
        n = ks_wls_sort(p, count, o->N, KSPEC_WLS_UNDER, at);
        part = ks_run_part(run, share, 1);
        if (n) st = ks_wls_under(&part, o, at, n, qr, out, err);
    }
    ks_free(at);
    return st;
}

kspec_status kspec_wls_theory(const kspec_wls_opts *opts, const size_t *p, size_t count, kspec_wls_point *out,
                              kspec_error *err) {
    ks_clear(err);
    if (count) memset(out, 0, count * sizeof *out);
    kspec_wls_opts o;
    ks_run run;
    kspec_status st = ks_wls_check(opts, p, count, &o, err);
    if (!st) st = ks_run_init(&run, o.threads, o.progress, err);
    if (st) return st;
    ks_blas_enter();
    st = ks_wls_points(&run, &o, p, count, 1, out, err);
    ks_blas_leave();
    for (size_t i = 0; i < count && !st; i++)
        if (!isfinite(out[i].error_noise_free) || !isfinite(out[i].error_noise) ||
            (!o.no_variance && !isfinite(out[i].variance)))
            st = ks_fail(err, KSPEC_E_NUMERIC,
                         "the error of p = %zu, or its variance, exceeds the largest double", p[i]);
    if (st && count) memset(out, 0, count * sizeof *out);
    return st;
}
