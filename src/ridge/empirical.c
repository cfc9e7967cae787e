/* kspec_ridge_empirical(): the errors of the regression itself, measured over draws of W. */
#include "base/clock.h"
#include "base/error.h"
#include "base/result.h"
#include "linalg/cholesky.h"
#include "linalg/eigen.h"
#include "linalg/linalg.h"
#include "ridge/activation.h"
#include "ridge/classify.h"
#include "ridge/features.h"
#include "ridge/predict.h"
#include "ridge/result.h"
#include "team/team.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum {
    VALUES = 3,  /* the number of errors that are stored for each draw and lambda */
    FACTORS = 15 /* This many Cholesky factorisations take as long as one eigendecomposition. */
};

/* Holds the memory of one worker. */
typedef struct {
    /*
     * S holds the features of the training rows, n x width. St holds the features of the test rows, nt x
     * width. room is scratch for the draw.
     */
    double *S, *St, *room;
    double *G, *A; /* the Gram matrix, d x d, and a copy to factor */
    /* b and z hold the right-hand side and the solution (d x m); w holds the eigenvalues. */
    double *b, *z, *w;
    double *beta, *fit; /* beta has the size width x m, and fit the size max(n, nt) x m. */
} desk;

typedef struct {
    const kspec_ridge *r;
    /* width is the number of columns of S: 2N for Fourier features, else N. d is min(width, n). */
    size_t N, width, d, count;
    int dual; /* 1 if width > n: then the Gram matrix of the rows, n x n, is smaller */
    const double *lambda;
    double *errors; /* draws x count x 3: training error, test error, and share of wrong classes */
    desk *desks;
} job;

static double mean_square(const double *x, size_t count) { return ks_dot(count, x, x) / (double)count; }

/* Returns the mean square of y - S beta. */
static double residual(const double *S, const double *Y, size_t rows, size_t N2, size_t m, const double *beta,
                       double *fit) {
    memcpy(fit, Y, rows * m * sizeof *fit);
    ks_gemm(0, 0, rows, m, N2, -1, S, N2, beta, m, 1, fit, m);
    return mean_square(fit, rows * m);
}

/*
 * Computes the errors from the solution z. In the primal form, z is beta. In the dual form, z is alpha =
 * (S S^T/n + lambda)^-1 y, so beta = S^T alpha/n and y - S beta = lambda alpha.
 */
static void measure(const job *j, const desk *o, double lambda, double *errors) {
    const kspec_ridge *r = j->r;
    size_t N2 = j->width, n = r->n, m = r->m;
    const double *beta = o->z;
    if (j->dual) {
        ks_gemm(1, 0, N2, m, n, 1 / (double)n, o->S, N2, o->z, m, 0, o->beta, m);
        beta = o->beta;
    }
    errors[0] = j->dual && lambda > 0 ? lambda * lambda * mean_square(o->z, n * m)
                                      : residual(o->S, r->Y, n, N2, m, beta, o->fit);
    errors[1] = r->nt ? residual(o->St, r->Yt, r->nt, N2, m, beta, o->fit) : NAN;
    errors[2] = r->nt && r->o.classify ? ks_ridge_wrong_share(r, o->fit) : NAN;
}

/* Computes z = (G + lambda)^-1 b by Cholesky's method. Returns 0 on failure. */
static int by_cholesky(const job *j, const desk *o, double lambda) {
    size_t d = j->d;
    memcpy(o->A, o->G, d * d * sizeof *o->A);
    for (size_t i = 0; i < d; i++) o->A[i * d + i] += lambda;
    if (ks_potrf(d, o->A, d)) return 0;
    memcpy(o->z, o->b, d * j->r->m * sizeof *o->z);
    ks_potrs(d, j->r->m, o->A, d, o->z, j->r->m);
    return 1;
}

/*
 * Computes z = (G + lambda)^-1 b from the eigenvectors, which are the rows of A. lambda = 0 gives the
 * solution of least norm: eigenvalues lost in rounding count as 0.
 */
static void by_eigenvectors(const job *j, const desk *o, double lambda) {
    size_t d = j->d, m = j->r->m;
    double cut = (double)d * DBL_EPSILON * o->w[d - 1], *c = o->fit;
    ks_gemm(0, 0, d, m, d, 1, o->A, d, o->b, m, 0, c, m);
    for (size_t i = 0; i < d; i++) {
        double f = lambda > 0 ? 1 / (fmax(o->w[i], 0) + lambda) : o->w[i] > cut ? 1 / o->w[i] : 0;
        for (size_t k = 0; k < m; k++) c[i * m + k] *= f;
    }
    ks_gemm(1, 0, d, m, d, 1, o->A, d, c, m, 0, o->z, m);
}

static kspec_status one_draw(void *ctx, size_t draw, const ks_worker *worker) {
    const job *j = ctx;
    const desk *o = &j->desks[worker->index];
    const kspec_ridge *r = j->r;
    size_t N2 = j->width, n = r->n, m = r->m, d = j->d;
    double *errors = j->errors + draw * j->count * VALUES;
    int left = 0;
    ks_ridge_features(r, j->N, draw, o->S, r->nt ? o->St : NULL, o->room);
    ks_syrk(!j->dual, d, j->dual ? N2 : n, 1 / (double)n, o->S, N2, o->G, d);
    if (j->dual)
        memcpy(o->b, r->Y, n * m * sizeof *o->b);
    else
        ks_gemm(1, 0, N2, m, n, 1 / (double)n, o->S, N2, r->Y, m, 0, o->b, m);
    for (size_t l = 0; l < j->count; l++) {
        if (j->count <= FACTORS && j->lambda[l] > 0 && by_cholesky(j, o, j->lambda[l]))
            measure(j, o, j->lambda[l], errors + VALUES * l);
        else
            errors[VALUES * l] = -1, left = 1; /* The eigendecomposition below solves this lambda. */
    }
    if (!left) return KSPEC_OK;
    memcpy(o->A, o->G, d * d * sizeof *o->A);
    kspec_status st = ks_syevd(1, d, o->A, d, o->w, worker->err);
    for (size_t l = 0; l < j->count && !st; l++)
        if (errors[VALUES * l] < 0) {
            by_eigenvectors(j, o, j->lambda[l]);
            measure(j, o, j->lambda[l], errors + VALUES * l);
        }
    return st;
}

/* Returns the number of doubles that a worker needs, including the eigenproblem. */
static size_t desk_size(const job *j) {
    const kspec_ridge *r = j->r;
    size_t N2 = j->width, rows = r->n + r->nt, square = ks_size(j->d, j->d);
    size_t size = ks_size_add(ks_size(N2, rows), ks_size(4, square));
    return ks_size_add(size, ks_size_add(ks_ridge_features_room(r), ks_size(r->m, 4 * rows + N2)));
}

static void desk_alloc(const job *j, ks_arena *a, desk *o) {
    const kspec_ridge *r = j->r;
    size_t N2 = j->width, m = r->m, square = ks_size(j->d, j->d), rows = r->n > r->nt ? r->n : r->nt;
    o->S = ks_arena_alloc(a, ks_size(r->n, N2), sizeof *o->S);
    o->St = ks_arena_alloc(a, ks_size(r->nt, N2), sizeof *o->St);
    o->room = ks_arena_alloc(a, ks_ridge_features_room(r), sizeof *o->room);
    o->G = ks_arena_alloc(a, square, sizeof *o->G);
    o->A = ks_arena_alloc(a, square, sizeof *o->A);
    o->b = ks_arena_alloc(a, ks_size(j->d, m), sizeof *o->b);
    o->z = ks_arena_alloc(a, ks_size(j->d, m), sizeof *o->z);
    o->w = ks_arena_alloc(a, j->d, sizeof *o->w);
    o->beta = ks_arena_alloc(a, j->dual ? ks_size(N2, m) : 0, sizeof *o->beta);
    o->fit = ks_arena_alloc(a, ks_size(rows, m), sizeof *o->fit);
}

/* Computes mean and standard deviation of every `stride`-th value. */
static void spread(const double *x, size_t count, size_t stride, double *mean, double *sd) {
    double sum = 0, square = 0;
    for (size_t k = 0; k < count; k++) sum += x[k * stride] / (double)count;
    for (size_t k = 0; k < count; k++) square += (x[k * stride] - sum) * (x[k * stride] - sum);
    *mean = sum;
    *sd = count > 1 ? sqrt(square / (double)(count - 1)) : NAN;
}

static kspec_status run_draws(job *j, ks_run *run, size_t draws, ks_arena *a, kspec_error *err) {
    size_t bytes = ks_size(desk_size(j), sizeof(double)), available = ks_team_memory(run);
    kspec_status st =
        ks_check_memory(err, bytes, "a draw with N = %zu for %zu rows", j->N, j->r->n + j->r->nt);
    if (st) return st;
    size_t fit = available > bytes ? available / bytes : 1;
    /* The result has the same bits for any number of threads. */
    if ((size_t)run->threads > fit) run->threads = (int)fit;
    size_t workers = (size_t)ks_workers(run, draws);
    j->errors = ks_arena_alloc(a, ks_size(draws, ks_size(VALUES, j->count)), sizeof *j->errors);
    j->desks = ks_arena_alloc(a, workers, sizeof *j->desks);
    for (size_t w = 0; w < workers && !a->failed; w++) desk_alloc(j, a, &j->desks[w]);
    if (a->failed) return ks_nomem(err, "draws of the features", a->failed);
    const ks_share errors = {j->errors, VALUES * j->count * sizeof *j->errors, draws, 1};
    return ks_team_for(run, "draws", draws, one_draw, j, &errors, 1, err);
}

kspec_status kspec_ridge_empirical(kspec_ridge *r, size_t N, const double *lambda, size_t count, size_t draws,
                                   kspec_ridge_empirical_result **out, kspec_error *err) {
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    double start = ks_now();
    ks_run run;
    kspec_ridge_empirical_result *result;
    kspec_status st = ks_check_pointer(err, r, "the plan");
    if (st) return st;
    st = ks_ridge_check_N(N, err);
    if (!st) st = ks_ridge_check_lambdas(r, lambda, count, err);
    if (!st && draws == 0) st = ks_fail(err, KSPEC_E_ARG, "draws 0 is below 1");
    if (!st) st = ks_ridge_empirical_result(count, &result, err);
    if (st) return ks_team_end(r->o.team, st, err);
    ks_arena arena = {0};
    job j = {.r = r, .N = N, .count = count, .lambda = lambda};
    j.width = ks_activation_width(r->o.activation) * N;
    j.dual = j.width > r->n;
    j.d = j.dual ? r->n : j.width;
    if (!(st = ks_ridge_enter(r, &run, err))) {
        st = run_draws(&j, &run, draws, &arena, err);
        ks_ridge_exit();
    }
    for (size_t l = 0; l < count && !st; l++) {
        kspec_ridge_measured *p = result->points[l];
        p->lambda = lambda[l];
        spread(j.errors + VALUES * l, draws, VALUES * count, &p->train_mse, &p->train_sd);
        spread(j.errors + VALUES * l + 1, draws, VALUES * count, &p->test_mse, &p->test_sd);
        double sd;
        spread(j.errors + VALUES * l + 2, draws, VALUES * count, &p->test_error, &sd);
    }
    ks_arena_free(&arena);
    st = ks_team_end(r->o.team, st, err);
    return ks_end(st, result, start, out);
}
