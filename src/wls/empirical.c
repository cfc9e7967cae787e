/*
 * Estimates the errors by simulation. Draw d takes theta and noise from its own random streams, which do
 * not depend on p or on the thread. The estimate is linear, so noise-free data and pure noise are fitted
 * separately.
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/result.h"
#include "base/streams.h"
#include "linalg/linalg.h"
#include "team/team.h"
#include "wls/grid.h"

#include <math.h>
#include <string.h>

typedef struct {
    const ks_wls_grid *g;
    /* sqrt(E|theta_k|^2), P */
    const double *root_prior;
    ks_wls_fitter *fitters;
    size_t count, draws;
    /* draws x count x 3: |theta^-theta|^2 without noise, |theta^-theta|^2 with noise, and |n|^2 */
    double *each;
    /* per worker */
    ks_cplx *scratch;
    size_t scratch_size, fit_scratch;
} empirical_job;

static const double half_root = 0.70710678118654752;

/* Draws n complex numbers whose real and imaginary parts are standard normal, so E|z|^2 = 2. */
static void normals(uint64_t seed, uint64_t stream, size_t n, ks_cplx *z) {
    kspec_random_normal(seed, stream, 0, 2 * n, (double *)z);
}

/*
 * Makes draw number `draw`: theta (P numbers) is circular, with half of the variance in each part. y (N)
 * is its data, in which the modes of a class add up; noise (N) is separate.
 */
static void make_draw(const empirical_job *j, size_t draw, ks_cplx *theta, ks_cplx *y, ks_cplx *noise,
                      ks_cplx *scratch) {
    const ks_wls_grid *g = j->g;
    size_t N = g->N, P = g->P;
    normals(g->seed, ks_stream(KS_STREAM_WLS_TRUTH, draw), P, theta);
    memset(y, 0, N * sizeof *y);
    for (size_t k = 0; k < P; k++) {
        double s = j->root_prior[k] * half_root;
        theta[k].re *= s, theta[k].im *= s;
        y[k % N].re += theta[k].re, y[k % N].im += theta[k].im;
    }
    ks_fft_run(j->fitters[0].fft, 1, y, scratch);
    normals(g->seed, ks_stream(KS_STREAM_WLS_NOISE, draw), N, noise);
    const double level = g->spectrum ? 1 : g->noise;
    for (size_t i = 0; i < N; i++)
        noise[i] = g->complex_noise
                       ? (ks_cplx){level * half_root * noise[i].re, level * half_root * noise[i].im}
                       : (ks_cplx){level * noise[i].re, 0};
    if (!g->spectrum) return;
    ks_fft_run(j->fitters[0].fft, -1, noise, scratch);
    for (size_t m = 0; m < N; m++) {
        const double root = sqrt(g->spectrum[m]) / (double)N;
        noise[m].re *= root, noise[m].im *= root;
    }
    ks_fft_run(j->fitters[0].fft, 1, noise, scratch);
}

static kspec_status one_draw(void *ctx, size_t draw, const ks_worker *worker) {
    empirical_job *j = ctx;
    size_t N = j->g->N, P = j->g->P;
    ks_cplx *theta = j->scratch + (size_t)worker->index * j->scratch_size, *y = theta + P, *noise = y + N,
            *fit = noise + N, *n = fit + P, *scratch = n + P;
    make_draw(j, draw, theta, y, noise, scratch);
    for (size_t i = 0; i < j->count; i++) {
        const ks_wls_fitter *f = &j->fitters[i];
        double *to = j->each + (draw * j->count + i) * 3;
        if (ks_wls_fit(f, y, fit, scratch) < 0 || ks_wls_fit(f, noise, n, scratch) < 0) {
            to[0] = to[1] = to[2] = NAN; /* see failures_to_qr() */
            continue;
        }
        double free = 0, all = 0, only = 0;
        for (size_t k = 0; k < P; k++) {
            ks_cplx d = {k < f->p ? fit[k].re - theta[k].re : theta[k].re,
                         k < f->p ? fit[k].im - theta[k].im : theta[k].im};
            free += ks_cabs2(d);
            if (k < f->p) {
                only += ks_cabs2(n[k]);
                d.re += n[k].re, d.im += n[k].im;
            }
            all += ks_cabs2(d);
        }
        to[0] = free, to[1] = all, to[2] = only;
    }
    return KSPEC_OK;
}

/*
 * Computes the mean of every stride-th value, the variance, and the standard error of both. The fourth
 * moment gives the error of the variance.
 */
static void statistics(const double *x, size_t stride, size_t n, double *mean, double *se, double *variance,
                       double *variance_se) {
    double m = 0, m2 = 0, m4 = 0, count = (double)n;
    for (size_t i = 0; i < n; i++) m += x[i * stride];
    m /= count;
    for (size_t i = 0; i < n; i++) {
        double d = x[i * stride] - m;
        m2 += d * d, m4 += d * d * d * d;
    }
    *mean = m;
    *variance = m2 / (count - 1);
    *se = sqrt(*variance / count);
    *variance_se = sqrt(fmax(0, m4 / count - (m2 / count) * (m2 / count)) / count);
}

static kspec_status use_qr(ks_wls_fitter *f, ks_arena *arena, kspec_error *err) {
    ks_cplx *map;
    double accuracy;
    kspec_status st = ks_wls_dense_map(f->N, f->p, f->w, arena, &map, &accuracy, err);
    f->map = st ? NULL : map;
    return st;
}

/*
 * Switches to QR for every p whose iteration failed on any draw, and sets *some to 1 if there is such a p.
 * QR then serves all draws of this p, so the result does not depend on the order of threads.
 */
static kspec_status failures_to_qr(empirical_job *j, int *some, ks_arena *arena, kspec_error *err) {
    kspec_status st = KSPEC_OK;
    *some = 0;
    for (size_t i = 0; i < j->count && !st; i++) {
        size_t draw = 0;
        while (draw < j->draws && !isnan(j->each[(draw * j->count + i) * 3])) draw++;
        if (draw == j->draws) continue;
        *some = 1;
        st = use_qr(&j->fitters[i], arena, err);
    }
    return st;
}

/*
 * Creates the fitters of all p. If the iteration fails on the first draw, it would also fail on other
 * draws, so the dense map replaces it.
 */
static kspec_status make_fitters(empirical_job *j, const size_t *p, const ks_fft *fft, const double *w,
                                 ks_arena *arena, kspec_error *err) {
    size_t N = j->g->N;
    for (size_t i = 0; i < j->count; i++) {
        ks_wls_fitter f = {.N = N, .p = p[i], .beta = j->g->beta, .w = w, .fft = fft};
        if (ks_wls_fit_scratch(&f) > j->fit_scratch) j->fit_scratch = ks_wls_fit_scratch(&f);
        j->fitters[i] = f;
    }
    ks_cplx *y = ks_arena_alloc(arena, N, sizeof *y), *theta = ks_arena_alloc(arena, N, sizeof *theta),
            *scratch = ks_arena_alloc(arena, j->fit_scratch, sizeof *scratch);
    if (arena->failed) return ks_nomem(err, "the draws", arena->failed);
    normals(j->g->seed, ks_stream(KS_STREAM_WLS_NOISE, 0), N, y);
    for (size_t i = 0; i < j->count; i++) {
        if (p[i] >= N || ks_wls_fit(&j->fitters[i], y, theta, scratch) >= 0) continue;
        kspec_status st = use_qr(&j->fitters[i], arena, err);
        if (st) return st;
    }
    return KSPEC_OK;
}

/* Writes the errors of the draws to j->each. */
static kspec_status simulate(empirical_job *j, const ks_run *run, const size_t *p, const ks_fft *fft,
                             ks_arena *arena, kspec_error *err) {
    const ks_wls_grid *g = j->g;
    size_t N = g->N, P = g->P, workers = (size_t)ks_workers(run, j->draws);
    size_t values = ks_size_add(ks_size(ks_size(j->draws, j->count), 3), ks_size_add(N, P));
    kspec_status st = ks_check_memory(err, ks_size(values, sizeof(double)), "the draws");
    if (st) return st;
    double *w = ks_arena_alloc(arena, N, sizeof *w), *prior = ks_arena_alloc(arena, P, sizeof *prior);
    j->fitters = ks_arena_alloc(arena, j->count, sizeof *j->fitters);
    j->each = ks_arena_alloc(arena, ks_size(ks_size(j->draws, j->count), 3), sizeof *j->each);
    if (arena->failed) return ks_nomem(err, "the draws", arena->failed);
    double sum = ks_wls_prior_sum(g);
    for (size_t k = 0; k < P; k++) prior[k] = sqrt(ks_wls_power(k, -2 * g->gamma) / sum);
    j->root_prior = prior;
    ks_wls_weights(g, w);
    if ((st = make_fitters(j, p, fft, w, arena, err))) return st;
    j->scratch_size = ks_size_add(3 * P + 2 * N, j->fit_scratch);
    st = ks_check_memory(err, ks_size(ks_size(workers, j->scratch_size), sizeof *j->scratch),
                         "draws on every thread");
    if (st) return st;
    j->scratch = ks_arena_alloc(arena, ks_size(workers, j->scratch_size), sizeof *j->scratch);
    if (arena->failed) return ks_nomem(err, "the draws", arena->failed);
    int again;
    const ks_share each = {j->each, 3 * j->count * sizeof *j->each, j->draws, 1};
    if ((st = ks_team_for(run, "draws", j->draws, one_draw, j, &each, 1, err))) return st;
    if ((st = failures_to_qr(j, &again, arena, err))) return st;
    return again ? ks_team_for(run, "draws", j->draws, one_draw, j, &each, 1, err) : KSPEC_OK;
}

static void summarise(const empirical_job *j, kspec_wls_result *r) {
    r->draws = j->draws;
    for (size_t i = 0; i < j->count; i++) {
        const double *x = j->each + 3 * i;
        double unused[2];
        kspec_wls_point *m = r->points[i];
        statistics(x, 3 * j->count, j->draws, &m->error_noise_free, &m->error_noise_free_se, &unused[0],
                   &unused[1]);
        statistics(x + 1, 3 * j->count, j->draws, &m->error, &m->error_se, &unused[0], &unused[1]);
        statistics(x + 2, 3 * j->count, j->draws, &m->error_noise, &m->error_noise_se, &m->variance,
                   &m->variance_se);
    }
}

kspec_status kspec_wls_empirical(size_t N, const size_t *p, size_t count, size_t draws,
                                 const kspec_wls_opts *opts, kspec_wls_result **out, kspec_error *err) {
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    double start = ks_now();
    ks_wls_grid g;
    ks_run run;
    ks_fft *fft = NULL;
    ks_arena arena = {0};
    kspec_wls_result *r = NULL;
    kspec_status st = ks_wls_check(N, p, count, opts, &g, &run, err);
    if (!st && draws < 2) st = ks_fail(err, KSPEC_E_ARG, "%zu draws is below 2", draws);
    if (!st) st = ks_wls_result_new(&g, p, count, &r, err);
    if (!st) st = ks_fft_make(N, &fft, err);
    if (!st && count) {
        empirical_job j = {.g = &g, .count = count, .draws = draws};
        st = ks_blas_enter(run.threads, err);
        if (!st) {
            st = simulate(&j, &run, p, fft, &arena, err);
            ks_blas_exit();
        }
        if (!st) summarise(&j, r);
    }
    ks_fft_free(fft);
    ks_arena_free(&arena);
    st = ks_team_end(run.team, st, err);
    return ks_end(st, r, start, out);
}
