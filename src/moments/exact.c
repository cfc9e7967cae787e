#include "moments/exact.h"

#include "base/error.h"
#include "linalg/linalg.h"
#include "moments/exact_run.h"

#include <math.h>
#include <string.h>

/*
 * The Gram matrix G (N x N) of the sampled side, of which the edges are entries when the other side is
 * complete. Rows sampled: G[i_l, i_(l+1)] = sum_a A[i_l,a] B[i_(l+1),a] / Q. Columns sampled: G[a_l, a_(l+1)]
 * = sum_i B[i,a_l] A[i,a_(l+1)] / P.
 */
static void gram(ks_exec_state *x, const ks_pair *p, kspec_sampled s, double *G) {
    int rows = s == KSPEC_SAMPLED_ROWS, symmetric = p->A == p->B;
    size_t N = rows ? p->P : p->Q, M = rows ? p->Q : p->P, ld = p->Q;
    const double *L = rows ? p->A : p->B, *R = rows ? p->B : p->A;
    double work = (double)N * (double)N * (double)M * (symmetric ? KS_SYMMETRIC_COST : 1),
           alpha = 1 / (double)M;
    ks_run part;
    if (!ks_exec_step(x, work, &part)) return;
    x->status = symmetric
                    ? ks_gemm_symmetric_tiled(&part, !rows, rows, N, M, alpha, L, ld, R, ld, G, N, x->err)
                    : ks_gemm_tiled(&part, !rows, rows, N, N, M, alpha, L, ld, R, ld, 0, G, N, x->err);
}

/* The plan and one execution of it. */
static kspec_status execute(ks_exec_state *x, const ks_plan *plan, const ks_pair *p, kspec_sampled s) {
    x->plan = plan;
    x->live = x->peak = plan->bytes;
    x->A = p->A, x->B = p->B;
    size_t N = plan->size[KS_ROW];
    double *G = NULL;
    if (s != KSPEC_SAMPLED_BOTH) {
        x->A = G = ks_exec_hold(x, ks_size(N, N));
        if (G) gram(x, p, s, G);
    }
    if (!x->status) ks_exec(x);
    ks_exec_drop(x, G, ks_size(N, N));
    return x->status;
}

static kspec_status make_plan(ks_plan *plan, const ks_pair *p, kspec_sampled s, kspec_error *err) {
    ks_exact_form form = {s != KSPEC_SAMPLED_BOTH, p->A != p->B};
    if (p->nmax < 1 || p->nmax > KS_EXACT_NMAX)
        return ks_fail(err, KSPEC_E_ARG, "order %d is not between 1 and %d, the highest of exact", p->nmax,
                       KS_EXACT_NMAX);
    size_t rows = s == KSPEC_SAMPLED_COLS ? p->Q : p->P, cols = s == KSPEC_SAMPLED_BOTH ? p->Q : 1;
    if ((size_t)p->nmax > rows || (s == KSPEC_SAMPLED_BOTH && (size_t)p->nmax > cols))
        return ks_fail(err, KSPEC_E_ARG, "order %d exceeds %s=%zu", p->nmax,
                       s == KSPEC_SAMPLED_BOTH   ? "min(P,Q)"
                       : s == KSPEC_SAMPLED_ROWS ? "P"
                                                 : "Q",
                       s == KSPEC_SAMPLED_BOTH && cols < rows ? cols : rows);
    return ks_plan_make(plan, form, rows, cols, p->nmax, err);
}

kspec_status ks_exact_cost(const ks_pair *p, kspec_sampled s, int with_loo, double *work, size_t *bytes,
                           kspec_error *err) {
    ks_plan plan;
    kspec_status st = make_plan(&plan, p, s, err);
    if (st) return st;
    ks_exec_state x = {.dry = 1, .with_loo = with_loo, .err = err};
    st = execute(&x, &plan, p, s);
    ks_plan_free(&plan);
    *work = x.work;
    /* and the sums over the cycles through each row and column */
    *bytes = ks_size_add(x.peak,
                         with_loo ? ks_size((size_t)p->nmax, ks_size(p->P + p->Q + 16, sizeof(double))) : 0);
    return st;
}

static double falling(size_t N, int n) { /* (N)_n = N (N-1) ... (N-n+1) */
    double f = 1;
    for (int k = 0; k < n; k++) f *= (double)N - k;
    return f;
}

/* The estimates without each of the N indices of a sampled side, `other` the factor of the other side. */
static void leave_one_out(size_t N, int n, double S, double other, const double *through, double *out) {
    double cycles = falling(N - 1, n) * other;
    for (size_t i = 0; i < N; i++) out[i] = N > (size_t)n ? (S - through[i]) / cycles : NAN;
}

kspec_status ks_exact_terms(const ks_run *run, const ks_pair *p, kspec_sampled s, const ks_moments_out *out,
                            double *abs_terms, kspec_error *err) {
    double S[KS_EXACT_NMAX] = {0}, abs_S[KS_EXACT_NMAX] = {0};
    ks_plan plan;
    kspec_status st = make_plan(&plan, p, s, err);
    if (st) return st;
    ks_arena arena = {0};
    ks_exec_state dry = {.dry = 1, .with_loo = out->rows != NULL, .err = err};
    ks_exec_state x = {.run = run, .with_loo = out->rows != NULL, .S = S, .abs_S = abs_S, .err = err};
    for (int side = 0; side < 2 && out->rows; side++)
        x.through[side] = ks_arena_zalloc(&arena, ks_size((size_t)p->nmax, plan.size[side]), sizeof(double));
    ks_blas_enter();
    st = arena.failed ? ks_nomem(err, "the exact estimator", arena.failed) : execute(&dry, &plan, p, s);
    x.total = dry.work;
    if (!st) st = execute(&x, &plan, p, s);
    ks_blas_leave();

    for (int n = 1; n <= p->nmax && !st; n++) {
        double rows = s == KSPEC_SAMPLED_COLS ? 1 : falling(p->P, n),
               cols = s == KSPEC_SAMPLED_ROWS ? 1 : falling(p->Q, n);
        double Sn = S[n - 1], m = Sn / (rows * cols);
        out->m[n - 1] = m;
        if (abs_terms) abs_terms[n - 1] = abs_S[n - 1] / (rows * cols);
        if (!out->rows) continue;
        double *row = out->rows + (size_t)(n - 1) * p->P, *col = out->cols + (size_t)(n - 1) * p->Q;
        /* the one side of a one-sided plan counts as its rows */
        const double *r = x.through[0] + (size_t)(n - 1) * plan.size[0];
        const double *c = s == KSPEC_SAMPLED_COLS ? r : x.through[1] + (size_t)(n - 1) * plan.size[1];
        for (size_t i = 0; i < p->P; i++) row[i] = m;
        for (size_t a = 0; a < p->Q; a++) col[a] = m;
        if (s != KSPEC_SAMPLED_COLS) leave_one_out(p->P, n, Sn, cols, r, row);
        if (s != KSPEC_SAMPLED_ROWS) leave_one_out(p->Q, n, Sn, rows, c, col);
    }
    ks_arena_free(&arena);
    ks_plan_free(&plan);
    return st;
}

kspec_status ks_exact(const ks_run *run, const ks_pair *p, kspec_sampled s, const ks_moments_out *out,
                      kspec_error *err) {
    return ks_exact_terms(run, p, s, out, NULL, err);
}
