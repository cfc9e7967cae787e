#include "spectrum/family.h"

#include "base/error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the unknowns ---- */

/* Fills positions and weights, or counts the nodes alone where they are NULL. */
static size_t place_nodes(size_t K, size_t end, double *position, double *weight) {
    size_t n = 0, a = 0;
    for (; a < end; n++) {
        size_t b = a + 1;
        if (a >= K) {
            size_t wider = (size_t)nearbyint((double)a * KS_NODE_RATIO);
            b = wider > b ? wider : b;
            if (b > end) b = end;
        }
        if (position) {
            position[n] = 0.5 * (double)(a + 1 + b);
            weight[n] = (double)(b - a);
        }
        a = b;
    }
    return n;
}

static void fill_coordinates(ks_problem *p) {
    size_t K = p->o->K;
    for (size_t c = 0; c < KS_COORDINATE_COUNT; c++) {
        double power = KS_COORDINATES[c], *u = p->u[c];
        for (size_t l = 0; l < p->n; l++)
            u[l] = power > 0 ? pow(p->position[l] - 0.5, power) : log(p->position[l]);
        double first = u[0], range = fmax(u[K - 1] - u[0], 1e-9);
        for (size_t l = 0; l < p->n; l++) u[l] = (u[l] - first) / range;
    }
    for (size_t k = 0; k < p->n; k++)
        for (size_t l = 0; l < p->n; l++)
            p->rough[k * p->n + l] = exp(-fabs(log(p->position[k] / p->position[l])) / KS_ROUGHNESS_LENGTH);
}

kspec_status ks_problem_init(ks_problem *p, const ks_observed *o, double noise, const ks_simd *simd,
                             ks_arena *arena, kspec_error *err) {
    const ks_decomposition *d = &o->x->d;
    double shorter = fmin(d->rows, d->cols);
    size_t K = o->K, end = d->n, half = (size_t)(0.5 * shorter);
    if (!o->x->low_rank) end = (size_t)fmax(KS_EXTENT * shorter, (double)(K + 5));
    size_t n = place_nodes(K, end, NULL, NULL);
    *p = (ks_problem){.o = o, .simd = simd, .n = n};
    p->position = ks_arena_alloc(arena, n, sizeof(double));
    p->weight = ks_arena_zalloc(arena, ks_padded(n), sizeof(double));
    p->rough = ks_arena_alloc(arena, ks_size(n, n), sizeof(double));
    for (size_t c = 0; c < KS_COORDINATE_COUNT; c++) p->u[c] = ks_arena_alloc(arena, n, sizeof(double));
    if (arena->failed) return ks_nomem(err, "the nodes of the fit", arena->failed);
    place_nodes(K, end, p->position, p->weight);
    p->total = (double)end;
    fill_coordinates(p);
    double low = 0;
    for (size_t k = half; k < d->n; k++) low += d->s[k];
    if (noise > 0) {
        p->dust = 1;
        p->dust_mean = log(noise);
        p->dust_variance = KS_NOISE_GIVEN_SD * KS_NOISE_GIVEN_SD;
    } else if (isnan(noise) && !o->x->low_rank && low > 1e-7 * o->trace) {
        p->dust = 1;
        p->dust_mean = log(low) + KS_NOISE_MEAN;
        p->dust_variance = KS_NOISE_SD * KS_NOISE_SD;
    }
    p->N = n + (size_t)p->dust;
    p->level = log(fmax(o->trace - (noise > 0 ? noise : 0), 1e-3 * o->trace)) - 2;
    return KSPEC_OK;
}

void ks_problem_start(const ks_problem *p, double *theta) {
    const ks_observed *o = p->o;
    size_t K = o->K;
    double all = 0, beyond = 0;
    for (size_t l = 0; l < o->x->d.n; l++) {
        all += o->pilot[l];
        if (l >= K) beyond += o->pilot[l];
    }
    for (size_t l = 0; l < K; l++) theta[l] = log(fmax(o->pilot[l], 1e-9 * o->pilot[0]));
    double fall = fmax(o->pilot[K - 1], 0) / fmax(beyond, 1e-3 * all);
    for (size_t l = K; l < p->n; l++)
        theta[l] = fmax(theta[K - 1] - fall * (p->position[l] - p->position[K - 1]), theta[0] - 15);
    if (p->dust) theta[p->n] = p->dust_mean;
}

ks_spectrum ks_problem_spectrum(const ks_problem *p, const double *theta, double *lambda) {
    for (size_t l = 0; l < p->n; l++) lambda[l] = exp(theta[l]);
    for (size_t l = p->n; l < ks_padded(p->n); l++) lambda[l] = 1;
    return (ks_spectrum){p->n,
                         lambda,
                         p->weight,
                         p->o->K,
                         p->total,
                         p->dust ? exp(theta[p->n]) : 0,
                         p->o->x->d.rows,
                         p->o->x->d.cols,
                         p->simd};
}

/* ---- the families ---- */

/* S += variance h h^T for a function h of the node */
static void add_term(const ks_problem *p, double variance, const double *h, double *S) {
    for (size_t k = 0; k < p->n; k++)
        for (size_t l = 0; l < p->n; l++) S[k * p->N + l] += variance * h[k] * h[l];
}

/* A line, integrated Brownian motion and a short-range term in u, with a step and a kink at each break. */
static void smooth_prior(const ks_problem *p, const ks_family *f, double *S, double *mu, double *h) {
    const double *u = p->u[f->c];
    double brown = f->curvature * f->curvature / 6, rough = f->roughness * f->roughness;
    for (size_t k = 0; k < p->n; k++) {
        for (size_t l = 0; l < p->n; l++) {
            double a = fmin(u[k], u[l]), b = fmax(u[k], u[l]);
            S[k * p->N + l] = KS_LEVEL_SD * KS_LEVEL_SD + KS_SLOPE_SD * KS_SLOPE_SD * u[k] * u[l] +
                              brown * a * a * (3 * b - a) + rough * p->rough[k * p->n + l];
        }
        mu[k] = p->level + KS_SLOPE * u[k];
    }
    for (size_t i = 0; i < f->breaks; i++) {
        for (size_t k = 0; k < p->n; k++) h[k] = k > f->at[i];
        add_term(p, KS_STEP_SD * KS_STEP_SD, h, S);
        for (size_t k = 0; k < p->n; k++) h[k] = fmax(u[k] - u[f->at[i]], 0);
        add_term(p, KS_KINK_SD * KS_KINK_SD, h, S);
    }
}

/* Constant between steps up to K; beyond, another step and a line in log i. */
static void flat_prior(const ks_problem *p, const ks_family *f, double *S, double *mu, double *h) {
    const double *u = p->u[0];
    size_t K = p->o->K;
    for (size_t k = 0; k < p->n; k++) {
        for (size_t l = 0; l < p->n; l++)
            S[k * p->N + l] = KS_LEVEL_SD * KS_LEVEL_SD + (k == l) * KS_FLAT_JITTER;
        mu[k] = p->level + KS_BEYOND_SLOPE * fmax(u[k] - u[K - 1], 0);
    }
    for (size_t i = 0; i < f->breaks; i++) {
        for (size_t k = 0; k < p->n; k++) h[k] = k > f->at[i];
        add_term(p, KS_STEP_SD * KS_STEP_SD, h, S);
    }
    for (size_t k = 0; k < p->n; k++) h[k] = k >= K;
    add_term(p, KS_BEYOND_SD * KS_BEYOND_SD, h, S);
    for (size_t k = 0; k < p->n; k++) h[k] = fmax(u[k] - u[K - 1], 0);
    add_term(p, KS_BEYOND_SD * KS_BEYOND_SD, h, S);
}

void ks_family_prior(const ks_problem *p, const ks_family *f, double *S, double *mu) {
    double *h = mu + p->N;
    (f->flat ? flat_prior : smooth_prior)(p, f, S, mu, h);
    if (!p->dust) return;
    size_t n = p->n;
    for (size_t k = 0; k < n; k++) S[k * p->N + n] = S[n * p->N + k] = 0;
    S[n * p->N + n] = p->dust_variance;
    mu[n] = p->dust_mean;
}

void ks_family_name(const ks_family *f, size_t size, char *name) {
    int used;
    double c = KS_COORDINATES[f->c];
    if (f->flat)
        used = snprintf(name, size, f->breaks ? "constant but for steps" : "constant");
    else if (c > 0 && c < 1)
        used = snprintf(name, size, "smooth in i^%g", c);
    else
        used = snprintf(name, size, "smooth in %s", c > 0 ? "i" : "log i");
    for (size_t i = 0; i < f->breaks && (size_t)used < size; i++)
        used += snprintf(name + used, size - (size_t)used,
                         i         ? ", %zu"
                         : f->flat ? " after %zu"
                                   : ", broken after %zu",
                         f->at[i] + 1);
}

/* ---- segmentation ---- */

size_t ks_segment(size_t n, const double *y, const double *w, size_t most, double *scratch,
                  size_t cut[][KS_STEPS_MAX]) {
    /*
     * sums of w, w y and w y^2 before each place; least cost of k pieces up to b, and where the last begins
     */
    double *W = scratch, *Y = W + n + 1, *YY = Y + n + 1, *cost = YY + n + 1,
           *from = cost + (most + 1) * (n + 1);
    W[0] = Y[0] = YY[0] = 0;
    for (size_t i = 0; i < n; i++) {
        W[i + 1] = W[i] + w[i];
        Y[i + 1] = Y[i] + w[i] * y[i];
        YY[i + 1] = YY[i] + w[i] * y[i] * y[i];
    }
    if (most > n) most = n;
    for (size_t b = 0; b <= n; b++) cost[b] = b ? INFINITY : 0;
    for (size_t k = 1; k <= most; k++)
        for (size_t b = 0; b <= n; b++) {
            double *best = &cost[k * (n + 1) + b];
            *best = INFINITY;
            for (size_t a = k - 1; a < b; a++) {
                double sum = Y[b] - Y[a],
                       c = cost[(k - 1) * (n + 1) + a] + YY[b] - YY[a] - sum * sum / (W[b] - W[a]);
                if (c < *best) *best = c, from[k * (n + 1) + b] = (double)a;
            }
        }
    for (size_t k = 1; k <= most; k++) {
        size_t b = n;
        for (size_t piece = k; piece > 1; piece--) {
            b = (size_t)from[piece * (n + 1) + b];
            cut[k - 1][piece - 2] = b - 1;
        }
    }
    return most;
}
