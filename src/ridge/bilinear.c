/* kspec_ridge_bilinear(): bilinear forms a^T Q b, predicted and measured over draws of the features. */
#include "base/error.h"
#include "base/matrix.h"
#include "base/result.h"
#include "linalg/cholesky.h"
#include "linalg/linalg.h"
#include "ridge/activation.h"
#include "ridge/features.h"
#include "ridge/mix.h"
#include "ridge/one.h"
#include "ridge/predict.h"
#include "team/team.h"

#include <math.h>
#include <string.h>

typedef struct {
    kspec_ridge *r;
    size_t N, count, draws, forms;
    const double *lambda;
    double *a, *b;   /* n x forms */
    double *drawn;   /* values of the measured forms: draws x count x forms */
    double *scratch; /* by worker */
    size_t scratch_size;
} job;

/* Sets to[k] to a_k^T x_k for each column k of a and x (n x forms). */
static void products(const job *j, const double *x, double *to) {
    for (size_t k = 0; k < j->forms; k++) {
        to[k] = 0;
        for (size_t i = 0; i < j->r->n; i++) to[k] += j->a[i * j->forms + k] * x[i * j->forms + k];
    }
}

/* ---- predicted ---- */

/* Computes the forms for a single kernel, where Q is diagonal in the eigenvectors. */
static kspec_status by_eigenvectors(const job *j, double lambda, double *x, double *to, kspec_error *err) {
    const ks_one *b = j->r->one;
    const size_t n = j->r->n, forms = j->forms;
    ks_one_solution s;
    kspec_status st =
        ks_one_solve(b, (double)j->N, lambda, j->r->o.tolerance, j->r->o.max_iterations, &s, err);
    if (st) return st;
    double *va = x, *vb = x + n * forms;
    ks_gemm(0, 0, n, forms, n, 1, b->V, n, j->a, forms, 0, va, forms);
    ks_gemm(0, 0, n, forms, n, 1, b->V, n, j->b, forms, 0, vb, forms);
    for (size_t k = 0; k < forms; k++) {
        to[k] = 0;
        for (size_t i = 0; i < n; i++)
            to[k] += va[i * forms + k] * vb[i * forms + k] / (s.k * b->l[i] + s.ridge);
    }
    return KSPEC_OK;
}

/* Computes the forms for several fixed points, which need Q itself. */
static kspec_status resolvent(const job *j, const ks_run *run, double lambda, const double **Q,
                              kspec_error *err) {
    kspec_ridge *r = j->r;
    if (r->mix) {
        ks_mix_solution s;
        *Q = r->mix->Q;
        return ks_mix_solve(r, run, (double)j->N, lambda, &s, err);
    }
    ks_ridge_solution s;
    double start[2], upper[2];
    const ks_ridge_system sys = {(double)j->N, 1, lambda};
    ks_ridge_start(r, lambda, NULL, 0, start, upper);
    *Q = r->Q;
    return ks_ridge_solve(r, run, &sys, start, upper, &s, err);
}

static kspec_status predict(const job *j, const ks_run *run, double lambda, double *x, double *to,
                            kspec_error *err) {
    if (j->r->one) return by_eigenvectors(j, lambda, x, to, err);
    const double *Q;
    const size_t n = j->r->n;
    kspec_status st = resolvent(j, run, lambda, &Q, err);
    if (!st) st = ks_gemm_tiled(run, 0, 0, n, j->forms, n, 1, Q, n, j->b, j->forms, 0, x, j->forms, err);
    if (!st) products(j, x, to);
    return st;
}

/* ---- measured ---- */

static kspec_status one_draw(void *ctx, size_t draw, const ks_worker *worker) {
    const job *j = ctx;
    const kspec_ridge *r = j->r;
    const size_t n = r->n, width = ks_activation_width(r->o.activation) * j->N;
    double *S = j->scratch + (size_t)worker->index * j->scratch_size, *G = S + n * width, *A = G + n * n,
           *x = A + n * n;
    ks_ridge_features(r, j->N, draw, S, NULL, x + n * j->forms);
    ks_syrk(0, n, width, 1 / (double)n, S, width, G, n);
    for (size_t l = 0; l < j->count; l++) {
        memcpy(A, G, n * n * sizeof *A);
        for (size_t i = 0; i < n; i++) A[i * n + i] += j->lambda[l];
        if (ks_potrf(n, A, n))
            return ks_fail(worker->err, KSPEC_E_NUMERIC, "lambda %g is lost in rounding beside the features",
                           j->lambda[l]);
        memcpy(x, j->b, n * j->forms * sizeof *x);
        ks_potrs(n, j->forms, A, n, x, j->forms);
        products(j, x, j->drawn + (draw * j->count + l) * j->forms);
    }
    return KSPEC_OK;
}

static kspec_status draw_all(job *j, ks_run *run, ks_arena *a, kspec_error *err) {
    const kspec_ridge *r = j->r;
    const size_t n = r->n, width = ks_size(ks_activation_width(r->o.activation), j->N);
    j->scratch_size =
        ks_size_add(ks_size(n, ks_size_add(width, 2 * n + j->forms)), ks_ridge_features_room(r));
    const size_t bytes = ks_size(j->scratch_size, sizeof(double)), available = ks_team_memory(run);
    kspec_status st = ks_check_memory(err, bytes, "a draw with N = %zu for %zu rows", j->N, n);
    if (st) return st;
    const size_t fit = available > bytes ? available / bytes : 1;
    if ((size_t)run->threads > fit) run->threads = (int)fit;
    j->scratch =
        ks_arena_alloc(a, ks_size((size_t)ks_workers(run, j->draws), j->scratch_size), sizeof(double));
    if (a->failed) return ks_nomem(err, "draws of the features", a->failed);
    const size_t each = j->count * j->forms * sizeof *j->drawn;
    const ks_share drawn = {j->drawn, each, j->draws, 1};
    return ks_team_for(run, "draws", j->draws, one_draw, j, &drawn, 1, err);
}

/* Computes the mean and standard deviation of each form over the draws, at lambda number l. */
static void summarise(const job *j, size_t l, kspec_ridge_bilinear_point *p) {
    for (size_t k = 0; k < j->forms; k++) {
        double mean = 0, square = 0;
        for (size_t d = 0; d < j->draws; d++)
            mean += j->drawn[(d * j->count + l) * j->forms + k] / (double)j->draws;
        for (size_t d = 0; d < j->draws; d++) {
            const double x = j->drawn[(d * j->count + l) * j->forms + k] - mean;
            square += x * x;
        }
        p->measured[k] = j->draws ? mean : NAN;
        p->spread[k] = j->draws > 1 ? sqrt(square / (double)(j->draws - 1)) : NAN;
    }
}

/* ---- the call ---- */

static kspec_status check(const kspec_ridge *r, const kspec_matrix *a, const kspec_matrix *b,
                          const double *lambda, size_t count, kspec_error *err) {
    const kspec_matrix *m[2] = {a, b};
    static const char *const names[] = {"the left vectors", "the right vectors"};
    kspec_status st = KSPEC_OK;
    if (!st && r->o.test_fraction > 0)
        st = ks_refuse(err, KSPEC_E_ARG, "test_fraction", NULL,
                       "bilinear forms need the training rows in their order, "
                       "but test_fraction picks them at random");
    for (int s = 0; s < 2 && !st; s++) {
        st = ks_matrix_check(m[s], names[s], err);
        if (!st && m[s]->rows != r->n)
            st = ks_fail(err, KSPEC_E_ARG, "%s have %zu entries, but there are %zu training rows", names[s],
                         m[s]->rows, r->n);
    }
    if (!st && a->cols != b->cols)
        st = ks_fail(err, KSPEC_E_ARG, "%zu left vectors, but %zu right vectors", a->cols, b->cols);
    if (!st) st = ks_ridge_check_lambdas(r, lambda, count, err);
    for (size_t l = 0; l < count && !st; l++)
        if (lambda[l] == 0) st = ks_fail(err, KSPEC_E_ARG, "a bilinear form needs lambda above 0");
    return st;
}

static kspec_status make_result(const job *j, size_t paths, kspec_ridge_bilinear_result **out,
                                kspec_error *err) {
    kspec_ridge_bilinear_result *result = ks_result_new(sizeof *result);
    if (!result) return ks_nomem(err, "bilinear forms", sizeof *result);
    ks_arena *a = ks_result_arena(result);
    result->count = paths * j->count, result->forms = j->forms, result->draws = j->draws;
    result->points = ks_arena_list(a, result->count, sizeof **result->points);
    double *x = ks_arena_alloc(a, ks_size(3 * j->forms, result->count), sizeof *x);
    *out = result;
    if (a->failed) return ks_nomem(err, "bilinear forms", a->failed);
    for (size_t k = 0; k < result->count; k++, x += 3 * j->forms) {
        kspec_ridge_bilinear_point *p = result->points[k];
        p->predicted = x, p->measured = x + j->forms, p->spread = x + 2 * j->forms;
    }
    return KSPEC_OK;
}

static kspec_status compute(job *j, ks_run *run, const kspec_matrix *a, const kspec_matrix *b,
                            const size_t *N, size_t paths, kspec_ridge_bilinear_result *result,
                            kspec_error *err) {
    ks_arena arena = {0};
    const size_t size = ks_size(j->r->n, j->forms);
    j->a = ks_arena_alloc(&arena, size, sizeof *j->a), j->b = ks_arena_alloc(&arena, size, sizeof *j->b);
    j->drawn = ks_arena_alloc(&arena, ks_size(j->draws, ks_size(j->count, j->forms)), sizeof *j->drawn);
    double *x = ks_arena_alloc(&arena, ks_size(2, size), sizeof *x);
    kspec_status st = arena.failed ? ks_nomem(err, "bilinear forms", arena.failed) : KSPEC_OK;
    if (!st) st = ks_matrix_copy(a, 0, a->rows, "the left vectors", j->a, err);
    if (!st) st = ks_matrix_copy(b, 0, b->rows, "the right vectors", j->b, err);
    for (size_t k = 0; k < paths && !st; k++) {
        ks_arena scratch = {0};
        ks_run part = ks_run_part(run, (double)k / (double)paths, (double)(k + 1) / (double)paths);
        const ks_run still = ks_ridge_still(&part, 0);
        j->N = N[k];
        if (j->draws) st = draw_all(j, &part, &scratch, err);
        ks_arena_free(&scratch);
        for (size_t l = 0; l < j->count && !st; l++) {
            kspec_ridge_bilinear_point *p = result->points[k * j->count + l];
            p->N = N[k], p->lambda = j->lambda[l];
            summarise(j, l, p);
            st = predict(j, &still, j->lambda[l], x, p->predicted, err);
        }
    }
    ks_arena_free(&arena);
    return st;
}

kspec_status kspec_ridge_bilinear(kspec_ridge *r, const kspec_matrix *a, const kspec_matrix *b,
                                  const size_t *N, size_t paths, const double *lambda, size_t count,
                                  size_t draws, kspec_ridge_bilinear_result **out, kspec_error *err) {
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    const double start = ks_now();
    kspec_ridge_bilinear_result *result = NULL;
    kspec_status st = ks_check_pointer(err, r, "the plan");
    if (st) return st;
    if (!st) st = ks_check_pointer(err, N, "the list of N");
    if (!st && paths == 0) st = ks_fail(err, KSPEC_E_ARG, "the list of N is empty");
    for (size_t k = 0; k < paths && !st; k++) st = ks_ridge_check_N(N[k], err);
    if (!st) st = check(r, a, b, lambda, count, err);
    job j = {.r = r, .count = count, .draws = draws, .lambda = lambda, .forms = st ? 0 : a->cols};
    if (!st) st = make_result(&j, paths, &result, err);
    ks_run run;
    if (!st && !(st = ks_ridge_enter(r, &run, err))) {
        st = compute(&j, &run, a, b, N, paths, result, err);
        ks_ridge_exit();
    }
    st = ks_team_end(r->o.team, st, err);
    return ks_end(st, result, start, out);
}
