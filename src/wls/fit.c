/* Fits theta to the data at one p, and evaluates the estimate at any x. */
#include "base/clock.h"
#include "base/error.h"
#include "base/result.h"
#include "linalg/linalg.h"
#include "wls/grid.h"

#include <math.h>
#include <string.h>

size_t ks_wls_fit_scratch(const ks_wls_fitter *f) {
    if (f->p >= f->N) return 2 * f->N + ks_fft_scratch(f->fft);
    return f->map ? 1 : ks_toeplitz_scratch(&(ks_toeplitz){f->N, f->p, f->w, f->fft, f->run});
}

/*
 * Computes theta^_{k+N eta} = yhat_k t^(-2 beta)/s_k. Here yhat = A*y/N, and s_k is the sum of t^(-2 beta)
 * over the learned modes of class k.
 */
static void fit_over(const ks_wls_fitter *f, const ks_cplx *y, ks_cplx *theta, ks_cplx *scratch) {
    size_t N = f->N, p = f->p;
    double *s = (double *)(scratch + N);
    memcpy(scratch, y, N * sizeof *y);
    ks_fft_run(f->fft, -1, scratch, scratch + 2 * N);
    memset(s, 0, N * sizeof *s);
    for (size_t k = 0; k < p; k++) s[k % N] += theta[k].re = ks_wls_power(k, -2 * f->beta);
    for (size_t k = 0; k < p; k++) {
        size_t m = k % N;
        double share = theta[k].re / (s[m] * (double)N);
        theta[k] = (ks_cplx){share * scratch[m].re, share * scratch[m].im};
    }
}

/* Computes theta = M y. The columns of the stored map are the conjugated rows of M. */
static void fit_dense(const ks_wls_fitter *f, const ks_cplx *y, ks_cplx *theta) {
    for (size_t k = 0; k < f->p; k++) {
        ks_cplx sum = {0, 0};
        for (size_t j = 0; j < f->N; j++) {
            ks_cplx d = ks_cmul(ks_conj(f->map[k * f->N + j]), y[j]);
            sum.re += d.re, sum.im += d.im;
        }
        theta[k] = sum;
    }
}

int ks_wls_fit(const ks_wls_fitter *f, const ks_cplx *y, ks_cplx *theta, ks_cplx *scratch) {
    if (f->p < f->N && !f->map)
        return ks_toeplitz_solve(&(ks_toeplitz){f->N, f->p, f->w, f->fft, f->run}, y, theta, scratch);
    if (f->map)
        fit_dense(f, y, theta);
    else
        fit_over(f, y, theta, scratch);
    return 0;
}

static double residual(const ks_wls_fitter *f, const ks_cplx *y, const ks_cplx *theta, ks_cplx *grid,
                       ks_cplx *scratch) {
    double sum = 0;
    memset(grid, 0, f->N * sizeof *grid);
    for (size_t k = 0; k < f->p; k++) grid[k % f->N].re += theta[k].re, grid[k % f->N].im += theta[k].im;
    ks_fft_run(f->fft, 1, grid, scratch);
    for (size_t j = 0; j < f->N; j++) sum += ks_cabs2((ks_cplx){y[j].re - grid[j].re, y[j].im - grid[j].im});
    return sqrt(sum / (double)f->N);
}

/*
 * Returns the data divided by *unit, the power of two next to the largest value, so that no square over-
 * or underflows.
 */
static kspec_status take_data(const double *data, int complex_data, size_t N, ks_cplx *y, double *unit,
                              kspec_error *err) {
    double most = 0;
    for (size_t j = 0; j < N; j++) {
        y[j] = complex_data ? (ks_cplx){data[2 * j], data[2 * j + 1]} : (ks_cplx){data[j], 0};
        if (!isfinite(y[j].re) || !isfinite(y[j].im))
            return ks_fail(err, KSPEC_E_DATA, "y[%zu] is not a finite number", j);
        most = fmax(most, fmax(fabs(y[j].re), fabs(y[j].im)));
    }
    /* The unit is at least 2^-1000, so that 1/unit is finite. */
    *unit = most > 0 ? ldexp(1, (int)fmax(ilogb(most), -1000)) : 1;
    for (size_t j = 0; j < N; j++) y[j].re *= 1 / *unit, y[j].im *= 1 / *unit;
    return KSPEC_OK;
}

static kspec_status fit(const ks_wls_grid *g, ks_wls_fitter *f, const double *data, ks_arena *arena,
                        kspec_wls_fit_result *r, kspec_error *err) {
    size_t N = g->N, scratch_size = ks_wls_fit_scratch(f),
           numbers = ks_size_add(ks_size_add(ks_size(3, N), f->p), scratch_size);
    kspec_status st = ks_check_memory(err, ks_size(numbers, sizeof(ks_cplx)), "the fit");
    if (st) return st;
    double *w = ks_arena_alloc(arena, f->p < N ? N : 1, sizeof *w), accuracy, unit = 1;
    ks_cplx *y = ks_arena_alloc(arena, N, sizeof *y), *map;
    /* The scratch also serves the transforms. */
    ks_cplx *scratch = ks_arena_alloc(arena, scratch_size, sizeof *scratch);
    ks_cplx *theta = ks_arena_alloc(ks_result_arena(r), f->p, sizeof *theta),
            *grid = ks_arena_alloc(ks_result_arena(r), N, sizeof *grid);
    if (arena->failed || !theta || !grid) return ks_nomem(err, "the fit", ks_size(numbers, sizeof(ks_cplx)));
    f->w = w;
    if ((st = take_data(data, g->complex_data, N, y, &unit, err))) return st;
    if (f->p < N) ks_wls_weights(g, w);
    int steps = ks_wls_fit(f, y, theta, scratch);
    if (steps == KS_CANCELLED) return ks_fail(err, KSPEC_E_CANCELLED, "cancelled");
    if (steps == KS_STEEP) {
        if ((st = ks_wls_dense_map(N, f->p, w, arena, &map, &accuracy, err))) return st;
        f->map = map;
        steps = ks_wls_fit(f, y, theta, scratch);
    }
    r->theta = (double *)theta;
    r->iterations = steps;
    r->residual = unit * residual(f, y, theta, grid, scratch);
    for (size_t k = 0; k < f->p; k++) theta[k].re *= unit, theta[k].im *= unit;
    r->fitted = (double *)grid;
    for (size_t j = 0; j < N; j++) grid[j].re *= unit, grid[j].im *= unit;
    return KSPEC_OK;
}

kspec_status kspec_wls_fit(size_t N, size_t p, const double *y, const kspec_wls_opts *opts,
                           kspec_wls_fit_result **out, kspec_error *err) {
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    double start = ks_now();
    ks_wls_grid g;
    ks_run run;
    ks_fft *fft = NULL;
    ks_arena arena = {0};
    kspec_wls_fit_result *r = NULL;
    kspec_status st = ks_wls_check(N, &p, 1, opts, &g, &run, err);
    if (!st && !y) st = ks_fail(err, KSPEC_E_ARG, "y is missing (NULL)");
    if (!st) st = ks_fft_make(N, &fft, err);
    if (!st && !(r = ks_result_new(sizeof *r))) st = ks_nomem(err, "the fit", sizeof *r);
    if (!st) {
        ks_wls_fitter f = {.N = N, .p = p, .beta = g.beta, .fft = fft, .run = &run};
        r->N = N, r->p = p, r->regime = ks_wls_regime_of(N, p);
        st = ks_blas_enter(run.threads, err);
        if (!st) {
            st = fit(&g, &f, y, &arena, r, err);
            ks_blas_exit();
        }
    }
    ks_fft_free(fft);
    ks_arena_free(&arena);
    return ks_end(st, r, start, out);
}

/* ---- predictions ---- */

typedef struct {
    const ks_cplx *theta;
    size_t p, count;
    const double *x;
    ks_cplx *f;
} predict_job;

enum { POINTS = 64, BLOCK = 256 };

/*
 * Evaluates the estimate by Horner's rule in z = e^{ix} over blocks of coefficients. Each block computes
 * its power of z anew, so the rounding errors of the powers do not accumulate over all p.
 */
static kspec_status predict_some(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const predict_job *j = ctx;
    size_t end = (chunk + 1) * POINTS < j->count ? (chunk + 1) * POINTS : j->count;
    for (size_t i = chunk * POINTS; i < end; i++) {
        ks_cplx z = {cos(j->x[i]), sin(j->x[i])}, sum = {0, 0};
        for (size_t first = 0; first < j->p; first += BLOCK) {
            ks_cplx part = {0, 0};
            for (size_t k = first + BLOCK < j->p ? first + BLOCK : j->p; k-- > first;) {
                part = ks_cmul(part, z);
                part.re += j->theta[k].re, part.im += j->theta[k].im;
            }
            double turn = (double)first * j->x[i];
            part = ks_cmul(part, (ks_cplx){cos(turn), sin(turn)});
            sum.re += part.re, sum.im += part.im;
        }
        j->f[i] = sum;
    }
    return KSPEC_OK;
}

kspec_status kspec_wls_predict(const double *theta, size_t p, const double *x, size_t count, double *f,
                               int threads, kspec_error *err) {
    ks_clear(err);
    ks_run run;
    kspec_status st = ks_run_init(&run, threads, (kspec_progress){0}, err);
    if (st) return st;
    if (p == 0) return ks_fail(err, KSPEC_E_ARG, "p = 0 is below 1");
    if (!theta) return ks_fail(err, KSPEC_E_ARG, "theta is missing (NULL)");
    if (count && !x) return ks_fail(err, KSPEC_E_ARG, "x is missing (NULL)");
    if (count && !f) return ks_fail(err, KSPEC_E_ARG, "no array for f (NULL)");
    for (size_t i = 0; i < count; i++)
        if (!isfinite(x[i])) return ks_fail(err, KSPEC_E_DATA, "x[%zu] is not a finite number", i);
    predict_job j = {(const ks_cplx *)theta, p, count, x, (ks_cplx *)f};
    return ks_parallel_for(&run, (count + POINTS - 1) / POINTS, predict_some, &j, err);
}
