/*
 * The density of eigenvalues for features of several kinds, with one delta for each kind.
 *
 * At lambda = -x - i eta the equations of mix.h have exactly one solution whose delta_h all have a positive
 * imaginary part. Newton's method finds it, in as many complex unknowns as there are kinds:
 *
 *     F_h(delta) = delta_h - tr(K_h Q)/n
 *     dF_g/ddelta_h = [g = h] - (N/n) p_h/(1+delta_h)^2 tr(K_g Q K_h Q)/n
 *
 * It starts from a neighbouring x, or follows the solution down from a large imaginary part, where delta_h =
 * tr K_h/(n lambda). A step to another lambda extrapolates log delta along log lambda.
 */
#include "ridge/density.h"

#include "base/error.h"
#include "linalg/complex.h"
#include "linalg/eigen.h"
#include "linalg/linalg.h"
#include "team/team.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <string.h>

typedef double complex cplx;

/*
 * Newton's method stops at these relative accuracies of delta: at steps on the way, and at a point of the
 * density.
 */
static const double ROUGH = 1e-3, FINE = 1e-9;

/* Holds a solution at lambda, the slopes d log delta/d log lambda, and I - D, the derivatives of F. */
typedef struct {
    cplx lambda, delta[KS_MIX_MOST], slope[KS_MIX_MOST], J[KS_MIX_MOST][KS_MIX_MOST];
} state;

/* Holds the scratch of one thread: the real and imaginary parts of A (later Q), and of M_h = Q K_h. */
typedef struct {
    ks_cplx *A;
    double *Q[2], *M[KS_MIX_MOST][2];
} desk;

static size_t desk_doubles(const ks_kinds *b) { return ks_size(ks_size(b->n, b->n), 4 + 2 * b->count); }

static desk desk_at(const ks_kinds *b, double *room) {
    const size_t square = b->n * b->n;
    desk d = {.A = (ks_cplx *)room, .Q = {room + 2 * square, room + 3 * square}};
    for (size_t h = 0; h < b->count; h++)
        for (size_t part = 0; part < 2; part++) d.M[h][part] = room + (4 + 2 * h + part) * square;
    return d;
}

/* Returns tr(A B) of the complex matrices A and B. It transposes small blocks, which fit the cache. */
static cplx trace_of_product(double *const A[2], double *const B[2], size_t n) {
    enum { SMALL = 32 };
    double re = 0, im = 0;
    for (size_t i0 = 0; i0 < n; i0 += SMALL)
        for (size_t j0 = 0; j0 < n; j0 += SMALL)
            for (size_t i = i0; i < n && i < i0 + SMALL; i++)
                for (size_t j = j0; j < n && j < j0 + SMALL; j++) {
                    const size_t ij = i * n + j, ji = j * n + i;
                    re += A[0][ij] * B[0][ji] - A[1][ij] * B[1][ji];
                    im += A[0][ij] * B[1][ji] + A[1][ij] * B[0][ji];
                }
    return re + im * I;
}

/* Computes Q and F at s->lambda and s->delta. */
static kspec_status residual(const ks_kinds *b, const state *s, const desk *d, cplx *F, kspec_error *err) {
    const size_t n = b->n, square = n * n;
    for (size_t i = 0; i < square; i++) d->A[i] = (ks_cplx){0, 0};
    for (size_t h = 0; h < b->count; h++) {
        const cplx k = b->N / (double)n * b->share[h] / (1 + s->delta[h]);
        const double re = creal(k), im = cimag(k);
        for (size_t i = 0; i < square; i++) d->A[i].re += re * b->K[h][i], d->A[i].im += im * b->K[h][i];
    }
    for (size_t i = 0; i < n; i++) {
        d->A[i * n + i].re += creal(s->lambda);
        d->A[i * n + i].im += cimag(s->lambda);
    }
    kspec_status st = ks_invert_cplx(n, d->A, err);
    for (size_t i = 0; i < square && !st; i++) d->Q[0][i] = d->A[i].re, d->Q[1][i] = d->A[i].im;
    for (size_t h = 0; h < b->count && !st; h++)
        F[h] = s->delta[h] -
               (ks_dot(square, d->Q[0], b->K[h]) + ks_dot(square, d->Q[1], b->K[h]) * I) / (double)n;
    return st;
}

/* Computes the derivatives of F from Q: by delta (into s->J) and by lambda. */
static void derivatives(const ks_kinds *b, state *s, const desk *d, cplx *by_lambda) {
    const size_t n = b->n;
    for (size_t h = 0; h < b->count; h++) {
        for (int part = 0; part < 2; part++)
            ks_gemm(0, 0, n, n, n, 1, d->Q[part], n, b->K[h], n, 0, d->M[h][part], n);
        by_lambda[h] = trace_of_product(d->M[h], d->Q, n) / (double)n;
        for (size_t g = 0; g <= h; g++) {
            const cplx t = b->N / ((double)n * (double)n) * trace_of_product(d->M[g], d->M[h], n);
            s->J[h][g] = -t * b->share[g] / ((1 + s->delta[g]) * (1 + s->delta[g]));
            s->J[g][h] = (g == h) - t * b->share[h] / ((1 + s->delta[h]) * (1 + s->delta[h]));
        }
    }
}

/* Replaces y by J^-1 y, using Gaussian elimination with pivots. */
static void solve(const state *s, size_t count, cplx *y) {
    cplx A[KS_MIX_MOST][KS_MIX_MOST];
    memcpy(A, s->J, sizeof A);
    for (size_t c = 0; c < count; c++) {
        size_t top = c;
        for (size_t g = c + 1; g < count; g++)
            if (cabs(A[g][c]) > cabs(A[top][c])) top = g;
        for (size_t h = 0; h < count; h++) {
            const cplx t = A[c][h];
            A[c][h] = A[top][h], A[top][h] = t;
        }
        const cplx t = y[c];
        y[c] = y[top], y[top] = t;
        for (size_t g = c + 1; g < count; g++) {
            const cplx f = A[g][c] / A[c][c];
            for (size_t h = c; h < count; h++) A[g][h] -= f * A[c][h];
            y[g] -= f * y[c];
        }
    }
    for (size_t c = count; c-- > 0;) {
        for (size_t h = c + 1; h < count; h++) y[c] -= A[c][h] * y[h];
        y[c] /= A[c][c];
    }
}

/* Computes the derivatives of F at s->delta, and from them the slopes. */
static void look_around(const ks_kinds *b, state *s, const desk *d) {
    cplx by_lambda[KS_MIX_MOST];
    derivatives(b, s, d, by_lambda);
    solve(s, b->count, by_lambda);
    for (size_t h = 0; h < b->count; h++)
        s->slope[h] = s->delta[h] == 0 ? 0 : -by_lambda[h] * s->lambda / s->delta[h];
}

/*
 * Finds the solution at s->lambda from a nearby s->delta, to `tolerance`. *It sets found to 0 if s->delta
 * was too far from the solution. Computing the derivatives takes products of matrices, which cost as much
 * as an inverse. So it keeps the derivatives as long as each step is less than a tenth of the previous
 * step.
 */
static kspec_status newton(const ks_kinds *b, state *s, double tolerance, const desk *d, int *found,
                           kspec_error *err) {
    double last = 1;
    *found = 0;
    for (int k = 0, fresh = 1; k < 16; k++) {
        cplx F[KS_MIX_MOST];
        kspec_status st = residual(b, s, d, F, err);
        if (st) return st;
        if (fresh) look_around(b, s, d);
        solve(s, b->count, F);
        double step = 0;
        int above = 1;
        for (size_t h = 0; h < b->count; h++) {
            const double size = cabs(s->delta[h]);
            s->delta[h] -= F[h];
            step = fmax(step, size > 0 ? cabs(F[h]) / size : cabs(F[h]));
            above &= cimag(s->delta[h]) >= 0;
        }
        if (!(step < 1e6)) return KSPEC_OK;
        /* The rate of convergence predicts the size of the next step. */
        if (step * fmin(1, step / last) <= tolerance) {
            *found = above;
            return KSPEC_OK;
        }
        fresh = step > 0.1 * last, last = step;
    }
    return KSPEC_OK;
}

/* Moves a solution to another lambda. */
static kspec_status move(const ks_kinds *b, state *s, cplx lambda, double tolerance, const desk *d,
                         int *found, kspec_error *err) {
    state next = *s;
    next.lambda = lambda;
    for (size_t h = 0; h < b->count; h++) next.delta[h] *= cexp(s->slope[h] * clog(lambda / s->lambda));
    kspec_status st = newton(b, &next, tolerance, d, found, err);
    if (!st && *found) *s = next;
    return st;
}

static kspec_status lost(double x, kspec_error *err) {
    return ks_fail(err, KSPEC_E_NUMERIC, "the density at the eigenvalue %g was not found", x);
}

/*
 * Finds the solution at -x - i eta, starting far above. lambda changes by factors, which shrink if
 * Newton's method fails.
 */
static kspec_status descend(const ks_kinds *b, state *s, double x, double eta, const desk *d,
                            kspec_error *err) {
    double top = 0, above, factor = 16;
    for (size_t h = 0; h < b->count; h++)
        for (size_t i = 0; i < b->n; i++) top += b->N / (double)b->n * b->share[h] * b->K[h][i * b->n + i];
    above = 2 * (x + top);
    s->lambda = -x - above * I;
    for (size_t h = 0; h < b->count; h++) {
        double trace = 0;
        for (size_t i = 0; i < b->n; i++) trace += b->K[h][i * b->n + i];
        s->delta[h] = trace / ((double)b->n * s->lambda);
    }
    int found;
    kspec_status st = newton(b, s, ROUGH, d, &found, err);
    if (!st && !found) st = lost(x, err);
    while (!st && above > eta) {
        const double next = fmax(eta, above / factor);
        st = move(b, s, -x - next * I, next > eta ? ROUGH : FINE, d, &found, err);
        if (found)
            above = next, factor = fmin(16, factor * factor);
        else if ((factor = sqrt(factor)) < 1.001 && !st)
            st = lost(x, err);
    }
    return st;
}

/* Returns Im tr Q/(n pi). The trace of A Q gives lambda tr Q/n = 1 - sum_h (N/n) p_h delta_h/(1+delta_h). */
static double density_of(const ks_kinds *b, const state *s) {
    cplx rest = 1;
    for (size_t h = 0; h < b->count; h++)
        rest -= b->N / (double)b->n * b->share[h] * s->delta[h] / (1 + s->delta[h]);
    return fmax(0, cimag(rest / s->lambda) / 3.14159265358979324);
}

/* ---- all points, in lanes of neighbours ---- */

enum { LANE = 16 /* points */ };

typedef struct {
    const ks_kinds *b;
    const double *x;
    double *density, *room;
    size_t count, lanes;
    state *at; /* at: the latest solution of each lane of points */
} job;

static size_t lanes_of(void *ctx, size_t step) {
    (void)step;
    return ((const job *)ctx)->lanes;
}

static kspec_status one_point(void *ctx, size_t step, size_t lane, const ks_worker *worker) {
    const job *j = ctx;
    const size_t k = lane * LANE + step;
    if (k >= j->count) return KSPEC_OK;
    const desk d = desk_at(j->b, j->room + (size_t)worker->index * desk_doubles(j->b));
    const double x = j->x[k], eta = 1e-4 * x;
    state *s = &j->at[lane];
    int found = 0;
    kspec_status st = step ? move(j->b, s, -x - eta * I, FINE, &d, &found, worker->err) : KSPEC_OK;
    if (!st && !found) st = descend(j->b, s, x, eta, &d, worker->err);
    if (!st) j->density[k] = density_of(j->b, s);
    return st;
}

kspec_status ks_density_kinds(const ks_run *run, const ks_kinds *b, const double *x, size_t count,
                              double *density, kspec_error *err) {
    job j = {.b = b, .x = x, .density = density, .count = count, .lanes = (count + LANE - 1) / LANE};
    const ks_run alone = ks_run_alone(run);
    const size_t workers = (size_t)ks_workers(&alone, j.lanes), all = ks_size(workers, desk_doubles(b));
    kspec_status st = ks_check_memory(err, ks_size(all, sizeof(double)), "a density for %zu rows", b->n);
    if (st) return st;
    ks_arena scratch = {0};
    j.room = ks_arena_alloc(&scratch, all, sizeof *j.room);
    j.at = ks_arena_zalloc(&scratch, j.lanes, sizeof *j.at);
    const ks_steps steps = {count < LANE ? count : LANE, j.lanes, lanes_of, one_point};
    st = scratch.failed ? ks_nomem(err, "a density", scratch.failed)
                        : ks_parallel_steps(&alone, &steps, &j, err);
    ks_arena_free(&scratch);
    return st;
}

/* ---- the atom ---- */

/* Computes the rank of the sum of the kernels: of the cosines (which = 0), of the sines (1) or of all (2). */
static kspec_status rank(const ks_kinds *b, int which, double *A, double *l, double *found,
                         kspec_error *err) {
    const size_t n = b->n;
    *found = 0;
    for (size_t i = 0; i < n * n; i++) A[i] = 0;
    for (size_t h = 0; h < b->count; h++)
        for (size_t i = 0; i < n * n && (which == 2 || b->sine[h] == which); i++)
            A[i] += b->share[h] * b->K[h][i];
    kspec_status st = ks_syevd(0, n, A, n, l, err);
    for (size_t i = 0; i < n && !st; i++) *found += l[i] > (double)n * DBL_EPSILON * l[n - 1];
    return st;
}

kspec_status ks_density_atom(const ks_kinds *b, double *atom, kspec_error *err) {
    int sines = 0;
    for (size_t h = 0; h < b->count; h++) sines |= b->sine[h];
    ks_arena scratch = {0};
    double *A = ks_arena_alloc(&scratch, ks_size(b->n, b->n), sizeof *A),
           *l = ks_arena_alloc(&scratch, b->n, sizeof *l), all, cosines, other;
    kspec_status st =
        scratch.failed ? ks_nomem(err, "ranks of kernels", scratch.failed) : rank(b, 2, A, l, &all, err);
    if (!st) all = fmin(all, sines ? 2 * b->N : b->N);
    if (!st && sines) st = rank(b, 0, A, l, &cosines, err);
    if (!st && sines) st = rank(b, 1, A, l, &other, err);
    if (!st && sines) all = fmin(all, b->N + fmin(cosines, other));
    if (!st) *atom = 1 - all / (double)b->n;
    ks_arena_free(&scratch);
    return st;
}
