/* Computes the expected errors for N <= p <= P. For each k < N, the modes k, k+N, k+2N, ... are identical
 * on the grid and form a class. The fit divides a class's data among its learned modes: each gets the
 * share r = t^(-2 beta)/s, where s is the sum of t^(-2 beta) over the learned modes. With f = sum r^2 and
 * k_m = t_m^(-2 gamma), the class adds to the noise-free error c sum_m k_m (1 + f - 2 r_m) over all modes
 * m of the class, r_m = 0 where m is not learned. Each class increases the error caused by noise by f
 * noise^2/N. The term of the first mode is written without cancellation: 1 + f - 2 r is ((s-a)^2 + u -
 * a^2)/s^2, where a is the mode's t^(-2 beta) and u the sum of t^(-4 beta). The step from p to p+1
 * changes one class, so one sweep from N upwards gives the errors for every p. */
#include "base/error.h"
#include "wls/grid.h"

#include <math.h>

typedef struct {
    /* Adds by Neumaier's summation, because the sweep subtracts terms again P times. */
    double sum, low;
} total;

static void add(total *t, double x) {
    double sum = t->sum + x;
    t->low += fabs(t->sum) >= fabs(x) ? t->sum - sum + x : x - sum + t->sum;
    t->sum = sum;
}

typedef struct {
    /* for the first mode of each class: t^(-2 beta) and t^(-2 gamma) */
    double *a, *k;
    /*
     * for each class, sums over its later learned modes: of t^(-2 beta), of t^(-4 beta), and of t^(-2 beta
     * - 2 gamma)
     */
    double *s, *u, *v;
    /* the sum of t^(-2 gamma) over all later modes */
    double *K;
    double *f;
    const ks_wls_grid *g;
    size_t N;
    total error, noise, real, circular;
} classes;

static double class_f(const classes *c, size_t k) {
    double s = c->a[k] + c->s[k];
    return (c->a[k] * c->a[k] + c->u[k]) / (s * s);
}

/* Adds the terms of class k to the totals (sign 1), or subtracts them (sign -1). */
static void count_class(classes *c, size_t k, double sign) {
    size_t mirror = (c->N - k) % c->N;
    double s = c->a[k] + c->s[k], f = c->f[k], level = ks_wls_noise(c->g, k);
    double mean = level * (f + c->f[mirror]) / 2;
    add(&c->error,
        sign * (c->k[k] * (c->s[k] * c->s[k] + c->u[k]) / (s * s) + c->K[k] * (1 + f) - 2 * c->v[k] / s));
    add(&c->noise, sign * f * level);
    add(&c->circular, sign * f * level * f * level);
    /* Re G is sum_k (f_k + f_-k)/2 cos(...)/N, because each class is paired with its mirror image. */
    add(&c->real, sign * mean * mean * (mirror == k ? 1 : 2));
}

static ks_wls_errors errors(const ks_wls_grid *g, const classes *c, double prior) {
    double N = (double)g->N;
    const total *v = g->complex_noise ? &c->circular : &c->real;
    double variance = (g->complex_noise ? 1 : 2) / (N * N) * (v->sum + v->low);
    return (ks_wls_errors){.error_noise_free = (c->error.sum + c->error.low) / prior,
                           .error_noise = (c->noise.sum + c->noise.low) / N,
                           .variance = g->no_variance ? NAN : variance,
                           .accuracy = 2.3e-16};
}

kspec_status ks_wls_over(const ks_run *run, const ks_wls_grid *g, const ks_wls_place *at, size_t count,
                         ks_wls_errors *out, kspec_error *err) {
    size_t N = g->N, P = g->P, last = at[count - 1].p;
    ks_arena arena = {0};
    classes c = {.N = N, .g = g};
    double **arrays[] = {&c.a, &c.k, &c.s, &c.u, &c.v, &c.K, &c.f};
    kspec_status st = ks_check_memory(err, ks_size(N, sizeof arrays / sizeof *arrays * sizeof(double)),
                                      "the sums over aliases");
    if (st) return st;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = ks_arena_zalloc(&arena, N, sizeof(double));
    if (arena.failed) st = ks_nomem(err, "the sums over aliases", arena.failed);
    for (size_t k = P; k-- > N && !st;) {
        c.K[k % N] += ks_wls_power(k, -2 * g->gamma);
        if (k % (1 << 20) == 0 && ks_run_report(run, 0.5 * (1 - (double)k / (double)P)))
            st = ks_fail(err, KSPEC_E_CANCELLED, "cancelled");
    }
    double prior = 0;
    for (size_t k = N; k-- > 0 && !st;) {
        c.a[k] = ks_wls_power(k, -2 * g->beta);
        c.k[k] = ks_wls_power(k, -2 * g->gamma);
        prior += c.K[k] + c.k[k];
        c.f[k] = 1;
    }
    /* For p = N, each class has one learned mode, and f = 1. */
    for (size_t k = 0; k < N && !st; k++) add(&c.error, 2 * c.K[k]);
    for (size_t k = 0; k < N && !st; k++) {
        const double level = ks_wls_noise(g, k);
        add(&c.noise, level), add(&c.real, level * level), add(&c.circular, level * level);
    }
    for (size_t q = N, i = 0; q <= last && !st; q++) {
        for (; i < count && at[i].p == q; i++) out[at[i].index] = errors(g, &c, prior);
        size_t k = q % N;
        double b = ks_wls_power(q, -2 * g->beta);
        count_class(&c, k, -1);
        c.s[k] += b;
        c.u[k] += b * b;
        c.v[k] += b * ks_wls_power(q, -2 * g->gamma);
        c.f[k] = class_f(&c, k);
        count_class(&c, k, 1);
        if (q % (1 << 18) == 0 && ks_run_report(run, 0.5 + 0.5 * (double)(q - N) / (double)(last - N + 1)))
            st = ks_fail(err, KSPEC_E_CANCELLED, "cancelled");
    }
    ks_arena_free(&arena);
    return st;
}
