/* kspec_wls_smooth(): tries the bases, chooses one, and describes the curve. */
#include "wls/smooth.h"

#include "base/clock.h"
#include "base/doubt.h"
#include "base/error.h"
#include "base/result.h"
#include "base/student.h"
#include "linalg/linalg.h"
#include "wls/smooth_data.h"

#include <math.h>
#include <string.h>

enum { MOST_BASES = 3 };

/* Holds a basis with its memory. Only the chosen basis keeps most of it to the end. */
typedef struct {
    ks_arena arena;
    ks_reduced data;
    ks_evidence evidence;
} trial;

typedef struct {
    size_t N;
    const double *x;
    kspec_wls_smooth_opts o;
    ks_run run;
    ks_smooth_data data;
    ks_arena arena;
    trial trials[MOST_BASES];
    size_t count, best;
    ks_posterior post;
    kspec_wls_smooth_result *r;
} job;

static kspec_status check(const job *j, kspec_error *err) {
    const kspec_wls_smooth_opts *o = &j->o;
    if ((unsigned)o->basis > KSPEC_WLS_BASIS_FOURIER)
        return ks_fail(err, KSPEC_E_ARG, "unknown basis %d", (int)o->basis);
    if (!(o->beta >= 0 && o->beta <= 50))
        return ks_fail(err, KSPEC_E_ARG, "beta %g is not between 0 and 50", o->beta);
    if (!(o->noise >= 0 && isfinite(o->noise)))
        return ks_fail(err, KSPEC_E_ARG, "noise %g is not a finite number of at least 0", o->noise);
    if (!(o->period >= 0 && isfinite(o->period)))
        return ks_fail(err, KSPEC_E_ARG, "period %g is not a finite number of at least 0", o->period);
    if (o->complex_data && o->basis && o->basis != KSPEC_WLS_BASIS_FOURIER)
        return ks_refuse(err, KSPEC_E_ARG, "basis", "fourier", "complex data need complex modes");
    return KSPEC_OK;
}

/* ---- bases ---- */

static kspec_status try_basis(job *j, kspec_wls_basis kind, double from, double to, kspec_error *err) {
    trial *t = &j->trials[j->count];
    const ks_run run = ks_run_part(&j->run, from, to);
    const ks_basis b = ks_basis_for(kind, &j->data, j->o.period, j->o.p);
    kspec_status st = ks_smooth_reduce(&run, &b, &j->data, &t->arena, &t->data, err);
    if (!st)
        st = ks_smooth_evidence(&run, &t->data, j->o.beta, j->o.noise / (j->data.weight * j->data.unit),
                                &t->arena, &t->evidence, err);
    j->count++;
    return st;
}

static kspec_status try_bases(job *j, kspec_error *err) {
    static const kspec_wls_basis all[MOST_BASES] = {KSPEC_WLS_BASIS_REAL, KSPEC_WLS_BASIS_COSINE,
                                                    KSPEC_WLS_BASIS_LEGENDRE};
    const kspec_wls_basis given = j->o.complex_data ? KSPEC_WLS_BASIS_FOURIER : j->o.basis;
    kspec_status st = KSPEC_OK;
    if (given) return try_basis(j, given, 0, 0.9, err);
    for (size_t k = 0; k < MOST_BASES && !st; k++)
        st = try_basis(j, all[k], 0.3 * (double)k, 0.3 * (double)(k + 1), err);
    return st;
}

static kspec_status list_choices(job *j, kspec_error *err) {
    kspec_wls_smooth_result *r = j->r;
    double all = -INFINITY;
    for (size_t k = 0; k < j->count; k++) {
        all = ks_log_sum(all, j->trials[k].evidence.log_evidence);
        if (j->trials[k].evidence.log_evidence > j->trials[j->best].evidence.log_evidence) j->best = k;
    }
    r->choices = ks_arena_list(ks_result_arena(r), j->count, sizeof **r->choices);
    if (!r->choices) return ks_nomem(err, "the choices", ks_size(j->count, sizeof **r->choices));
    for (size_t k = 0; k < j->count; k++) {
        const ks_evidence *e = &j->trials[k].evidence;
        size_t place = 0;
        for (size_t i = 0; i < j->count; i++) {
            const double other = j->trials[i].evidence.log_evidence;
            place += other > e->log_evidence || (other == e->log_evidence && i < k);
        }
        kspec_wls_choice *c = r->choices[place];
        c->basis = e->data->basis.kind, c->probability = exp(e->log_evidence - all);
        for (int f = 0; f < KS_PRIORS; f++) c->prior[f] = exp(e->log_prior[f] - e->log_evidence);
    }
    r->choice_count = j->count;
    return KSPEC_OK;
}

/* ---- the ends of an interval ---- */

/*
 * With p polynomials, the squared error is p^2 s^2/N at the ends of the interval. With p sines and cosines
 * it is p s^2/N everywhere. The evidence counts the functions that describe the data, and ignores this
 * difference. So the periodic curve replaces the likeliest curve under two conditions. First, the data
 * cannot tell the curves apart: the periodic curve stays in the 99% band of the likeliest curve. Second,
 * the band of the periodic curve is at most half as wide; both bands are measured where they are widest.
 */
static const double WITHIN = 2.576, NARROWER = 0.5;
enum { COMPARED = 400 };

/*
 * Computes the curve and its deviation at `count` of the data's points, spread evenly; the arrays have
 * room for all points.
 */
static kspec_status at_some(const job *j, const ks_posterior *post, const double *x, size_t count,
                            ks_cplx *curve, double *deviation, kspec_error *err) {
    if (post->data->R) {
        const ks_run run = ks_run_part(&j->run, 0.9, 0.9);
        return ks_smooth_at(&run, post, x, count, curve, deviation, err);
    }
    kspec_status st = ks_smooth_at_grid(post, curve, deviation, err);
    for (size_t i = 0; i < count && !st; i++) {
        const size_t at = i * (j->data.N - 1) / (count - 1);
        curve[i] = curve[at], deviation[i] = deviation[at];
    }
    return st;
}

/* Returns 1 if the second of two curves is inside the band of the first, and has a much narrower band. */
static int is_as_good(size_t count, ks_cplx *const curve[2], double *const deviation[2]) {
    double widest[2] = {0, 0};
    for (size_t i = 0; i < count; i++) {
        if (fabs(curve[1][i].re - curve[0][i].re) > WITHIN * deviation[0][i]) return 0;
        for (int c = 0; c < 2; c++) widest[c] = fmax(widest[c], deviation[c][i]);
    }
    return widest[1] <= NARROWER * widest[0];
}

static kspec_status prefer_periodic(job *j, kspec_error *err) {
    const size_t N = j->data.N, count = N < COMPARED ? N : COMPARED;
    size_t k = 0;
    while (k < j->count && !ks_basis_is_periodic(&j->trials[k].data.basis)) k++;
    if (k == j->count || k == j->best) return KSPEC_OK;
    ks_posterior periodic;
    kspec_status st = ks_smooth_posterior(&j->trials[k].evidence, &j->arena, &periodic, err);
    if (st) return st;
    ks_cplx *curve[2] = {ks_alloc(N, sizeof **curve), ks_alloc(N, sizeof **curve)};
    double *deviation[2] = {ks_alloc(N, sizeof **deviation), ks_alloc(N, sizeof **deviation)},
           *x = ks_alloc(count, sizeof *x);
    if (!curve[0] || !curve[1] || !deviation[0] || !deviation[1] || !x)
        st = ks_nomem(err, "two curves", ks_size(N, 2 * (sizeof **curve + sizeof **deviation)));
    for (size_t i = 0; i < count && !st; i++) x[i] = j->data.x[i * (N - 1) / (count - 1)];
    if (!st) st = at_some(j, &j->post, x, count, curve[0], deviation[0], err);
    if (!st) st = at_some(j, &periodic, x, count, curve[1], deviation[1], err);
    if (!st && is_as_good(count, curve, deviation)) j->post = periodic, j->best = k;
    for (int c = 0; c < 2; c++) ks_free(curve[c]), ks_free(deviation[c]);
    ks_free(x);
    return st;
}

/* ---- least squares with p functions, as in the papers ---- */

/* Lists the values of p: whole levels, all up to 64 and then in steps of 5%. */
static size_t list_p(const ks_reduced *r, size_t *to) {
    const size_t top = ks_basis_level(&r->basis, r->K - 1);
    size_t count = 0;
    for (size_t level = 0;; level += level < 64 ? 1 : level / 20) {
        if (level > top) level = top;
        if (to) to[count] = ks_basis_upto(&r->basis, level);
        count++;
        if (level == top) return count;
    }
}

/*
 * Computes the expected error of least squares with p functions, which is the projection onto them. Noise
 * adds the error s^2 p. The fit misses the components of the curve in all other functions; signal_k is
 * their prior variance in the direction z_k.
 */
static kspec_status list_errors(job *j, kspec_error *err) {
    const ks_reduced *d = &j->trials[j->best].data;
    kspec_wls_smooth_result *r = j->r;
    const double parts = (double)ks_basis_parts(&d->basis), N = (double)d->N,
                 unit = j->data.unit * j->data.unit;
    r->curve_count = list_p(d, NULL);
    r->curve = ks_arena_list(ks_result_arena(r), r->curve_count, sizeof **r->curve);
    size_t *p = ks_arena_alloc(&j->arena, r->curve_count, sizeof *p);
    if (!r->curve || !p) return ks_nomem(err, "the errors", ks_size(r->curve_count, sizeof **r->curve));
    list_p(d, p);
    const double noise = j->post.noise * j->post.noise;
    double missed = 0, left = d->rest;
    size_t k = d->K;
    for (size_t i = r->curve_count; i-- > 0;) {
        for (; k > p[i]; k--) missed += j->post.signal[k - 1], left += d->z[k - 1] * d->z[k - 1];
        *r->curve[i] = (kspec_wls_curve_point){.p = p[i] / (size_t)parts,
                                               .error = unit * (noise * (double)p[i] + missed) / N,
                                               .residual = j->data.unit * sqrt(left / N)};
        if (!r->best || r->curve[i]->error <= r->best->error) r->best = r->curve[i];
    }
    return KSPEC_OK;
}

/* ---- the curve ---- */

/* Converts a curve to the caller's units. Real data have one number per point. */
static void put(const job *j, const ks_cplx *curve, const double *deviation, size_t count, double width,
                double *to, double *half) {
    const ks_smooth_data *d = &j->data;
    for (size_t i = 0; i < count; i++) {
        const ks_cplx v = {d->mean.re + d->unit * curve[i].re, d->mean.im + d->unit * curve[i].im};
        if (d->is_complex)
            to[2 * i] = v.re, to[2 * i + 1] = v.im;
        else
            to[i] = v.re;
        half[i] = d->unit * width * deviation[i];
    }
}

static kspec_status evaluate(job *j, const double *x, size_t count, int on_grid, double *to, double *half,
                             kspec_error *err) {
    ks_cplx *curve = ks_alloc(count, sizeof *curve);
    double *deviation = ks_alloc(count, sizeof *deviation);
    kspec_status st = KSPEC_OK;
    const ks_run run = ks_run_part(&j->run, on_grid ? 0.9 : 0.95, on_grid ? 0.95 : 1);
    if (!curve || !deviation)
        st = ks_nomem(err, "the curve", ks_size(count, sizeof *curve));
    else if (on_grid)
        st = ks_smooth_at_grid(&j->post, curve, deviation, err);
    else
        st = ks_smooth_at(&run, &j->post, x, count, curve, deviation, err);
    if (!st) {
        const double width = j->o.noise > 0 ? KS_Z95 : ks_student_quantile(j->trials[j->best].evidence.n);
        put(j, curve, deviation, count, width, to, half);
        if (x == j->x)
            for (size_t i = 0; i < count; i++)
                j->r->error +=
                    (j->data.is_complex ? 2 : 1) * pow(deviation[i] * j->data.unit, 2) / (double)count;
    }
    ks_free(curve);
    ks_free(deviation);
    return st;
}

/* Returns 1 if the data are in grid order, without gaps. */
static int in_order(const job *j) {
    if (j->trials[j->best].data.R || j->data.N != j->N) return 0;
    for (size_t i = 1; i < j->N && j->x; i++)
        if (j->x[i] < j->x[i - 1]) return 0;
    return 1;
}

static kspec_status describe(job *j, kspec_error *err) {
    kspec_wls_smooth_result *r = j->r;
    const ks_reduced *d = &j->trials[j->best].data;
    const double unit = j->data.unit;
    const size_t parts = ks_basis_parts(&d->basis), per = j->data.is_complex ? 2 : 1;
    r->N = j->N, r->gaps = j->N - j->data.N;
    r->basis = d->basis.kind, r->low = d->basis.low, r->high = d->basis.high;
    r->period = ks_basis_is_periodic(&d->basis) ? r->high - r->low : NAN;
    r->regular = !d->R;
    r->p = d->K / parts;
    const double noise = unit * j->data.weight; /* the noise variance of a point with weight 1 */
    r->noise = noise * j->post.noise, r->noise_low = noise * j->post.noise_low;
    r->noise_high = noise * j->post.noise_high;
    r->beta = j->post.beta, r->beta_low = j->post.beta_low, r->beta_high = j->post.beta_high;
    ks_arena *a = ks_result_arena(r);
    r->theta = ks_arena_alloc(a, d->K, sizeof *r->theta);
    r->fitted = ks_arena_alloc(a, ks_size(per, j->N), sizeof *r->fitted);
    r->half_width = ks_arena_alloc(a, j->N, sizeof *r->half_width);
    r->at_fitted = ks_arena_alloc(a, ks_size(per, j->o.at_count), sizeof *r->at_fitted);
    r->at_half_width = ks_arena_alloc(a, j->o.at_count, sizeof *r->at_half_width);
    if (a->failed) return ks_nomem(err, "the curve", a->failed);
    for (size_t k = 0; k < d->K; k++) r->theta[k] = unit * j->post.theta[k];
    r->theta[0] += j->data.mean.re;
    if (parts == 2) r->theta[1] += j->data.mean.im;
    kspec_status st = evaluate(j, j->x, j->N, in_order(j), r->fitted, r->half_width, err);
    if (!st && j->o.at_count)
        st = evaluate(j, j->o.at, j->o.at_count, 0, r->at_fitted, r->at_half_width, err);
    return st;
}

/*
 * Returns the correlation of the residuals of neighbouring points. It returns 0 if the residuals are below
 * 1e-6 of the data, where the scales of the priors end.
 */
static double residuals_correlation(const job *j) {
    const ks_smooth_data *d = &j->data;
    const double *fitted = j->r->fitted;
    double product = 0, square = 0;
    ks_cplx before = {0, 0};
    for (size_t i = 0; i < d->N; i++) {
        const size_t at = d->place[i];
        const double w = d->root_weight ? d->root_weight[i] : 1;
        const ks_cplx f =
            d->is_complex ? (ks_cplx){fitted[2 * at], fitted[2 * at + 1]} : (ks_cplx){fitted[at], d->mean.im};
        const ks_cplx e = {w * (d->y[i].re - (f.re - d->mean.re) / d->unit),
                           w * (d->y[i].im - (f.im - d->mean.im) / d->unit)};
        product += e.re * before.re + e.im * before.im, square += e.re * e.re + e.im * e.im;
        before = e;
    }
    return square > 1e-12 * (double)d->N ? product / square : 0;
}

static void doubt(job *j) {
    const ks_reduced *d = &j->trials[j->best].data;
    const ks_smooth_data *data = &j->data;
    const ks_doubts to = KS_DOUBTS(j->r);
    if (d->basis.kind == KSPEC_WLS_BASIS_FOURIER && !data->is_complex)
        ks_doubt(to, KSPEC_DOUBT_REAL_DATA, NULL, NULL, 0);
    size_t outside = 0;
    double first = 0;
    for (size_t i = 0; i < j->o.at_count && !ks_basis_is_periodic(&d->basis); i++)
        if (j->o.at[i] < data->x[0] || j->o.at[i] > data->x[data->N - 1])
            first = outside++ ? first : j->o.at[i];
    if (outside) ks_doubt(to, KSPEC_DOUBT_EXTRAPOLATED, NULL, NULL, (double)outside, first);
    const double noise = j->post.noise * j->post.noise;
    if (!j->o.p && !j->o.stop_at_noise && d->R && d->K < data->distinct * ks_basis_parts(&d->basis) &&
        j->post.signal[d->K - 1] > noise)
        ks_doubt(to, KSPEC_DOUBT_TOO_FEW_FUNCTIONS, NULL, NULL, (double)(d->K / ks_basis_parts(&d->basis)));
    /* Independent residuals have a correlation whose standard deviation is 1/sqrt(N). */
    const double correlation = residuals_correlation(j);
    if (correlation > 0.3 && correlation * sqrt((double)data->N) > 4 &&
        (data->is_complex || d->basis.kind != KSPEC_WLS_BASIS_FOURIER))
        ks_doubt(to, KSPEC_DOUBT_RESIDUALS_CORRELATED, NULL, NULL, correlation);
}

static kspec_status smooth(job *j, kspec_error *err) {
    kspec_status st = try_bases(j, err);
    if (!st) st = list_choices(j, err);
    if (st) return st;
    st = ks_smooth_posterior(&j->trials[j->best].evidence, &j->arena, &j->post, err);
    if (!st) st = prefer_periodic(j, err);
    if (!st) st = list_errors(j, err);
    trial *t = &j->trials[j->best];
    size_t p = t->data.K;
    if (!st && j->o.stop_at_noise) st = ks_smooth_stopped(&t->evidence, &j->post, &p, &j->arena, err);
    if (!st) st = describe(j, err);
    if (st) return st;
    if (j->o.stop_at_noise) j->r->p = p / ks_basis_parts(&t->data.basis);
    doubt(j);
    return ks_result_arena(j->r)->failed ? ks_nomem(err, "the doubts", ks_result_arena(j->r)->failed)
                                         : KSPEC_OK;
}

kspec_status kspec_wls_smooth(size_t N, const double *x, const double *y, const kspec_wls_smooth_opts *opts,
                              kspec_wls_smooth_result **out, kspec_error *err) {
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    const double start = ks_now();
    job j = {.N = N, .x = x};
    double *grid = NULL;
    kspec_status st = ks_take_opts(&j.o, sizeof j.o, opts, err);
    if (!st) st = check(&j, err);
    if (!st) st = ks_run_init(&j.run, j.o.threads, j.o.progress, err);
    if (!st) st = ks_smooth_take(N, x, y, &j.o, &j.arena, &j.data, err);
    if (!st && j.o.p > j.data.distinct)
        st = ks_refuse(err, KSPEC_E_ARG, "p", NULL, "p = %zu exceeds %zu, the number of different x", j.o.p,
                       j.data.distinct);
    if (!st && !x) {
        if (!(grid = ks_arena_alloc(&j.arena, N, sizeof *grid)))
            st = ks_nomem(err, "the grid", ks_size(N, sizeof *grid));
        for (size_t i = 0; i < N && grid; i++) grid[i] = 2 * 3.14159265358979323846 * (double)i / (double)N;
        j.x = grid;
        if (!(j.o.period > 0)) j.o.period = 2 * 3.14159265358979323846;
    }
    if (!st && !(j.r = ks_result_new(sizeof *j.r))) st = ks_nomem(err, "the curve", sizeof *j.r);
    if (!st) st = ks_blas_enter(j.run.threads, err);
    if (!st) {
        st = smooth(&j, err);
        ks_blas_exit();
    }
    for (size_t k = 0; k < j.count; k++) ks_arena_free(&j.trials[k].arena);
    ks_arena_free(&j.arena);
    return ks_end(st, j.r, start, out);
}
