/* Theorem 5.1: features that smooth. Below p, t_k <= p; from p on, t_k > p: each sum is bounded term by term. */
#include "base/error.h"
#include "wls/grid.h"

#include <math.h>
#include <string.h>

kspec_status kspec_wls_bound(const kspec_wls_opts *opts, double zeta, const size_t *p, size_t count,
                             kspec_wls_bound_point *out, kspec_wls_bound_best *best, kspec_error *err) {
    ks_clear(err);
    if (count) memset(out, 0, count * sizeof *out);
    if (best) memset(best, 0, sizeof *best);
    kspec_wls_opts o;
    kspec_status st = ks_wls_check(opts, p, count, &o, err);
    if (st) return st;
    if (!(o.alpha >= 0)) return ks_fail(err, KSPEC_E_ARG, "alpha %g is below 0", o.alpha);
    if (!(o.beta > 0)) return ks_fail(err, KSPEC_E_ARG, "beta %g is not above 0", o.beta);
    if (!(zeta > o.alpha) || !(2 * zeta * log((double)o.P) < 650))
        return ks_fail(err, KSPEC_E_ARG,
                       "zeta %g is not above alpha %g, or P^(2 zeta) exceeds the largest double", zeta,
                       o.alpha);
    for (size_t i = 0; i < count; i++)
        if (p[i] > o.N)
            return ks_fail(err, KSPEC_E_ARG, "p = %zu exceeds the N = %zu data there are", p[i], o.N);
    double prior = ks_wls_prior_sum(&o), noise = 0, signal = 0;
    for (size_t k = o.N; k-- > 0;) noise += o.sigma * o.sigma * ks_wls_power(k, 2 * o.alpha);
    for (size_t k = o.P; k-- > 0;) signal += ks_wls_power(k, 2 * (o.beta - o.gamma)) / prior;
    if (!isfinite(signal) || !isfinite(noise))
        return ks_fail(err, KSPEC_E_NUMERIC, "the weighted norms exceed the largest double");
    ks_wls_place *at = ks_alloc(count, sizeof *at);
    if (!at) return ks_nomem(err, "the list of p", ks_size(count, sizeof *at));
    ks_wls_sort(p, count, SIZE_MAX, KSPEC_WLS_UNDER, at);
    double below = 0, above = 0; /* of the error: the noise in what is inverted, and what is not inverted */
    for (size_t k = 0, i = 0; i < count; k++) {
        for (; i < count && at[i].p == k; i++) {
            double q = (double)k;
            out[at[i].index] = (kspec_wls_bound_point){
                k, below, pow(q, 2 * (zeta - o.alpha)) * noise + pow(q, -2 * o.beta) * signal};
        }
        below += o.sigma * o.sigma * ks_wls_power(k, 2 * zeta);
    }
    for (size_t k = o.P, i = count; i > 0; k--) {
        for (; i > 0 && at[i - 1].p == k; i--) out[at[i - 1].index].error += above;
        if (k > 0) above += ks_wls_power(k - 1, -2 * o.gamma) / prior;
    }
    ks_free(at);
    double e = 1 / (2 * (zeta + o.beta - o.alpha)), ratio = signal / noise;
    if (best) *best = (kspec_wls_bound_best){pow(ratio, e), pow(ratio * o.beta / (zeta - o.alpha), e)};
    return KSPEC_OK;
}
