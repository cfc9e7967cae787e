/*
 * Computes the posterior of the coefficients, averaged over the priors by their evidence. The posterior
 * has a mean, a covariance, and estimates of noise and smoothness.
 */
#include "base/error.h"
#include "base/student.h"
#include "linalg/linalg.h"
#include "wls/smooth.h"

#include <math.h>
#include <string.h>

/* Candidates of smaller weight are dropped; together they weigh about a thousandth or less. */
static const double LEAST_WEIGHT = 1e-4;

typedef struct {
    const ks_evidence *e;
    ks_posterior *post;
    /*
     * the weights of a candidate's scales, the weight of the candidate, and the candidate's mean
     * coefficients
     */
    double w[KS_SCALES], weight, *mean;
    /* K x K scratch with R, and the inverse of R without the flat rows, up to the highest sharp degree */
    double *A, *B, *inverse;
    size_t inverted;
} mix;

static double noise_variance(const ks_evidence *e, const ks_candidate *c, int s) {
    return e->noise > 0 ? e->noise * e->noise : c->misfit[s] / e->n;
}

static void weigh(mix *m, const ks_candidate *c) {
    m->weight = 0;
    for (int s = 0; s < KS_SCALES; s++) m->weight += m->w[s] = exp(c->log_evidence[s] - m->e->log_evidence);
}

/* ---- a regular grid: every coefficient separately ---- */

static void add_on_grid(mix *m, const ks_candidate *c) {
    const ks_reduced *r = m->e->data;
    const int sharp = c->prior == KSPEC_WLS_PRIOR_SHARP;
    memset(m->mean, 0, r->K * sizeof *m->mean);
    double a = 0;
    size_t last = SIZE_MAX;
    for (size_t i = 0; i < c->k; i++) {
        const size_t k = r->flat + i, level = ks_basis_level(&r->basis, k);
        const double d = r->diagonal[k];
        if (!sharp && level != last)
            a = ks_prior_variance(r, c->prior, c->shape, (double)level) * (double)r->N;
        last = level;
        double kept = 0, spread = 0, signal = 0;
        for (int s = 0; s < KS_SCALES; s++) {
            if (m->w[s] < 1e-8) continue;
            const double v = sharp ? c->scale[s] : c->scale[s] * a, share = v / (1 + v);
            const double noise = m->w[s] * noise_variance(m->e, c, s);
            kept += m->w[s] * share, spread += noise * share, signal += noise * v;
        }
        m->mean[k] = kept * r->z[k] / d;
        m->post->diagonal[k] += spread / (d * d);
        m->post->signal[k] += signal;
    }
}

/* ---- with R ---- */

static void add_sharp(mix *m, const ks_candidate *c) {
    const ks_reduced *r = m->e->data;
    const size_t f = r->flat, k = c->k, n = m->inverted, K = r->K;
    double kept = 0, spread = 0, signal = 0;
    for (int s = 0; s < KS_SCALES; s++) {
        const double v = c->scale[s], noise = m->w[s] * noise_variance(m->e, c, s);
        kept += m->w[s] * v / (1 + v), spread += noise * v / (1 + v), signal += noise * v;
    }
    for (size_t i = 0; i < k; i++) {
        for (size_t l = i; l < k; l++) m->mean[f + i] += kept * m->inverse[i * n + l] * r->z[f + l];
        m->post->signal[f + i] += signal;
    }
    /* This adds spread * R^-1 R^-T to the covariance. */
    ks_gemm(0, 1, k, k, k, spread, m->inverse, n, m->inverse, n, 1, m->post->full + f * K + f, K);
}

static void add_shaped(mix *m, const ks_candidate *c) {
    const ks_reduced *r = m->e->data;
    const size_t f = r->flat, k = c->k, K = r->K;
    double *S = m->post->full + f * K + f, prior = 0;
    for (int s = 0; s < KS_SCALES; s++) prior += m->w[s] * noise_variance(m->e, c, s) * c->scale[s];
    /*
     * With A = a R^T U, the mean is A diag(c/(1+c lambda)) z, and the covariance is c a - A diag(c^2/(1+c
     * lambda)) A^T.
     */
    ks_gemm(1, 1, k, k, k, 1, r->R + f * K + f, K, c->vectors, k, 0, m->A, k);
    for (size_t i = 0; i < k; i++) {
        const double a = ks_prior_variance(r, c->prior, c->shape, (double)ks_basis_level(&r->basis, f + i));
        for (size_t l = 0; l < k; l++) m->A[i * k + l] *= a;
        S[i * K + i] += prior * a;
        for (size_t l = 0; l <= i; l++) {
            const double x = r->R[(f + l) * K + f + i];
            m->post->signal[f + l] += prior * a * x * x;
        }
    }
    for (size_t l = 0; l < k; l++) {
        double kept = 0, less = 0;
        for (int s = 0; s < KS_SCALES; s++) {
            const double scale = c->scale[s], v = 1 + scale * fmax(c->values[l], 0);
            kept += m->w[s] * scale / v;
            less += m->w[s] * noise_variance(m->e, c, s) * scale * scale / v;
        }
        for (size_t i = 0; i < k; i++) {
            m->mean[f + i] += kept * m->A[i * k + l] * c->z[l];
            m->B[i * k + l] = less * m->A[i * k + l];
        }
    }
    ks_gemm(0, 1, k, k, k, -1, m->B, k, m->A, k, 1, S, K);
}

static void add_by_factor(mix *m, const ks_candidate *c) {
    const size_t K = m->e->data->K;
    memset(m->mean, 0, K * sizeof *m->mean);
    if (!c->k) return;
    if (c->prior == KSPEC_WLS_PRIOR_SHARP)
        add_sharp(m, c);
    else
        add_shaped(m, c);
}

/* Computes the inverse of the n rows and columns of R after the flat functions into `inverse` (n x n). */
static void invert(const ks_reduced *r, size_t n, double *inverse) {
    const size_t f = r->flat, K = r->K;
    memset(inverse, 0, n * n * sizeof *inverse);
    for (size_t j = 0; j < n; j++) {
        inverse[j * n + j] = 1 / r->R[(f + j) * K + f + j];
        for (size_t i = j; i-- > 0;) {
            double sum = 0;
            for (size_t l = i + 1; l <= j; l++) sum += r->R[(f + i) * K + f + l] * inverse[l * n + j];
            inverse[i * n + j] = -sum / r->R[(f + i) * K + f + i];
        }
    }
}

/* ---- the flat functions ---- */

/* Computes theta_f = R_ff^-1 (z_f - R_f theta) for the flat functions, from the last to the first. */
static void add_flat(const ks_reduced *r, ks_posterior *p, double *row) {
    const size_t K = r->K;
    const double noise = p->noise * p->noise;
    for (size_t i = r->flat; i-- > 0;) {
        if (!r->R) {
            const double d = r->diagonal[i];
            p->theta[i] = r->z[i] / d, p->diagonal[i] = noise / (d * d);
            continue;
        }
        const double d = r->R[i * K + i], *R = r->R + i * K;
        double sum = r->z[i];
        for (size_t k = i + 1; k < K; k++) sum -= R[k] * p->theta[k];
        p->theta[i] = sum / d;
        double *S = p->full, own = 0;
        for (size_t l = i + 1; l < K; l++) {
            row[l] = 0;
            for (size_t k = i + 1; k < K; k++) row[l] -= R[k] / d * S[k * K + l];
        }
        for (size_t l = i + 1; l < K; l++) S[i * K + l] = S[l * K + i] = row[l], own -= R[l] / d * row[l];
        S[i * K + i] = own + noise / (d * d);
    }
}

/* ---- noise and smoothness ---- */

/*
 * Returns the probability that log s^2 is below l. For each prior, log s^2 is normal about log(q/n) with
 * variance 2/n.
 */
static double noise_below(const ks_evidence *e, double l) {
    double sum = 0;
    for (size_t i = 0; i < e->count; i++)
        for (int s = 0; s < KS_SCALES; s++) {
            const double w = exp(e->at[i].log_evidence[s] - e->log_evidence);
            if (w < 1e-9) continue;
            const double centre = log(fmax(e->at[i].misfit[s] / e->n, 1e-300));
            sum += w * 0.5 * erfc((centre - l) * sqrt(e->n) / 2);
        }
    return sum;
}

static double noise_quantile(const ks_evidence *e, double share) {
    double low = -700, high = 700;
    for (int step = 0; step < 60; step++) {
        const double middle = (low + high) / 2;
        *(noise_below(e, middle) < share ? &low : &high) = middle;
    }
    return exp(low / 2);
}

static void describe_noise(const ks_evidence *e, ks_posterior *p) {
    double variance = 0;
    if (e->noise > 0) {
        p->noise = e->noise, p->noise_low = p->noise_high = NAN;
        return;
    }
    for (size_t i = 0; i < e->count; i++)
        for (int s = 0; s < KS_SCALES; s++)
            variance += exp(e->at[i].log_evidence[s] - e->log_evidence) * e->at[i].misfit[s] / e->n;
    p->noise = sqrt(variance);
    p->noise_low = noise_quantile(e, 0.025), p->noise_high = noise_quantile(e, 0.975);
}

/*
 * Computes the posterior of the power law's exponent, interpolated linearly in the logarithm between
 * candidates.
 */
static void describe_beta(const ks_evidence *e, ks_posterior *p) {
    enum { BETWEEN = 40, MESH = (KS_SHAPES - 1) * BETWEEN + 1 };
    double at[KS_SHAPES], density[MESH], sum = 0, mean = 0, so_far = 0;
    p->beta = p->beta_low = p->beta_high = e->beta > 0 ? e->beta : NAN;
    if (e->beta > 0) p->beta_low = p->beta_high = NAN;
    if (e->beta > 0) return;
    double most = -INFINITY;
    for (int k = 0; k < KS_SHAPES; k++) {
        at[k] = -INFINITY;
        for (int s = 0; s < KS_SCALES; s++) at[k] = ks_log_sum(at[k], e->at[k].log_evidence[s]);
        most = fmax(most, at[k]);
    }
    const double low = e->at[0].shape, step = (e->at[KS_SHAPES - 1].shape - low) / (MESH - 1);
    for (int i = 0; i < MESH; i++) {
        const int k = i / BETWEEN < KS_SHAPES - 1 ? i / BETWEEN : KS_SHAPES - 2;
        const double t = (double)(i - k * BETWEEN) / BETWEEN;
        density[i] = exp((1 - t) * at[k] + t * at[k + 1] - most);
        sum += density[i], mean += density[i] * (low + i * step);
    }
    p->beta = mean / sum;
    p->beta_low = low, p->beta_high = low + (MESH - 1) * step;
    for (int i = 0; i < MESH; i++) {
        const double before = so_far / sum;
        so_far += density[i];
        if (before < 0.025 && so_far / sum >= 0.025) p->beta_low = low + i * step;
        if (before < 0.975 && so_far / sum >= 0.975) p->beta_high = low + i * step;
    }
}

/* ---- all together ---- */

static kspec_status allocate(const ks_evidence *e, ks_arena *arena, ks_posterior *p, mix *m, size_t kept,
                             kspec_error *err) {
    const ks_reduced *r = e->data;
    const size_t K = r->K, square = r->R ? ks_size(K, K) : 0;
    p->data = r;
    p->theta = ks_arena_zalloc(arena, K, sizeof *p->theta);
    p->signal = ks_arena_zalloc(arena, K, sizeof *p->signal);
    p->diagonal = r->R ? NULL : ks_arena_zalloc(arena, K, sizeof *p->diagonal);
    p->full = r->R ? ks_arena_zalloc(arena, square, sizeof *p->full) : NULL;
    p->vectors = ks_arena_alloc(arena, ks_size(kept, K), sizeof *p->vectors);
    m->mean = ks_arena_alloc(arena, K, sizeof *m->mean);
    m->A = ks_arena_alloc(arena, square, sizeof *m->A);
    m->B = ks_arena_alloc(arena, square, sizeof *m->B);
    m->inverse = ks_arena_alloc(arena, ks_size(m->inverted, m->inverted), sizeof *m->inverse);
    return arena->failed ? ks_nomem(err, "the posterior", arena->failed) : KSPEC_OK;
}

/* Computes the covariance of the means of the candidates: sum v v^T, v = sqrt(w) (mean - theta). */
static void spread(ks_posterior *p, double *weights, size_t kept) {
    const size_t K = p->data->K, f = p->data->flat;
    for (size_t i = 0; i < kept; i++)
        for (size_t k = 0; k < K; k++) {
            double *v = &p->vectors[i * K + k];
            *v = k < f ? 0 : sqrt(weights[i]) * (*v / weights[i] - p->theta[k]);
        }
    p->spread = kept;
    if (!p->full) return;
    ks_gemm(1, 0, K, K, kept, 1, p->vectors, K, p->vectors, K, 1, p->full, K);
    p->spread = 0;
}

kspec_status ks_smooth_posterior(const ks_evidence *e, ks_arena *arena, ks_posterior *out, kspec_error *err) {
    const ks_reduced *r = e->data;
    mix m = {.e = e, .post = out};
    size_t kept = 0;
    double *weights = ks_arena_alloc(arena, e->count, sizeof *weights), all = 0;
    if (!weights) return ks_nomem(err, "the posterior", ks_size(e->count, sizeof *weights));
    for (size_t i = 0; i < e->count; i++) {
        weigh(&m, &e->at[i]);
        weights[i] = m.weight >= LEAST_WEIGHT ? m.weight : 0;
        all += weights[i], kept += weights[i] > 0;
        if (weights[i] > 0 && r->R && e->at[i].prior == KSPEC_WLS_PRIOR_SHARP && e->at[i].k > m.inverted)
            m.inverted = e->at[i].k;
    }
    *out = (ks_posterior){0};
    kspec_status st = allocate(e, arena, out, &m, kept, err);
    if (st) return st;
    if (m.inverted) invert(r, m.inverted, m.inverse);
    kept = 0;
    for (size_t i = 0; i < e->count; i++) {
        if (!(weights[i] > 0)) continue;
        weigh(&m, &e->at[i]);
        for (int s = 0; s < KS_SCALES; s++) m.w[s] /= all;
        if (r->R)
            add_by_factor(&m, &e->at[i]);
        else
            add_on_grid(&m, &e->at[i]);
        for (size_t k = r->flat; k < r->K; k++) out->theta[k] += m.mean[k];
        memcpy(out->vectors + kept * r->K, m.mean, r->K * sizeof *m.mean);
        weights[kept++] = weights[i] / all;
    }
    spread(out, weights, kept);
    describe_noise(e, out);
    describe_beta(e, out);
    add_flat(r, out, m.mean);
    return KSPEC_OK;
}

/*
 * Computes R^-1 z and s^2 (R^T R)^-1 of the first functions. The number of functions is the smallest for
 * which the sum of z^2 of later functions plus `rest` is at most rows s^2.
 */
kspec_status ks_smooth_stopped(const ks_evidence *e, ks_posterior *post, size_t *p, ks_arena *arena,
                               kspec_error *err) {
    const ks_reduced *r = e->data;
    const size_t K = r->K, f = r->flat;
    const double noise = post->noise * post->noise, most = noise * (double)r->rows;
    size_t end = K;
    double q = r->rest;
    /* This loop drops as many functions as possible, in whole levels. */
    while (end > f) {
        const size_t level = ks_basis_level(&r->basis, end - 1),
                     from = level ? ks_basis_upto(&r->basis, level - 1) : f;
        double more = 0;
        for (size_t k = from; k < end; k++) more += r->z[k] * r->z[k];
        if (q + more > most) break;
        q += more, end = from;
    }
    *p = end;
    memset(post->theta, 0, K * sizeof *post->theta);
    post->spread = 0;
    if (!r->R) {
        for (size_t k = 0; k < K; k++) {
            const double d = r->diagonal[k];
            post->theta[k] = k < end ? r->z[k] / d : 0, post->diagonal[k] = k < end ? noise / (d * d) : 0;
        }
        return KSPEC_OK;
    }
    const size_t n = end - f;
    double *inverse = ks_arena_alloc(arena, ks_size(n, n), sizeof *inverse),
           *row = ks_arena_alloc(arena, K, sizeof *row);
    if (arena->failed) return ks_nomem(err, "the fit", arena->failed);
    memset(post->full, 0, K * K * sizeof *post->full);
    invert(r, n, inverse);
    for (size_t i = 0; i < n; i++)
        for (size_t l = i; l < n; l++) post->theta[f + i] += inverse[i * n + l] * r->z[f + l];
    if (n) ks_gemm(0, 1, n, n, n, noise, inverse, n, inverse, n, 0, post->full + f * K + f, K);
    add_flat(r, post, row);
    return KSPEC_OK;
}
