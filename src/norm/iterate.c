/* Finds the largest eigenvalue of an operator by power and by Lanczos iteration. */
#include "norm/iterate.h"

#include "base/error.h"
#include "base/streams.h"
#include "base/memory.h"
#include "linalg/eigen.h"
#include "linalg/linalg.h"
#include "team/team.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { BASIS = 96 };

/* Divides x by |x|, and returns the old length |x| */
static double normalise(size_t n, double *x) {
    double norm = sqrt(ks_dot(n, x, x));
    for (size_t i = 0; i < n && norm > 0; i++) x[i] /= norm;
    return norm;
}

static void start(const ks_operator *A, const ks_iteration *o, double *v) {
    kspec_random_normal(o->seed, ks_stream(KS_STREAM_START, o->draw), 0, A->n, v);
    normalise(A->n, v);
}

/*
 * Returns the share of progress for product k. The number of products is unknown, so each product takes a
 * tenth of the remaining progress.
 */
static ks_run next_part(const ks_run *run, int k) {
    return ks_run_part(run, 1 - pow(0.9, k), 1 - pow(0.9, k + 1));
}

/* Holds one product, as stored in a checkpoint. */
typedef struct {
    const ks_operator *A;
    const double *x;
    double *y;
} product;

static kspec_status make_product(void *ctx, const ks_run *run, kspec_error *err) {
    const product *p = ctx;
    return p->A->apply(p->A->ctx, run, p->x, p->y, err);
}

static kspec_status apply(const ks_run *run, const ks_operator *A, const double *x, double *y,
                          kspec_error *err) {
    product p = {A, x, y};
    const ks_share stored = {y, A->n * sizeof *y, 1, 1};
    return ks_team_step(run, "product", make_product, &p, &stored, 1, err);
}

kspec_status ks_power(const ks_run *run, const ks_operator *A, const ks_iteration *o, ks_top *top,
                      kspec_error *err) {
    ks_arena arena = {0};
    size_t n = A->n;
    double *v = ks_arena_alloc(&arena, n, sizeof *v), *w = ks_arena_alloc(&arena, n, sizeof *w);
    kspec_status st = arena.failed ? ks_nomem(err, "power iteration", arena.failed) : KSPEC_OK;
    *top = (ks_top){0};
    if (!st) start(A, o, v);
    double change = INFINITY;
    for (int t = 0; !st; t++) {
        ks_run part = next_part(run, t);
        if ((st = apply(&part, A, v, w, err))) break;
        double value = ks_dot(n, v, w), square = 0, last = change;
        for (size_t i = 0; i < n; i++) square += (w[i] - value * v[i]) * (w[i] - value * v[i]);
        change = t ? fabs(value - top->value) : INFINITY;
        *top = (ks_top){value, value > 0 ? sqrt(square) / value : 0, t, 0, 0};
        double c = change / last; /* c is NaN or 0 until two changes exist. */
        double error = t >= 3 && c < 1 ? change * c / (1 - c) : INFINITY;
        if (t && top->residual <= 4 * DBL_EPSILON) error = 0; /* an eigenvector already */
        top->converged =
            error <= o->stop * value || value == 0 || (t >= 3 && change <= 2 * DBL_EPSILON * value);
        if (top->converged || t == o->updates) break;
        normalise(n, w);
        double *swap = v;
        v = w;
        w = swap;
    }
    ks_arena_free(&arena);
    return st;
}

/* ---- Lanczos ---- */

typedef struct {
    double *v[BASIS + 1]; /* orthonormal */
    /* Lanczos' recurrence is A v_k = beta_{k-1} v_{k-1} + alpha_k v_k + beta_k v_{k+1}. */
    double alpha[BASIS], beta[BASIS];
    double S[BASIS * BASIS], theta[BASIS];
} basis;

/*
 * Subtracts sum_k (v_k.w) v_k from w, twice. Because of the second pass, the remainder is orthogonal up to
 * rounding.
 */
static void orthogonalise(const basis *b, int count, size_t n, double *w) {
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < count; k++) {
            double c = ks_dot(n, b->v[k], w);
            for (size_t i = 0; i < n; i++) w[i] -= c * b->v[k][i];
        }
}

/* Computes the Ritz values of m steps (theta, increasing) and the Ritz vectors (rows of S, m x m). */
static kspec_status ritz(basis *b, int m, kspec_error *err) {
    size_t N = (size_t)m;
    memset(b->S, 0, N * N * sizeof *b->S);
    for (size_t k = 0; k < N; k++) {
        b->S[k * N + k] = b->alpha[k];
        if (k) b->S[k * N + k - 1] = b->beta[k - 1];
    }
    return ks_syevd(1, N, b->S, N, b->theta, err);
}

kspec_status ks_lanczos(const ks_run *run, const ks_operator *A, const ks_iteration *o, ks_top *top,
                        kspec_error *err) {
    ks_arena arena = {0};
    size_t n = A->n;
    int products = 0, most = n < BASIS ? (int)n : BASIS;
    basis *b = ks_arena_zalloc(&arena, 1, sizeof *b);
    if (b) b->v[0] = ks_arena_alloc(&arena, n, sizeof(double));
    kspec_status st = arena.failed ? ks_nomem(err, "Lanczos iteration", arena.failed) : KSPEC_OK;
    *top = (ks_top){0};
    if (!st) start(A, o, b->v[0]);
    for (int m = 1; !st; m++) {
        if (!b->v[m] && !(b->v[m] = ks_arena_alloc(&arena, n, sizeof(double)))) {
            st = ks_nomem(err, "a vector of the Lanczos basis", arena.failed);
            break;
        }
        double *v = b->v[m - 1], *w = b->v[m];
        ks_run part = next_part(run, products++);
        if ((st = apply(&part, A, v, w, err))) break;
        b->alpha[m - 1] = ks_dot(n, v, w);
        orthogonalise(b, m, n, w);
        double beta = b->beta[m - 1] = normalise(n, w);
        int last = products == o->updates || m == most;
        /* Computing Ritz values takes m^3 operations, so the loop computes them only at every fourth step. */
        if (m > 24 && m % 4 && !last) continue;
        if ((st = ritz(b, m, err))) break;
        /* The last entries of the last two vectors give the residuals of the first two Ritz pairs. */
        size_t M = (size_t)m;
        double t1 = b->theta[m - 1], r = beta * fabs(b->S[M * M - 1]);
        double gap = m > 1 ? t1 - b->theta[m - 2] - beta * fabs(b->S[M * M - M - 1]) : 0;
        double error = r < gap ? r * r / gap : r;
        int whole = m == (int)n || beta <= DBL_EPSILON * t1; /* 1 if the basis is complete */
        *top = (ks_top){t1, t1 > 0 ? r / t1 : 0, products, whole || error <= o->stop * t1,
                        fmin(top->lowest, b->theta[0])};
        if (top->converged || products == o->updates) break;
        if (m < most) continue;
        /* Restarts from the Ritz vector of the largest value. */
        for (size_t i = 0; i < n; i++) {
            double sum = 0;
            for (size_t k = 0; k < M; k++) sum += b->S[M * M - M + k] * b->v[k][i];
            b->v[m][i] = sum;
        }
        memcpy(b->v[0], b->v[m], n * sizeof(double));
        normalise(n, b->v[0]);
        m = 0;
    }
    ks_arena_free(&arena);
    return st;
}
