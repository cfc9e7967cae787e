/* Builds the priors of families of spectra, and segments a spectrum into constant pieces. */
#include "fit/family.h"

#include "base/error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- unknowns ---- */

static void fill_coordinates(ks_problem *p) {
    size_t K = p->o->K;
    for (size_t c = 0; c <= KS_SHAPE_COUNT; c++) {
        double power = KS_SHAPES[c].coordinate, *u = p->u[c];
        for (size_t l = 0; l < p->n; l++)
            u[l] = power > 0 ? pow(p->position[l] - 0.5, power) : log(p->position[l]);
        double first = u[0], range = fmax(u[K - 1] - u[0], 1e-9);
        for (size_t l = 0; l < p->n; l++) u[l] = (u[l] - first) / range;
    }
    for (size_t k = 0; k < p->n; k++)
        for (size_t l = 0; l < p->n; l++)
            p->rough[k * p->n + l] = exp(-fabs(log(p->position[k] / p->position[l])) / KS_ROUGHNESS_LENGTH);
}

/*
 * Sets the prior of the noise. The caller gives the noise, or it follows from the lower half of the sample's
 * spectrum. If the caller gives none, data of low rank have no noise.
 */
static void expect_noise(ks_problem *p, double noise, double error, size_t half) {
    const ks_decomposition *d = &p->o->x->d;
    double low = 0;
    for (size_t k = half; k < d->n; k++) low += d->s[k];
    if (noise > 0) {
        p->dust = p->given = 1;
        p->dust_mean = log(noise);
        p->dust_variance = KS_NOISE_GIVEN_SD * KS_NOISE_GIVEN_SD + error * error;
    } else if (isnan(noise) && !p->o->x->low_rank && low > 1e-7 * p->o->trace) {
        p->dust = 1;
        p->dust_mean = log(low) + KS_NOISE_MEAN;
        p->dust_variance = KS_NOISE_SD * KS_NOISE_SD;
    }
}

kspec_status ks_problem_init(ks_problem *p, const ks_observed *o, double noise, double noise_error,
                             const ks_simd *simd, ks_arena *arena, kspec_error *err) {
    const ks_decomposition *d = &o->x->d;
    double shorter = fmin(d->rows, d->cols);
    size_t end = d->n;
    if (!o->x->low_rank) end = (size_t)fmax(KS_EXTENT * shorter, (double)(o->used + 5));
    size_t n = ks_place_nodes(o->used, end, NULL, NULL);
    *p = (ks_problem){.o = o, .simd = simd, .n = n, .end = end};
    p->position = ks_arena_alloc(arena, n, sizeof(double));
    p->weight = ks_arena_zalloc(arena, ks_padded(n), sizeof(double));
    p->before = ks_arena_alloc(arena, n + 1, sizeof *p->before);
    p->rough = ks_arena_alloc(arena, ks_size(n, n), sizeof(double));
    double *u = ks_arena_alloc(arena, ks_size(KS_SHAPE_COUNT + 1, n), sizeof *u);
    if (arena->failed) return ks_nomem(err, "the nodes of the fit", arena->failed);
    for (size_t c = 0; c <= KS_SHAPE_COUNT; c++) p->u[c] = u + c * n;
    ks_place_nodes(o->used, end, p->position, p->weight);
    p->before[0] = 0;
    for (size_t l = 0; l < n; l++) p->before[l + 1] = p->before[l] + (size_t)p->weight[l];
    fill_coordinates(p);
    expect_noise(p, noise, noise_error, (size_t)(0.5 * shorter));
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
        if (l >= o->used) beyond += o->pilot[l];
    }
    for (size_t l = 0; l < K; l++) theta[l] = log(fmax(o->pilot[o->at[l]], 1e-9 * o->pilot[0]));
    double fall = fmax(o->pilot[o->used - 1], 0) / fmax(beyond, 1e-3 * all);
    for (size_t l = K; l < p->n; l++)
        theta[l] = fmax(theta[K - 1] - fall * (p->position[l] - p->position[K - 1]), theta[0] - 15);
    if (p->dust) theta[p->n] = p->dust_mean;
}

/* ---- families ---- */

int ks_family_same(const ks_family *f, const ks_family *g) {
    return f->shape == g->shape && f->end == g->end && f->breaks == g->breaks &&
           memcmp(f->at, g->at, f->breaks * sizeof *f->at) == 0;
}

double ks_family_weight(const ks_problem *p, const ks_family *f) {
    double moves = (double)f->breaks + (f->end < p->end), shape = 0;
    if (f->shape == KS_SHAPE_ROUGH) shape = KS_ROUGH_WEIGHT;
    if (f->shape == KS_SHAPE_FLAT && p->o->x->low_rank) shape = KS_FLAT_WEIGHT;
    return shape - (p->o->x->d.columns ? KS_MOVE_COST_COLUMNS : KS_MOVE_COST) * moves;
}

size_t ks_family_nodes(const ks_problem *p, const ks_family *f) {
    size_t n = 0;
    while (p->before[n] < f->end) n++;
    return n;
}

/* Adds variance h h^T to S, where h is a function of the node. */
static void add_term(size_t n, size_t N, double variance, const double *h, double *S) {
    for (size_t k = 0; k < n; k++)
        for (size_t l = 0; l < n; l++) S[k * N + l] += variance * h[k] * h[l];
}

/* Returns entry (k,l) of the prior covariance S without the contribution of breaks. */
static double covariance(const ks_problem *p, const ks_family *f, size_t k, size_t l) {
    const ks_shape *s = &KS_SHAPES[f->shape];
    if (s->flat) return KS_LEVEL_SD * KS_LEVEL_SD + (k == l) * KS_FLAT_JITTER;
    double x = p->u[f->shape][k], y = p->u[f->shape][l], a = fmin(x, y), b = fmax(x, y);
    return KS_LEVEL_SD * KS_LEVEL_SD + KS_SLOPE_SD * KS_SLOPE_SD * x * y +
           s->curvature * s->curvature * a * a * (3 * b - a) / 6 +
           s->roughness * s->roughness * p->rough[k * p->n + l];
}

void ks_family_prior(const ks_problem *p, const ks_family *f, double *S, double *mu) {
    size_t n = ks_family_nodes(p, f), N = n + (size_t)p->dust;
    const double *u = p->u[f->shape];
    int flat = KS_SHAPES[f->shape].flat;
    double *h = mu + N;
    for (size_t k = 0; k < n; k++) {
        for (size_t l = 0; l < n; l++) S[k * N + l] = covariance(p, f, k, l);
        mu[k] = p->level + (flat ? 0 : KS_SLOPE * u[k]);
    }
    for (size_t i = 0; i < f->breaks; i++) {
        for (size_t k = 0; k < n; k++) h[k] = k > f->at[i];
        add_term(n, N, KS_STEP_SD * KS_STEP_SD, h, S);
        for (size_t k = 0; k < n; k++) h[k] = fmax(u[k] - u[f->at[i]], 0);
        if (!flat) add_term(n, N, KS_KINK_SD * KS_KINK_SD, h, S);
    }
    if (!p->dust) return;
    for (size_t k = 0; k < n; k++) S[k * N + n] = S[n * N + k] = 0;
    S[n * N + n] = p->dust_variance;
    mu[n] = p->dust_mean;
}

/* APPEND prints to the end of a text with snprintf(). */
#define APPEND(...) used += (size_t)used < size ? (size_t)snprintf(name + used, size - used, __VA_ARGS__) : 0

void ks_family_name(const ks_problem *p, const ks_family *f, size_t size, char *name) {
    const ks_shape *s = &KS_SHAPES[f->shape];
    size_t used = 0;
    if (s->flat)
        APPEND(f->breaks ? "constant between steps" : "constant");
    else if (s->coordinate == 1)
        APPEND("smooth in i");
    else if (s->coordinate > 0)
        APPEND("smooth in i^%g", s->coordinate);
    else
        APPEND("smooth in log i");
    for (size_t i = 0; i < f->breaks; i++)
        APPEND(i ? ", %zu" : s->flat ? " after %zu" : ", broken after %zu", p->before[f->at[i] + 1]);
    if (f->end < p->end) APPEND(", %zu in all", f->end);
}

/* ---- segments ---- */

size_t ks_segment(size_t n, const double *y, const double *w, size_t most, double *scratch,
                  size_t cut[][KS_PIECES_MAX]) {
    /*
     * W, Y and YY are the sums of w, w y and w y^2 over the first i numbers. cost is the least cost of
     * dividing the first b numbers into k pieces, and `from` is the start of the last of these pieces.
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
