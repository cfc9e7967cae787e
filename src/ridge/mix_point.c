/*
 * Computes one point of a prediction with several kinds of features: its errors, and the share of wrong
 * classes.
 */
#include "base/error.h"
#include "linalg/linalg.h"
#include "ridge/activation.h"
#include "ridge/classify.h"
#include "ridge/mix.h"

#include <math.h>

/*
 * Holds the parts of the errors: v = Q y, z_h = K_h v, the outputs for the test rows, and the traces of
 * Theta_h.
 */
typedef struct {
    double *V, *Z[KS_MIX_MOST], *fit, *form[KS_MIX_MOST];
    double theta[KS_MIX_MOST];
} desk;

static kspec_status desk_alloc(const kspec_ridge *r, ks_arena *a, desk *d, kspec_error *err) {
    const size_t m = r->m;
    d->V = ks_arena_alloc(a, ks_size(r->n, m), sizeof(double));
    d->fit = ks_arena_alloc(a, ks_size(r->nt, m), sizeof(double));
    for (size_t h = 0; h < r->mix->count; h++) {
        d->Z[h] = ks_arena_alloc(a, ks_size(r->n, m), sizeof(double));
        d->form[h] = ks_arena_alloc(a, ks_size(m, m), sizeof(double));
    }
    return a->failed ? ks_nomem(err, "residuals", a->failed) : KSPEC_OK;
}

/* Computes H = sum_h p_h K_h(Xt,X)/(shift+x_h) Q and the outputs c H y. */
static kspec_status outputs(kspec_ridge *r, const ks_run *run, const ks_mix_solution *s, desk *d,
                            kspec_error *err) {
    const ks_mix *m = r->mix;
    const size_t n = r->n, nt = r->nt;
    double *phi = m->HK;
    for (size_t k = 0; k < nt * n; k++) phi[k] = 0;
    for (size_t h = 0; h < m->count; h++) {
        const double w = m->share[h] / (s->shift + s->x[h]);
        for (size_t k = 0; k < nt * n; k++) phi[k] += w * m->Kt[h][k];
    }
    kspec_status st = ks_gemm_tiled(run, 0, 0, nt, n, n, 1, phi, n, m->Q, n, 0, m->H, n, err);
    return st ? st
              : ks_gemm_tiled(run, 0, 0, nt, r->m, n, s->N / (double)n, m->H, n, r->Y, r->m, 0, d->fit, r->m,
                              err);
}

/*
 * Computes Theta_h = tr K_h(Xt,Xt)/N + (N/n^2) tr(H^T H K_h) - (2/n) tr(H^T K_h(Xt,X)); overwrites m->work.
 */
static kspec_status thetas(kspec_ridge *r, const ks_run *run, const ks_mix_solution *s, desk *d,
                           kspec_error *err) {
    const ks_mix *m = r->mix;
    const size_t n = r->n, nt = r->nt;
    kspec_status st = ks_gemm_symmetric_tiled(run, 1, 0, n, nt, 1, m->H, n, m->H, n, m->work, n, err);
    for (size_t h = 0; h < m->count && !st; h++)
        d->theta[h] = m->trace_t[h] / s->N + s->N / (double)n / (double)n * ks_dot(n * n, m->work, m->K[h]) -
                      2 / (double)n * ks_dot(nt * n, m->H, m->Kt[h]);
    return st;
}

/* Returns the weight of kind h in the variance of the outputs, without the factor Omega. */
static double weight(const ks_mix *m, const ks_mix_solution *s, size_t h) {
    return m->share[h] / ((s->shift + s->x[h]) * (s->shift + s->x[h]));
}

/*
 * Computes the share of wrong classes from the covariance of the outputs of test row t: sum_b scale_bt V^T
 * K_b V (errors.c).
 */
static kspec_status class_error(kspec_ridge *r, const ks_run *run, const ks_mix_solution *s, const desk *d,
                                double *wrong, kspec_error *err) {
    const ks_mix *m = r->mix;
    const size_t n = r->n, nt = r->nt, all = m->count;
    const double c = s->N / (double)n;
    ks_arena scratch = {0};
    double *scale[KS_MIX_MOST], omega[KS_MIX_MOST][KS_MIX_MOST]; /* omega[a][b]: column a */
    for (size_t h = 0; h < all; h++) scale[h] = ks_arena_zalloc(&scratch, nt, sizeof(double));
    kspec_status st = scratch.failed ? ks_nomem(err, "spreads of the outputs", scratch.failed) : KSPEC_OK;
    for (size_t a = 0; a < all; a++) {
        double unit[KS_MIX_MOST] = {0};
        unit[a] = 1;
        if (!ks_mix_omega(m, s, unit, omega[a]))
            for (size_t b = 0; b < all; b++) omega[a][b] = NAN;
    }
    for (size_t a = 0; a < all && !st; a++) {
        st = ks_gemm_tiled(run, 0, 0, nt, n, n, 1, m->H, n, m->K[a], n, 0, m->HK, n, err);
        for (size_t t = 0; t < nt && !st; t++) {
            const double *h = m->H + t * n;
            const double theta = m->own[a][t] / s->N + c / (double)n * ks_dot(n, h, m->HK + t * n) -
                                 2 / (double)n * ks_dot(n, h, m->Kt[a] + t * n);
            /* The weight of form b is Omega_ab, from row a of the inverse. */
            for (size_t b = 0; b < all; b++) scale[b][t] += c * c * weight(m, s, a) * theta * omega[b][a];
        }
    }
    for (size_t h = 0; h < all && !st; h++)
        ks_gemm(1, 0, r->m, r->m, n, 1, d->V, r->m, d->Z[h], r->m, 0, d->form[h], r->m);
    if (!st)
        st = ks_ridge_class_error(r, d->fit, (int)all, (const double *const *)scale, d->form, wrong, err);
    ks_arena_free(&scratch);
    return st;
}

/*
 * Computes the errors of each column from Q of s, as in errors.c, with sums over all kinds and their
 * shares. spread = 0 omits the second terms, which gives the errors for N -> infinity.
 */
static kspec_status errors(kspec_ridge *r, const ks_run *run, const ks_mix_solution *s, int spread, desk *d,
                           double *train, double *test, kspec_error *err) {
    const ks_mix *m = r->mix;
    const size_t n = r->n, nt = r->nt, cols = r->m;
    const double c = s->N / (double)n, ridge2 = s->ridge * s->ridge;
    kspec_status st = ks_gemm_tiled(run, 0, 0, n, cols, n, 1, m->Q, n, r->Y, cols, 0, d->V, cols, err);
    if (!st && nt) st = outputs(r, run, s, d, err);
    if (!st && nt && spread) st = thetas(r, run, s, d, err);
    for (size_t h = 0; h < m->count && !st && spread; h++)
        st = ks_gemm_tiled(run, 0, 0, n, cols, n, 1, m->K[h], n, d->V, cols, 0, d->Z[h], cols, err);
    for (size_t j = 0; j < cols && !st; j++) {
        double form[KS_MIX_MOST], z[KS_MIX_MOST] = {0}, v2 = 0, e2 = 0;
        for (size_t h = 0; h < m->count && spread; h++) {
            form[h] = 0;
            for (size_t i = 0; i < n; i++) form[h] += d->V[i * cols + j] * d->Z[h][i * cols + j];
        }
        if (spread && !ks_mix_omega(m, s, form, z)) z[0] = NAN; /* Rounding errors prevent computing Omega. */
        for (size_t i = 0; i < n; i++) v2 += d->V[i * cols + j] * d->V[i * cols + j];
        for (size_t t = 0; t < nt; t++) {
            const double e = r->Yt[t * cols + j] - d->fit[t * cols + j];
            e2 += e * e;
        }
        for (size_t h = 0; h < m->count && spread; h++) {
            v2 += c * s->t0[h] * weight(m, s, h) * z[h];
            e2 += c * c * d->theta[h] * weight(m, s, h) * z[h];
        }
        train[j] = ridge2 / (double)n * v2;
        test[j] = nt ? e2 / (double)nt : NAN;
    }
    return st;
}

static double mean(const double *x, size_t m) {
    double sum = 0;
    for (size_t j = 0; j < m; j++) sum += x[j] / (double)m;
    return sum;
}

/* Averages over the scales: the cosines (or all features), and the sines. */
static void set_deltas(const kspec_ridge *r, const ks_mix_solution *s, kspec_ridge_point *p) {
    double mean_x[2] = {0, 0};
    for (size_t h = 0; h < r->mix->count; h++) mean_x[r->mix->sine[h]] += r->mix->share[h] * s->x[h];
    const int pair = r->o.activation == KSPEC_RIDGE_ACTIVATION_FOURIER;
    p->theta_cos = s->shift > 0 ? s->lambda * mean_x[0] : mean_x[0];
    p->delta_cos = s->shift > 0 ? mean_x[0] : INFINITY;
    if (!pair) return;
    p->theta_sin = s->shift > 0 ? s->lambda * mean_x[1] : mean_x[1];
    p->delta_sin = s->shift > 0 ? mean_x[1] : INFINITY;
}

static kspec_status make_point(kspec_ridge *r, const ks_run *run, double N, double lambda, desk *d,
                               kspec_ridge_point *p, kspec_error *err) {
    const size_t m = r->m;
    double *train = p->train_columns, *test = p->test_columns;
    ks_mix_solution s = {.N = N, .lambda = lambda, .shift = 1, .ridge = lambda};
    if (ks_mix_resolvent(r, run, &s, 0, NULL) == KSPEC_OK) { /* Only N is large in this limit, so x = 0. */
        kspec_status st = errors(r, run, &s, 0, d, train, test, err);
        if (st) return st;
        p->kernel_train_mse = mean(train, m), p->kernel_test_mse = mean(test, m);
    } else if (lambda > 0) {
        /* The loop was cancelled, or rounding errors prevented convergence. */
        return ks_mix_resolvent(r, run, &s, 0, err);
    }
    for (size_t j = 0; j < m; j++) train[j] = test[j] = NAN;
    kspec_status st = ks_mix_solve(r, run, N, lambda, &s, err);
    if (st || s.state == KSPEC_RIDGE_STATE_DIVERGENT) return st;
    if ((st = errors(r, run, &s, 1, d, train, test, err))) return st;
    p->train_mse = mean(train, m), p->test_mse = mean(test, m);
    p->iterations = s.iterations, p->residual = s.residual, p->delta_error = s.error, p->state = s.state;
    set_deltas(r, &s, p);
    return r->o.classify && r->nt ? class_error(r, run, &s, d, &p->test_error, err) : KSPEC_OK;
}

kspec_status ks_mix_point(kspec_ridge *r, const ks_run *run, double N, double lambda, kspec_ridge_point *p,
                          kspec_error *err) {
    ks_arena scratch = {0};
    desk d = {0};
    kspec_status st = desk_alloc(r, &scratch, &d, err);
    if (!st) st = make_point(r, run, N, lambda, &d, p, err);
    ks_arena_free(&scratch);
    return st;
}
