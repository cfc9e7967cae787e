/* Selects the sample eigenvalues for the fit, and computes their errors. */
#include "fit/observed.h"

#include "base/error.h"
#include "linalg/eigen.h"
#include "linalg/linalg.h"
#include "fit/pilot.h"
#include "fit/scatter.h"
#include "fit/tuning.h"

#include <math.h>
#include <string.h>

static size_t least(size_t a, size_t b) { return a < b ? a : b; }
static size_t most(size_t a, size_t b) { return a > b ? a : b; }

size_t ks_place_nodes(size_t K, size_t end, double *position, double *weight) {
    size_t n = 0, a = 0;
    for (; a < end; n++) {
        size_t b = a + 1, last = a < K ? K : end;
        size_t wider = a >= KS_SINGLE ? (size_t)nearbyint((double)a * (a < K ? KS_FINE : KS_COARSE)) : b;
        b = least(most(b, wider), last);
        if (position) {
            position[n] = 0.5 * (double)(a + 1 + b);
            weight[n] = (double)(b - a);
        }
        a = b;
    }
    return n;
}

/*
 * Returns the number of eigenvalues that contain the fraction 1 - KS_SHARE of the trace. The number is at
 * least four, and at most `vectors`.
 */
static size_t used_by_share(const ks_decomposition *d, double trace) {
    double sum = 0;
    size_t K = 1;
    for (size_t i = 0; i < d->n; i++) {
        sum += d->s[i];
        K += 1 - sum / trace > KS_SHARE;
    }
    return least(most(least(d->n, K), least(d->n, 4)), d->vectors);
}

/* Divides the first `used` eigenvalues into o->K groups. The arrays receive the groups' middles and sizes. */
static void group(ks_observed *o, size_t used) {
    o->used = used;
    o->K = ks_place_nodes(used, used, o->level, o->size);
    for (size_t k = 0; k < o->K; k++) {
        o->at[k] = (size_t)(o->level[k] - 0.5);
        o->level[k] = (double)o->at[k] + 0.5;
    }
}

/*
 * Stops using eigenvalues where the leverages' correction of D is no longer small, because the correction is
 * of first order only.
 */
static kspec_status used_by_leverage(const ks_run *run, const ks_decomposition *d, ks_observed *o,
                                     kspec_error *err) {
    ks_arena arena = {0};
    ks_cplx *t = ks_arena_alloc(&arena, o->K, sizeof *t);
    ks_bias *b = ks_arena_alloc(&arena, o->K, sizeof *b);
    kspec_status st = arena.failed ? ks_nomem(err, "the leverages", arena.failed) : KSPEC_OK;
    for (size_t k = 0; k < o->K && !st; k++) t[k] = (ks_cplx){d->s[o->at[k]], 0};
    if (!st) st = ks_leverage_bias(run, d, o->pilot, o->K, t, b, err);
    for (size_t k = 0; k < o->K && !st; k++)
        if (fabs(b[k].excess.re / b[k].D.re) > KS_CUT) {
            group(o, most(o->at[k], least(3, d->n)));
            break;
        }
    ks_arena_free(&arena);
    return st;
}

/*
 * Returns the variance over rows (or columns) of their contribution to the eigenvalues from K on. part is
 * scratch of 2m numbers.
 */
static double tail_variance(const ks_decomposition *d, size_t m, double N, size_t K, const double *U2,
                            double sum, double *part) {
    const double *s = d->s;
    if (isinf(N)) return 0;
    memset(part, 0, m * sizeof *part);
    if (d->vectors < d->n) {
        double mean = 0, *rest = part + m;
        for (size_t k = d->vectors; k < d->n; k++) mean += s[k] / (double)(d->n - d->vectors);
        ks_leverage_left(d, m, U2, part, rest);
        for (size_t i = 0; i < m; i++) part[i] *= (double)m * mean;
    }
    for (size_t k = K; k < d->vectors; k++)
        for (size_t i = 0; i < m; i++) part[i] += (double)m * U2[k * m + i] * s[k];
    double squares = 0;
    for (size_t i = 0; i < m; i++) squares += (part[i] - sum) * (part[i] - sum);
    return squares / (double)m / N;
}

kspec_status ks_observe(const ks_run *run, const ks_decomposed *x, ks_arena *arena, ks_observed *o,
                        kspec_error *err) {
    const ks_decomposition *d = &x->d;
    *o = (ks_observed){.x = x};
    o->pilot = ks_arena_alloc(arena, d->n, sizeof *o->pilot);
    if (arena->failed) return ks_nomem(err, "the sample's spectrum", arena->failed);
    for (size_t i = 0; i < d->n; i++) o->trace += d->s[i];
    ks_pilot(d->n, d->s, d->rows, d->cols, o->pilot);
    size_t used = used_by_share(d, o->trace), groups = ks_place_nodes(used, used, NULL, NULL);
    double **arrays[] = {&o->level, &o->size,  &o->count_shift, &o->count_excess,
                         &o->ratio, &o->shift, &o->half};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        *arrays[k] = ks_arena_alloc(arena, groups, sizeof(double));
    o->at = ks_arena_alloc(arena, groups, sizeof *o->at);
    if (arena->failed) return ks_nomem(err, "the sample's spectrum", arena->failed);
    group(o, used);
    kspec_status st = used_by_leverage(run, d, o, err);
    if (st) return st;
    used = o->used;
    o->tail = used < d->n || !x->low_rank;
    size_t K = o->K, m = o->m = K + (size_t)o->tail;
    o->y = ks_arena_alloc(arena, m, sizeof *o->y);
    o->V = ks_arena_alloc(arena, ks_size(m, m), sizeof *o->V);
    o->L = ks_arena_alloc(arena, ks_size(m, m), sizeof *o->L);
    double *part = ks_arena_alloc(arena, 2 * most(d->P, d->Q), sizeof *part);
    if (arena->failed) return ks_nomem(err, "the sample's spectrum", arena->failed);
    if ((st = ks_leverage_shift(run, d, o->pilot, K, o->at, o->count_shift, o->count_excess, err))) return st;
    o->common = ks_leverage_spread(d, K, o->at, o->ratio);
    double beyond = 0;
    for (size_t k = used; k < d->n; k++) beyond += d->s[k];
    o->share = beyond / o->trace;
    o->share_variance = (tail_variance(d, d->P, d->rows, used, d->U2, beyond, part) +
                         tail_variance(d, d->Q, d->cols, used, d->V2, beyond, part)) /
                        (o->trace * o->trace);
    return KSPEC_OK;
}

/* Shrinks the m x m correlations R towards 0 until their smallest eigenvalue is clearly positive. */
static kspec_status make_definite(size_t m, double *R, double *copy, double *w, kspec_error *err) {
    static const double shares[] = {0, 0.01, 0.03, 0.1, 0.3, 1};
    memcpy(copy, R, m * m * sizeof *R);
    kspec_status st = ks_syevd(0, m, copy, m, w, err);
    if (st) return st;
    double share = 1;
    for (size_t k = 0; k < sizeof shares / sizeof *shares; k++)
        if (w[0] * (1 - shares[k]) + shares[k] > 1e-4) {
            share = shares[k];
            break;
        }
    for (size_t k = 0; k < m * m; k++) R[k] = R[k] * (1 - share) + (k % (m + 1) == 0) * share;
    return KSPEC_OK;
}

static double clip(double x) { return fmin(fmax(x, -0.5), 0.5); }

/*
 * Computes V from the covariance C for Gaussian factors, which is K x K. The function corrects for leverages,
 * for the common factor, and for the model's error.
 */
static kspec_status fill_covariance(ks_observed *o, const double *C, const double *x_rho, double *sd,
                                    double *copy, kspec_error *err) {
    const ks_decomposition *d = &o->x->d;
    size_t K = o->K, m = o->m;
    double gaussian = 2 / d->rows + 2 / d->cols, *V = o->V;
    for (size_t i = 0; i < K; i++) {
        double r = fmax(o->ratio[i] - o->common / gaussian, 0.1 * o->ratio[i]);
        sd[i] = sqrt(fmax(C[i * K + i], 1e-300) * r);
    }
    if (o->tail) sd[K] = sqrt(KS_TAIL_VARIANCE * o->share_variance + 1e-12);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++)
            V[i * m + j] = i == j ? 1 : i < K && j < K ? C[i * K + j] / sqrt(C[i * K + i] * C[j * K + j]) : 0;
    for (size_t k = 0; k < m * m; k++)
        if (!isfinite(V[k]))
            return ks_fail(err, KSPEC_E_NUMERIC, "the sample's eigenvalues have no covariance");
    kspec_status st = make_definite(m, V, copy, o->y, err);
    if (st) return st;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++) {
            double ei = i < K ? 1 : o->share, ej = j < K ? 1 : o->share;
            V[i * m + j] = V[i * m + j] * sd[i] * sd[j] + o->common * ei * ej;
        }
    for (size_t i = 0; i < K; i++) {
        o->half[i] = 0.5 * fmin(V[i * m + i], 0.3);
        o->shift[i] = clip(o->count_shift[i] / x_rho[i]);
    }
    for (size_t i = 0; i < K; i++) {
        for (size_t j = 0; j < K; j++) {
            double far = log((double)(o->at[i] + 1) / (double)(o->at[j] + 1)) / KS_SHIFT_LENGTH;
            V[i * m + j] += fabs(clip(o->count_excess[i] / x_rho[i])) *
                            fabs(clip(o->count_excess[j] / x_rho[j])) * exp(-0.5 * far * far);
        }
        V[i * m + i] += KS_MODEL_ERROR * KS_MODEL_ERROR;
    }
    if (o->tail) V[K * m + K] += KS_TAIL_ERROR * KS_TAIL_ERROR;
    return KSPEC_OK;
}

kspec_status ks_observed_errors(ks_observed *o, const ks_spectrum *s, ks_cplx *log_c, kspec_error *err) {
    size_t K = o->K, m = o->m;
    ks_arena arena = {0};
    double *C = ks_arena_alloc(&arena, ks_size(K, K), sizeof *C);
    double *copy = ks_arena_alloc(&arena, ks_size(m, m), sizeof *copy);
    double *x_rho = ks_arena_alloc(&arena, K, sizeof *x_rho),
           *log_x = ks_arena_alloc(&arena, K, sizeof *log_x);
    double *sd = ks_arena_alloc(&arena, m, sizeof *sd), *level = ks_arena_alloc(&arena, K, sizeof *level);
    double *unused = ks_arena_alloc(&arena, K, sizeof *unused);
    ks_cplx *near[2];
    for (int k = 0; k < 2; k++) near[k] = ks_arena_alloc(&arena, K, sizeof **near);
    if (arena.failed) {
        size_t wanted = arena.failed;
        ks_arena_free(&arena);
        return ks_nomem(err, "the covariance of the eigenvalues", wanted);
    }
    for (size_t i = 0; i < K; i++) log_c[i] = (ks_cplx){NAN, NAN};
    ks_forward(s, K, o->level, log_c, log_x, x_rho);
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < K; i++) level[i] = o->level[i] + (k ? KS_DIAGONAL : -KS_DIAGONAL);
        memcpy(near[k], log_c, K * sizeof **near);
        ks_forward(s, K, level, near[k], log_x, unused);
    }
    ks_scatter(K, log_c, near[0], near[1], x_rho, C);
    kspec_status st = fill_covariance(o, C, x_rho, sd, copy, err);
    ks_arena_free(&arena);
    if (st) return st;
    for (size_t i = 0; i < K; i++) o->y[i] = log(o->x->d.s[o->at[i]]) - o->shift[i];
    if (o->tail) o->y[K] = o->share;
    memcpy(o->L, o->V, m * m * sizeof *o->L);
    if (ks_potrf(m, o->L, m))
        return ks_fail(err, KSPEC_E_NUMERIC, "the sample's eigenvalues have no covariance");
    return KSPEC_OK;
}
