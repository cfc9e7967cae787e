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
    for (size_t i = 0; i < count; i++) {
        double q = (double)p[i], error = 0;
        for (size_t k = o.P; k-- > 0;)
            error += k < p[i] ? o.sigma * o.sigma * ks_wls_power(k, 2 * zeta)
                              : ks_wls_power(k, -2 * o.gamma) / prior;
        out[i] = (kspec_wls_bound_point){p[i], error,
                                         pow(q, 2 * (zeta - o.alpha)) * noise + pow(q, -2 * o.beta) * signal};
    }
    double e = 1 / (2 * (zeta + o.beta - o.alpha)), ratio = signal / noise;
    if (best) *best = (kspec_wls_bound_best){pow(ratio, e), pow(ratio * o.beta / (zeta - o.alpha), e)};
    return KSPEC_OK;
}
