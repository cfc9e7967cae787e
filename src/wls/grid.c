/* Checks a problem on the Fourier grid, and allocates its results. */
#include "wls/grid.h"

#include "base/error.h"
#include "base/result.h"

#include <math.h>
#include <stdlib.h>

double ks_wls_power(size_t k, double e) { return e == 0 ? 1 : pow(1 + (double)k, e); }

/* ---- the problem ---- */

static kspec_status check_exponent(const char *name, double e, int times, const char *of, size_t t,
                                   kspec_error *err) {
    if (!isfinite(e)) return ks_fail(err, KSPEC_E_ARG, "%s %g is not a finite number", name, e);
    /* This limit leaves room for sums of P such terms. */
    if (times * fabs(e) * log((double)t) > 650)
        return ks_fail(err, KSPEC_E_ARG,
                       "%s %g is out of range: %s^(%d |%s|) with %s = %zu exceeds the largest double", name,
                       e, of, times, name, of, t);
    return KSPEC_OK;
}

kspec_status ks_wls_check_exponents(const ks_wls_grid *g, kspec_error *err) {
    kspec_status st = check_exponent("alpha", g->alpha, 4, "N", g->N, err);
    if (!st) st = check_exponent("beta", g->beta, 4, "P", g->P, err);
    return st ? st : check_exponent("gamma", g->gamma, 2, "P", g->P, err);
}

/* Checks the list of p, and determines P. */
static kspec_status check_modes(ks_wls_grid *g, const size_t *p, size_t count, kspec_error *err) {
    size_t largest = g->N;
    if (g->N == 0) return ks_fail(err, KSPEC_E_ARG, "the grid has N = 0 points, at least 1 is needed");
    if (count) {
        kspec_status st = ks_check_pointer(err, p, "the list of p");
        if (st) return st;
    }
    for (size_t i = 0; i < count; i++) {
        if (p[i] == 0) return ks_fail(err, KSPEC_E_ARG, "p = 0 is below 1");
        if (g->P && p[i] > g->P)
            return ks_fail(err, KSPEC_E_ARG, "p = %zu exceeds P = %zu, the number of modes", p[i], g->P);
        if (p[i] > largest) largest = p[i];
    }
    if (g->P && g->P < g->N)
        return ks_fail(err, KSPEC_E_ARG, "P = %zu modes is below the N = %zu points of the grid", g->P, g->N);
    if (!g->P) g->P = largest;
    return g->P > SIZE_MAX / 1024 ? ks_fail(err, KSPEC_E_ARG, "P = %zu modes is too many", g->P) : KSPEC_OK;
}

static kspec_status check_spectrum(const ks_wls_grid *g, kspec_error *err) {
    const double *s = g->spectrum;
    if (g->noise > 0)
        return ks_refuse(err, KSPEC_E_ARG, "noise", NULL, "noise %g and a noise spectrum cannot be combined",
                         g->noise);
    for (size_t m = 0; m < g->N; m++) {
        const double mirror = s[(g->N - m) % g->N];
        if (!(s[m] >= 0 && s[m] <= 1e300))
            return ks_refuse(err, KSPEC_E_DATA, "noise_spectrum", NULL,
                             "the noise spectrum has %g at frequency %zu, not a number of at least 0", s[m],
                             m);
        if (!g->complex_noise && !(fabs(s[m] - mirror) <= 1e-10 * fmax(s[m], mirror)))
            return ks_refuse(
                err, KSPEC_E_DATA, "noise_spectrum", NULL,
                "the spectrum of real noise is symmetric, but has %g and %g at frequencies %zu and "
                "%zu",
                s[m], mirror, m, g->N - m);
    }
    return KSPEC_OK;
}

kspec_status ks_wls_check(size_t N, const size_t *p, size_t count, const kspec_wls_opts *opts, ks_wls_grid *g,
                          ks_run *run, kspec_error *err) {
    kspec_wls_opts o;
    kspec_status st = ks_take_opts(&o, sizeof o, opts, err);
    /* If the call fails here, the code that ends the call needs this run. */
    *run = (ks_run){.team = st ? NULL : o.team};
    if (st) return st;
    *g = (ks_wls_grid){.N = N,
                       .P = o.P,
                       .alpha = o.alpha,
                       .beta = o.beta,
                       .gamma = o.gamma,
                       .noise = o.noise,
                       .spectrum = o.noise_spectrum,
                       .complex_noise = o.complex_noise,
                       .complex_data = o.complex_data,
                       .no_variance = o.no_variance,
                       .seed = o.seed};
    if ((st = check_modes(g, p, count, err))) return st;
    if (!(g->noise >= 0 && isfinite(g->noise)))
        return ks_fail(err, KSPEC_E_ARG, "noise %g is not a finite number of at least 0", g->noise);
    if (g->spectrum && (st = check_spectrum(g, err))) return st;
    if ((st = ks_wls_check_exponents(g, err))) return st;
    st = ks_run_init(run, o.threads, o.progress, err);
    run->team = o.team;
    return st;
}

double ks_wls_prior_sum(const ks_wls_grid *g) {
    double sum = 0;
    /* This loop adds the small terms first (for gamma > 0). */
    for (size_t k = g->P; k-- > 0;) sum += ks_wls_power(k, -2 * g->gamma);
    return sum;
}

static int by_p(const void *a, const void *b) {
    const ks_wls_place *x = a, *y = b;
    return x->p != y->p ? (x->p > y->p) - (x->p < y->p) : (x->index > y->index) - (x->index < y->index);
}

size_t ks_wls_sort(const size_t *p, size_t count, size_t N, kspec_wls_regime which, ks_wls_place *at) {
    size_t n = 0;
    for (size_t i = 0; i < count; i++)
        if (ks_wls_regime_of(N, p[i]) == which) at[n++] = (ks_wls_place){p[i], i};
    qsort(at, n, sizeof *at, by_p);
    return n;
}

void ks_wls_weights(const ks_wls_grid *g, double *w) {
    for (size_t j = 0; j < g->N; j++) w[j] = ks_wls_power(j, -2 * g->alpha);
}

/* ---- results ---- */

kspec_status ks_wls_result_new(const ks_wls_grid *g, const size_t *p, size_t count, kspec_wls_result **out,
                               kspec_error *err) {
    size_t bytes = ks_size(count, sizeof(kspec_wls_point) + sizeof(kspec_wls_point *));
    kspec_status st = ks_check_memory(err, bytes, "a result of %zu points", count);
    if (st) return st;
    kspec_wls_result *r = ks_result_new(sizeof *r);
    if (r) r->points = ks_arena_list(ks_result_arena(r), count, sizeof **r->points);
    if (!r || !r->points) {
        kspec_free(r);
        return ks_nomem(err, "the result", bytes);
    }
    r->N = g->N, r->P = g->P, r->count = count;
    for (size_t i = 0; i < count; i++)
        *r->points[i] = (kspec_wls_point){.p = p[i],
                                          .regime = ks_wls_regime_of(g->N, p[i]),
                                          .alpha = g->alpha,
                                          .beta = g->beta,
                                          .error = NAN,
                                          .error_noise_free = NAN,
                                          .error_noise = NAN,
                                          .variance = NAN,
                                          .error_se = NAN,
                                          .error_noise_free_se = NAN,
                                          .error_noise_se = NAN,
                                          .variance_se = NAN,
                                          .accuracy = NAN};
    *out = r;
    return KSPEC_OK;
}

void ks_wls_point_set(kspec_wls_point *point, const ks_wls_errors *e) {
    point->error = e->error_noise_free + e->error_noise;
    point->error_noise_free = e->error_noise_free;
    point->error_noise = e->error_noise;
    point->variance = e->variance;
    point->accuracy = e->accuracy;
}
