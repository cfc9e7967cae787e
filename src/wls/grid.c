#include "wls/grid.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>

const char *kspec_wls_regime_name(kspec_wls_regime r) {
    return r == KSPEC_WLS_UNDER ? "under" : r == KSPEC_WLS_OVER ? "over" : NULL;
}

double ks_wls_power(size_t k, double e) { return e == 0 ? 1 : pow(1 + (double)k, e); }

static kspec_status check_exponent(const char *name, double e, int times, const char *of, size_t t,
                                   kspec_error *err) {
    if (!isfinite(e)) return ks_fail(err, KSPEC_E_ARG, "%s %g is not a finite number", name, e);
    /* sums of P such terms are taken, too */
    if (times * fabs(e) * log((double)t) > 650)
        return ks_fail(err, KSPEC_E_ARG,
                       "%s %g is out of range: %s^(%d |%s|) with %s = %zu exceeds the largest double", name,
                       e, of, times, name, of, t);
    return KSPEC_OK;
}

kspec_status ks_wls_check(const kspec_wls_opts *theirs, const size_t *p, size_t count, kspec_wls_opts *ours,
                          kspec_error *err) {
    kspec_status st = ks_take_opts(ours, sizeof *ours, theirs, err);
    if (st) return st;
    size_t largest = ours->N;
    if (ours->N == 0) return ks_fail(err, KSPEC_E_ARG, "grid of N = 0 points is below 1");
    for (size_t i = 0; i < count; i++) {
        if (p[i] == 0) return ks_fail(err, KSPEC_E_ARG, "p = 0 modes to learn is below 1");
        if (ours->P && p[i] > ours->P)
            return ks_fail(err, KSPEC_E_ARG, "p = %zu exceeds the P = %zu modes there are", p[i], ours->P);
        if (p[i] > largest) largest = p[i];
    }
    if (ours->P && ours->P < ours->N)
        return ks_fail(err, KSPEC_E_ARG, "P = %zu modes is below the N = %zu points of the grid", ours->P,
                       ours->N);
    if (!ours->P) ours->P = largest;
    if (ours->P > SIZE_MAX / 1024) return ks_fail(err, KSPEC_E_ARG, "P = %zu modes is too many", ours->P);
    if (!(ours->sigma >= 0 && isfinite(ours->sigma)))
        return ks_fail(err, KSPEC_E_ARG, "noise %g is not a finite number of at least 0", ours->sigma);
    if ((st = check_exponent("alpha", ours->alpha, 4, "N", ours->N, err))) return st;
    if ((st = check_exponent("beta", ours->beta, 4, "P", ours->P, err))) return st;
    return check_exponent("gamma", ours->gamma, 2, "P", ours->P, err);
}

double ks_wls_prior_sum(const kspec_wls_opts *o) {
    double sum = 0;
    for (size_t k = o->P; k-- > 0;)
        sum += ks_wls_power(k, -2 * o->gamma); /* the small ones first if gamma > 0 */
    return sum;
}

static int by_p(const void *a, const void *b) {
    const ks_wls_place *x = a, *y = b;
    return x->p != y->p ? (x->p > y->p) - (x->p < y->p) : (x->index > y->index) - (x->index < y->index);
}

size_t ks_wls_sort(const size_t *p, size_t count, size_t N, kspec_wls_regime which, ks_wls_place *at) {
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if ((p[i] < N) == (which == KSPEC_WLS_UNDER)) at[n++] = (ks_wls_place){p[i], i};
    qsort(at, n, sizeof *at, by_p);
    return n;
}

void ks_wls_weights(const kspec_wls_opts *o, double *w) {
    for (size_t j = 0; j < o->N; j++) w[j] = ks_wls_power(j, -2 * o->alpha);
}
