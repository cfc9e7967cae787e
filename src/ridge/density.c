/* kspec_ridge_density(): the eigenvalues of the Gram matrix of the features, predicted and from one draw. */
#include "ridge/density.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/result.h"
#include "linalg/cholesky.h"
#include "linalg/eigen.h"
#include "linalg/linalg.h"
#include "ridge/features.h"
#include "ridge/predict.h"
#include "team/team.h"

#include <complex.h>
#include <float.h>
#include <math.h>

typedef double complex cplx;

/* Returns lambda(t) - lambda, and sets its derivative by t. */
static cplx rest(const ks_one *b, double share, cplx lambda, cplx t, cplx *slope) {
    cplx g = 0, d = 0;
    for (size_t i = 0; i < b->n; i++) {
        const cplx q = b->l[i] / (1 + t * b->l[i]);
        g += q, d -= q * q;
    }
    *slope = -share / (t * t) - d / (double)b->n;
    return share / t - g / (double)b->n - lambda;
}

/* Finds t at lambda by Newton's method, from a nearby t. */
static cplx follow(const ks_one *b, double share, cplx lambda, cplx t) {
    for (int k = 0; k < 60; k++) {
        cplx slope;
        const cplx step = rest(b, share, lambda, t, &slope) / slope;
        t -= step;
        if (cabs(step) <= 1e-13 * cabs(t)) break;
    }
    return t;
}

/* Follows the solution t from far above the axis, where t = share/lambda, down to lambda = -x - i eta. */
static cplx solve(const ks_one *b, double share, double x, double eta) {
    double above = 10 * (x + b->l[b->n - 1] * (1 + share));
    cplx t = follow(b, share, -x - above * I, share / (-x - above * I));
    while (above > eta) {
        above = fmax(eta, 0.5 * above);
        t = follow(b, share, -x - above * I, t);
    }
    return t;
}

void ks_density(const ks_one *b, double N, const double *x, size_t count, double *density) {
    const double share = N / (double)b->n;
    for (size_t k = 0; k < count; k++) {
        const double eta = 1e-4 * x[k];
        const cplx lambda = -x[k] - eta * I, t = solve(b, share, x[k], eta);
        cplx trace = 0;
        for (size_t i = 0; i < b->n; i++) trace += 1 / (1 + t * b->l[i]);
        density[k] = fmax(0, cimag(trace / lambda) / (3.14159265358979324 * (double)b->n));
    }
}

/* Lists the kinds of features if a plan has more than one kind. */
static ks_kinds kinds_of(const kspec_ridge *r, double N) {
    ks_kinds b = {.n = r->n, .count = r->mix ? r->mix->count : 2, .N = N};
    for (size_t h = 0; h < b.count; h++) {
        b.K[h] = r->mix ? r->mix->K[h] : r->K[h];
        b.share[h] = r->mix ? r->mix->share[h] : 1;
        b.sine[h] = r->mix ? r->mix->sine[h] : h == SIN;
    }
    return b;
}

/*
 * Returns the fraction of eigenvalues that are 0, for features of one kernel. It counts the numerical rank
 * of K.
 */
static double atom_of(const ks_one *b, double N) {
    double rank = 0;
    for (size_t i = 0; i < b->n; i++) rank += b->l[i] > (double)b->n * DBL_EPSILON * b->l[b->n - 1];
    return 1 - fmin(N, rank) / (double)b->n;
}

/* Computes the eigenvalues of S S^T/n for one draw of W. */
static kspec_status measure(const kspec_ridge *r, size_t N, double *eigenvalues, kspec_error *err) {
    const size_t n = r->n, width = ks_activation_width(r->o.activation) * N;
    ks_arena scratch = {0};
    double *room = ks_arena_alloc(&scratch, ks_ridge_features_room(r), sizeof *room);
    double *S = ks_arena_alloc(&scratch, ks_size(n, width), sizeof *S),
           *G = ks_arena_alloc(&scratch, ks_size(n, n), sizeof *G);
    kspec_status st = scratch.failed ? ks_nomem(err, "a draw of the features", scratch.failed) : KSPEC_OK;
    if (!st) {
        ks_ridge_features(r, N, 0, S, NULL, room);
        ks_syrk(0, n, width, 1 / (double)n, S, width, G, n);
        st = ks_syevd(0, n, G, n, eigenvalues, err);
    }
    for (size_t i = 0; i < n && !st; i++) eigenvalues[i] = fmax(0, eigenvalues[i]);
    ks_arena_free(&scratch);
    return st;
}

/*
 * Chooses the points x from the largest possible eigenvalue down by equal factors, since eigenvalues span
 * decades. The density spreads a lone eigenvalue by a factor of (1 + 1/sqrt N)^2.
 */
static void choose_x(const kspec_ridge_density_result *d, double N, double *x) {
    const double *e = d->eigenvalues, top = 1.3 * pow(1 + 1 / sqrt(N), 2) * e[d->n - 1];
    double low = top;
    for (size_t i = d->n; i-- > 0 && e[i] > 1e-10 * top;) low = e[i];
    low /= 3;
    for (size_t k = 0; k < d->count; k++)
        x[k] = low * pow(top / low, (double)k / (double)(d->count > 1 ? d->count - 1 : 1));
}

typedef struct {
    const ks_one *b;
    double N;
    const double *x;
    double *density;
    size_t count;
} job;

enum { CHUNK = 8 /* points */ };

static kspec_status some_points(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const job *j = ctx;
    const size_t from = chunk * CHUNK, left = j->count - from;
    ks_density(j->b, j->N, j->x + from, left < CHUNK ? left : CHUNK, j->density + from);
    return KSPEC_OK;
}

static kspec_status one_kernel(const kspec_ridge *r, const ks_run *run, size_t N,
                               kspec_ridge_density_result *d, kspec_error *err) {
    job j = {r->one, (double)N, d->x, d->density, d->count};
    const ks_run alone = ks_run_alone(run);
    d->atom = atom_of(r->one, (double)N);
    return ks_parallel_for(&alone, (d->count + CHUNK - 1) / CHUNK, some_points, &j, err);
}

static kspec_status several(const kspec_ridge *r, const ks_run *run, size_t N, kspec_ridge_density_result *d,
                            kspec_error *err) {
    const ks_kinds b = kinds_of(r, (double)N);
    kspec_status st = ks_density_atom(&b, &d->atom, err);
    return st ? st : ks_density_kinds(run, &b, d->x, d->count, d->density, err);
}

kspec_status kspec_ridge_density(kspec_ridge *r, size_t N, size_t count, kspec_ridge_density_result **out,
                                 kspec_error *err) {
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    const double start = ks_now();
    kspec_status st = ks_check_pointer(err, r, "the plan");
    if (!st) st = ks_ridge_check_N(N, err);
    if (!st && (count < 1 || count > 100000))
        st = ks_fail(err, KSPEC_E_ARG, "count %zu is not between 1 and 100000", count);
    if (st) return st;
    kspec_ridge_density_result *d = ks_result_new(sizeof *d);
    if (!d) return ks_nomem(err, "a density", sizeof *d);
    ks_arena *a = ks_result_arena(d);
    *d = (kspec_ridge_density_result){.count = count, .n = r->n};
    double *x = d->x = ks_arena_alloc(a, count, sizeof *x);
    d->density = ks_arena_alloc(a, count, sizeof *d->density);
    d->eigenvalues = ks_arena_alloc(a, r->n, sizeof *d->eigenvalues);
    ks_run run;
    if (a->failed) st = ks_nomem(err, "a density", a->failed);
    if (!st && !(st = ks_ridge_enter(r, &run, err))) {
        st = measure(r, N, d->eigenvalues, err);
        if (!st) choose_x(d, (double)N, x);
        if (!st) st = r->one ? one_kernel(r, &run, N, d, err) : several(r, &run, N, d, err);
        ks_ridge_exit();
    }
    return ks_end(st, d, start, out);
}
