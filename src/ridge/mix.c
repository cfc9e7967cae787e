/* Solves the fixed points of features of several kinds. */
#include "ridge/mix.h"

#include "base/error.h"
#include "features/matern.h"
#include "linalg/cholesky.h"
#include "linalg/linalg.h"
#include "ridge/activation.h"
#include "ridge/kernels.h"

#include <float.h>
#include <math.h>

/* ---- the kernels ---- */

/* The scale of a rough kernel has a heavier tail, so its rule needs more nodes. */
static size_t nodes(double nu) { return nu < 2 ? 6 : 4; }

static size_t kinds(const kspec_ridge *r) { return nodes(r->o.nu) * ks_activation_width(r->o.activation); }

size_t ks_mix_size(const kspec_ridge *r) {
    const size_t square = ks_size(r->n, r->n), cross = ks_size(r->nt, r->n);
    /* The number of n x n matrices: K, M, Q, work, and a spare pair. */
    const size_t matrices = 2 * kinds(r) + 4;
    return ks_size_add(ks_size(matrices, square), ks_size(kinds(r) + 4, cross));
}

void ks_mix_alloc(kspec_ridge *r) {
    ks_arena *a = &r->arena;
    const size_t square = ks_size(r->n, r->n), cross = ks_size(r->nt, r->n);
    ks_mix *m = r->mix = ks_arena_zalloc(a, 1, sizeof *r->mix);
    if (!m) return;
    m->count = kinds(r);
    for (size_t h = 0; h < m->count; h++) {
        m->K[h] = ks_arena_alloc(a, square, sizeof(double));
        m->M[h] = ks_arena_alloc(a, square, sizeof(double));
        m->Kt[h] = ks_arena_alloc(a, cross, sizeof(double));
        m->own[h] = ks_arena_alloc(a, r->nt, sizeof(double));
    }
    m->Q = ks_arena_alloc(a, square, sizeof(double));
    m->work = ks_arena_alloc(a, square, sizeof(double));
    m->H = ks_arena_alloc(a, cross, sizeof(double));
    m->HK = ks_arena_alloc(a, cross, sizeof(double));
}

static void scaled(const double *x, size_t count, double s, double *to) {
    for (size_t k = 0; k < count; k++) to[k] = s * x[k];
}

static void add(double *to, const double *x, size_t count) {
    for (size_t k = 0; k < count; k++) to[k] += x[k];
}

/*
 * Computes the kernels of one node, for rows that are s times as long. Random phases use the sum of both
 * kernels, and cosines alone use only the first kernel.
 */
static kspec_status make_node(kspec_ridge *r, const ks_run *run, size_t node, size_t all, double s,
                              kspec_ridge *twin, kspec_error *err) {
    ks_mix *m = r->mix;
    const size_t n = r->n, nt = r->nt;
    const int pair = r->o.activation == KSPEC_RIDGE_ACTIVATION_FOURIER;
    scaled(r->X, n * r->p, s, twin->X);
    scaled(r->Xt, nt * r->p, s, twin->Xt);
    const size_t h = node, g = all + node;
    twin->K[COS] = m->K[h], twin->Kt[COS] = m->Kt[h], twin->own[COS] = m->own[h];
    if (pair) twin->K[SIN] = m->K[g], twin->Kt[SIN] = m->Kt[g], twin->own[SIN] = m->own[g];
    kspec_status st = ks_ridge_kernels(twin, run, err);
    if (st) return st;
    m->trace[h] = twin->trace[COS], m->trace_t[h] = twin->trace_t[COS];
    if (pair) m->trace[g] = twin->trace[SIN], m->trace_t[g] = twin->trace_t[SIN], m->sine[g] = 1;
    if (r->o.activation != KSPEC_RIDGE_ACTIVATION_PHASES) return KSPEC_OK;
    add(m->K[h], twin->K[SIN], n * n);
    add(m->Kt[h], twin->Kt[SIN], nt * n);
    add(m->own[h], twin->own[SIN], nt);
    m->trace[h] += twin->trace[SIN], m->trace_t[h] += twin->trace_t[SIN];
    return KSPEC_OK;
}

kspec_status ks_mix_make(kspec_ridge *r, const ks_run *run, kspec_error *err) {
    ks_mix *m = r->mix;
    const size_t all = nodes(r->o.nu);
    ks_arena scratch = {0};
    double square[KS_MIX_MOST], weight[KS_MIX_MOST];
    kspec_ridge twin = *r;
    twin.X = ks_arena_alloc(&scratch, ks_size(r->n, r->p), sizeof(double));
    twin.Xt = ks_arena_alloc(&scratch, ks_size(r->nt, r->p), sizeof(double));
    twin.K[SIN] = m->work, twin.Kt[SIN] = m->H,
    twin.own[SIN] = ks_arena_alloc(&scratch, r->nt, sizeof(double));
    kspec_status st = scratch.failed ? ks_nomem(err, "scaled rows", scratch.failed) : KSPEC_OK;
    if (!st) st = ks_matern_rule(r->o.nu, all, square, weight, err);
    for (size_t k = 0; k < all && !st; k++) {
        /* Beyond a scale of 1e6, all rows count as unrelated. */
        const double s = fmin(sqrt(square[k]), 1e6);
        const ks_run part = ks_run_part(run, (double)k / (double)all, (double)(k + 1) / (double)all);
        st = make_node(r, &part, k, all, s, &twin, err);
        m->share[k] = m->share[(all + k) % KS_MIX_MOST] = weight[k];
    }
    r->trace[COS] = r->trace[SIN] = 0;
    for (size_t h = 0; h < m->count && !st; h++) r->trace[COS] += m->share[h] * m->trace[h];
    ks_arena_free(&scratch);
    return st;
}

/* ---- the resolvent ---- */

typedef struct {
    const ks_mix *m;
    const double *k;
    size_t n, tile;
    double ridge, *top;
} combine_job;

static kspec_status combine_rows(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const combine_job *j = ctx;
    const size_t n = j->n, last = (chunk + 1) * j->tile < n ? (chunk + 1) * j->tile : n;
    for (size_t i = chunk * j->tile; i < last; i++) {
        double *A = j->m->Q + i * n;
        for (size_t c = 0; c <= i; c++) A[c] = 0;
        for (size_t h = 0; h < j->m->count; h++) {
            const double *K = j->m->K[h] + i * n, k = j->k[h];
            for (size_t c = 0; c <= i; c++) A[c] += k * K[c];
        }
        A[i] += j->ridge;
    }
    return KSPEC_OK;
}

/* Returns tr(M_g M_h). Small blocks are transposed within the cache */
static double trace_of_product(const double *A, const double *B, size_t n) {
    enum { SMALL = 32 };
    double sum = 0;
    for (size_t i = 0; i < n; i += SMALL)
        for (size_t j = 0; j < n; j += SMALL)
            for (size_t a = i; a < n && a < i + SMALL; a++) {
                double part = 0;
                for (size_t b = j; b < n && b < j + SMALL; b++) part += A[a * n + b] * B[b * n + a];
                sum += part;
            }
    return sum;
}

typedef struct {
    const kspec_ridge *r;
    ks_mix_solution *s;
} pair_job;

/* Computes entry (g,h), h <= g, of the matrix D; for g = h it also computes the trace t0. */
static kspec_status one_pair(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const pair_job *j = ctx;
    const ks_mix *m = j->r->mix;
    ks_mix_solution *s = j->s;
    const size_t n = j->r->n;
    size_t g, h;
    ks_lower(chunk, &g, &h);
    const double t = s->N / ((double)n * (double)n) * trace_of_product(m->M[g], m->M[h], n);
    const double ug = s->shift + s->x[g], uh = s->shift + s->x[h];
    s->D[g][h] = t * m->share[h] / (uh * uh);
    s->D[h][g] = t * m->share[g] / (ug * ug);
    if (g == h) s->t0[g] = ks_dot(n * n, m->M[g], m->Q) / (double)n;
    return KSPEC_OK;
}

kspec_status ks_mix_resolvent(kspec_ridge *r, const ks_run *run, ks_mix_solution *s, int second,
                              kspec_error *err) {
    const ks_mix *m = r->mix;
    const size_t n = r->n, tile = ks_tile(n);
    double k[KS_MIX_MOST], top = 0;
    size_t bad = 0;
    for (size_t h = 0; h < m->count; h++) k[h] = s->N / (double)n * m->share[h] / (s->shift + s->x[h]);
    combine_job c = {.m = m, .k = k, .n = n, .tile = tile, .ridge = s->ridge};
    kspec_status st = ks_parallel_for(run, (n + tile - 1) / tile, combine_rows, &c, err);
    for (size_t i = 0; i < n && !st; i++) top = fmax(top, m->Q[i * n + i]);
    if (!st) st = ks_potrf_tiled(run, n, m->Q, &bad, err);
    for (size_t i = 0; i < n && !st && !bad && s->ridge == 0; i++)
        if (!(m->Q[i * n + i] * m->Q[i * n + i] > (double)n * DBL_EPSILON * top)) bad = i + 1;
    if (bad && s->ridge == 0)
        st = ks_fail(
            err, KSPEC_E_NUMERIC,
            "lambda 0 with more features than rows needs a positive definite kernel matrix, but row %zu "
            "(from 0) repeats or nearly depends on those before it; use lambda > 0",
            bad - 1);
    else if (bad)
        st = ks_fail(err, KSPEC_E_NUMERIC,
                     "lambda %g is lost in rounding beside the kernel: row %zu (from 0)", s->lambda, bad - 1);
    if (!st) st = ks_potri_tiled(run, n, m->Q, m->work, err);
    for (size_t h = 0; h < m->count && !st; h++) s->G[h] = ks_dot(n * n, m->Q, m->K[h]) / (double)n;
    for (size_t h = 0; h < m->count && !st && second; h++)
        st = ks_gemm_tiled(run, 0, 0, n, n, n, 1, m->Q, n, m->K[h], n, 0, m->M[h], n, err);
    pair_job j = {r, s};
    if (!st && second) st = ks_parallel_for(run, m->count * (m->count + 1) / 2, one_pair, &j, err);
    return st;
}

/* ---- the fixed points ---- */

/* Solves a linear system by Gaussian elimination: an M-matrix has positive pivots in any order. */
int ks_mix_omega(const ks_mix *m, const ks_mix_solution *s, const double *b, double *y) {
    const size_t count = m->count;
    double A[KS_MIX_MOST][KS_MIX_MOST];
    for (size_t g = 0; g < count; g++) {
        for (size_t h = 0; h < count; h++) A[g][h] = (g == h) - s->D[g][h];
        y[g] = b[g];
    }
    for (size_t c = 0; c < count; c++) {
        if (!(A[c][c] > 0)) return 0;
        for (size_t g = c + 1; g < count; g++) {
            const double f = A[g][c] / A[c][c];
            for (size_t h = c; h < count; h++) A[g][h] -= f * A[c][h];
            y[g] -= f * y[c];
        }
    }
    for (size_t c = count; c-- > 0;) {
        for (size_t h = c + 1; h < count; h++) y[c] -= A[c][h] * y[h];
        y[c] /= A[c][c];
    }
    return 1;
}

static double relative(const ks_mix *m, const double *d, const double *x) {
    double most = 0;
    for (size_t h = 0; h < m->count; h++) most = d[h] == 0 ? most : fmax(most, fabs(d[h]) / x[h]);
    return most;
}

/*
 * Runs Newton's method or the fixed-point iteration from s->x. Newton's method needs an upper bound, or a
 * point where I - D is an M-matrix. On return, D and t0 belong to the last x.
 */
static kspec_status iterate(kspec_ridge *r, const ks_run *run, ks_mix_solution *s, kspec_error *err) {
    const ks_mix *m = r->mix;
    const int newton = r->o.solver == KSPEC_RIDGE_SOLVER_NEWTON;
    double F[KS_MIX_MOST], step[KS_MIX_MOST], floor[KS_MIX_MOST], noise[KS_MIX_MOST], last = INFINITY;
    for (int first = s->iterations;;) {
        kspec_status st = ks_mix_resolvent(r, run, s, 1, err);
        if (st) return st;
        s->iterations++;
        double top = s->ridge, largest = 0;
        for (size_t h = 0; h < m->count; h++)
            top += s->N / (double)r->n * m->share[h] / (s->shift + s->x[h]), largest = fmax(largest, s->x[h]);
        for (size_t h = 0; h < m->count; h++) {
            F[h] = s->G[h] - s->x[h];
            noise[h] = DBL_EPSILON * top * s->t0[h];
            if (!(s->x[h] > 1e-14 * largest) && m->trace[h] > 0 && s->lambda == 0)
                return ks_fail(err, KSPEC_E_NUMERIC,
                               "lambda 0: the kernel matrix of the %zu rows has a rank of at most %.0f; use "
                               "lambda > 0",
                               r->n, s->N * (double)ks_activation_width(r->o.activation));
        }
        s->residual = relative(m, F, s->x), s->error = INFINITY;
        const int inside = ks_mix_omega(m, s, F, step) && ks_mix_omega(m, s, noise, floor);
        const double size = inside ? relative(m, step, s->x) : INFINITY,
                     least = inside ? relative(m, floor, s->x) : 0;
        s->error = fmax(size, least);
        s->state = KSPEC_RIDGE_STATE_CONVERGED;
        if (size <= r->o.tolerance) return KSPEC_OK;
        s->state = KSPEC_RIDGE_STATE_AT_FLOOR;
        if (size <= least || (newton && size < 1e-3 && size >= last / 2)) return KSPEC_OK;
        s->state = KSPEC_RIDGE_STATE_UNFINISHED;
        if (s->iterations - first >= r->o.max_iterations) return KSPEC_OK;
        last = size;
        int down = newton && inside;
        for (size_t h = 0; h < m->count; h++) down &= s->x[h] + step[h] >= 0;
        for (size_t h = 0; h < m->count; h++) s->x[h] = down ? s->x[h] + step[h] : s->G[h];
    }
}

/*
 * Finds a start without a ridge, where no upper bound is known. The solutions x grow as the ridge falls.
 * Once the ridge is small enough, I - D of the ridgeless system is an M-matrix at the last solution, and
 * Newton's method continues from that solution.
 */
static kspec_status approach(kspec_ridge *r, const ks_run *run, ks_mix_solution *s, kspec_error *err) {
    const ks_mix *m = r->mix;
    const double scale = r->trace[COS] / (double)r->n * s->N / (double)r->n;
    kspec_status st = KSPEC_OK;
    double zero[KS_MIX_MOST] = {0}, y[KS_MIX_MOST];
    for (double ridge = 0.1 * scale; ridge > 1e-12 * scale && !st; ridge *= 0.01) {
        s->ridge = ridge;
        for (size_t h = 0; h < m->count; h++) s->x[h] = m->trace[h] / ((double)r->n * ridge);
        if ((st = iterate(r, run, s, err))) return st;
        s->ridge = 0;
        if ((st = ks_mix_resolvent(r, run, s, 1, err))) return st;
        s->iterations++;
        if (ks_mix_omega(m, s, zero, y)) return KSPEC_OK;
    }
    return st ? st
              : ks_fail(err, KSPEC_E_NUMERIC, "lambda 0: no upper bound found at N = %.0f, n = %zu", s->N,
                        r->n);
}

kspec_status ks_mix_solve(kspec_ridge *r, const ks_run *run, double N, double lambda, ks_mix_solution *s,
                          kspec_error *err) {
    const ks_mix *m = r->mix;
    const double columns = N * (double)ks_activation_width(r->o.activation), n = (double)r->n;
    *s = (ks_mix_solution){.N = N, .lambda = lambda, .shift = 1, .ridge = lambda};
    if (lambda == 0 && columns == n) {
        s->state = KSPEC_RIDGE_STATE_DIVERGENT;
        return KSPEC_OK;
    }
    if (lambda == 0 && columns > n) {
        kspec_status st = approach(r, run, s, err);
        return st ? st : iterate(r, run, s, err);
    }
    if (lambda == 0) s->shift = 0, s->ridge = 1;
    for (size_t h = 0; h < m->count; h++) s->x[h] = m->trace[h] / (n * s->ridge);
    return iterate(r, run, s, err);
}
