#include "exact/exact.h"

#include "base/center.h"
#include "base/error.h"
#include "linalg/linalg.h"
#include "exact/run.h"
#include "exact/terms.h"
#include "kspec/host.h"

#include <math.h>
#include <string.h>

/*
 * The Gram matrix G (N x N) of the sampled side, of which the edges are entries when the other side is
 * complete. Rows sampled: G[i_l, i_(l+1)] = sum_a A[i_l,a] B[i_(l+1),a] / Q. Columns sampled: G[a_l, a_(l+1)]
 * = sum_i B[i,a_l] A[i,a_(l+1)] / P.
 */
static void gram(ks_exec_state *x, const ks_pair *p, kspec_sampled s, ks_mat *G) {
    int rows = s == KSPEC_SAMPLED_ROWS, symmetric = x->A == x->B;
    size_t N = rows ? p->P : p->Q, M = rows ? p->Q : p->P, ld = p->Q;
    const ks_mat *L = rows ? x->A : x->B, *R = rows ? x->B : x->A;
    double work = (double)N * (double)N * (double)M * (symmetric ? KS_SYMMETRIC_COST : 1),
           alpha = 1 / (double)M;
    ks_run part;
    const ks_mat_product product = {.ta = !rows,
                                    .tb = rows,
                                    .m = N,
                                    .n = N,
                                    .k = M,
                                    .alpha = alpha,
                                    .A = L,
                                    .lda = ld,
                                    .B = R,
                                    .ldb = ld,
                                    .C = G,
                                    .ldc = N,
                                    .symmetric = symmetric};
    ks_exec_room(x, &(ks_room){.product = &product, .whole = KS_WHOLE_A | KS_WHOLE_B});
    if (!ks_exec_step(x, work, &part)) return;
    x->status = x->at->product(&part, &product, x->err);
}

/* The data where the plan is carried out, and their end; a dry execution only tells them apart */
static void copy_in(ks_exec_state *x, const ks_pair *p) {
    x->A = ks_mat_of(p->A), x->B = ks_mat_of(p->B);
    if (x->dry) return;
    x->A = x->B = NULL;
    x->status = x->at->copy_in(x->run, p->A, p->P, p->Q, "the exact estimator", &x->A, x->err);
    if (!x->status && p->B != p->A)
        x->status = x->at->copy_in(x->run, p->B, p->P, p->Q, "the exact estimator", &x->B, x->err);
    else
        x->B = x->A;
}

static void leave(ks_exec_state *x, const ks_mat *A, const ks_mat *B) {
    if (x->dry) return;
    if (B != A) x->at->release(x->run, B);
    x->at->release(x->run, A);
}

/* Does a graph need matrices whole (exact_hard.c)? */
static int any_hard(const ks_plan *plan) {
    for (size_t g = 0; g < plan->ngraphs; g++)
        if (plan->terminals[g].hard) return 1;
    return 0;
}

/* One execution of the plan */
static kspec_status execute(ks_exec_state *x, const ks_plan *plan, const ks_pair *p, kspec_sampled s) {
    x->plan = plan;
    x->live = plan->arena.bytes;
    x->peak = plan->bytes_making;
    x->at = any_hard(plan) ? ks_backend_alone(x->run) : ks_backend_for(x->run, p->P, p->Q);
    copy_in(x, p);
    const ks_mat *A = x->A, *B = x->B;
    size_t N = plan->size[KS_ROW];
    ks_mat *G = NULL;
    if (s != KSPEC_SAMPLED_BOTH) {
        G = ks_exec_hold(x, N, N);
        if (G) gram(x, p, s, G);
        x->A = G;
    }
    if (!x->status) ks_exec(x);
    ks_exec_drop(x, G, N, N);
    ks_exec_end(x);
    leave(x, A, B);
    return x->status;
}

/* ---- what is asked for ---- */

int ks_exact_weighted(const ks_exact_plan *e) {
    return ks_centred(e->center) || e->population[KS_ROW] > 0 || e->population[KS_COL] > 0;
}

static size_t side_size(const ks_exact_plan *e, int side) { return side == KS_ROW ? e->P : e->Q; }

static int centred(const ks_exact_plan *e, int side) {
    return side == KS_ROW ? ks_rows_centred(e->center) : ks_cols_centred(e->center);
}

static double population(const ks_exact_plan *e, int side) {
    return e->population[side] > 0 ? e->population[side] : INFINITY;
}

static int complete(const ks_exact_plan *e, int side) {
    return e->sampled == (side == KS_ROW ? KSPEC_SAMPLED_COLS : KSPEC_SAMPLED_ROWS) ||
           population(e, side) <= (double)side_size(e, side);
}

int ks_exact_highest(const ks_exact_plan *e) {
    return e->center == KSPEC_CENTER_BOTH ? KS_BOTH_NMAX
           : ks_exact_weighted(e)         ? KS_WEIGHTED_NMAX
                                          : KS_EXACT_NMAX;
}

size_t ks_exact_enough(const ks_exact_plan *e, int side) {
    return complete(e, side) ? SIZE_MAX : side_size(e, side) / (centred(e, side) ? 2 : 1);
}

kspec_status ks_exact_too_few(const ks_exact_plan *e, int side, int n, kspec_error *err) {
    return ks_fail(err, KSPEC_E_ARG, "order %d needs %d %s%s; there are %zu", n, centred(e, side) ? 2 * n : n,
                   side == KS_ROW ? "rows" : "columns", centred(e, side) ? " where they are centred" : "",
                   side_size(e, side));
}

double ks_exact_sampled_share(const ks_exact_plan *e, int side) {
    return complete(e, side) ? 0 : 1 - (double)side_size(e, side) / population(e, side);
}

static ks_exact_form form_of(const ks_exact_plan *e, int with_loo) {
    ks_exact_form f = {.one_sided = e->sampled != KSPEC_SAMPLED_BOTH, .two_trials = e->two};
    if (!ks_exact_weighted(e)) return f;
    f.weighted = 1;
    for (int side = 0; side < 2; side++) {
        f.split[side] = centred(e, side);
        f.population[side] = population(e, side);
        f.pinned[side] = with_loo && !complete(e, side);
    }
    return f;
}

void ks_exact_plan_free(ks_exact_plan *e) {
    ks_plan_free(&e->plan);
    e->work[0] = e->work[1] = 0;
}

static kspec_status make_plan(ks_exact_plan *e, int nmax, int with_loo, kspec_error *err) {
    ks_exact_form form = form_of(e, with_loo);
    int fits = e->plan.form.pinned[0] == form.pinned[0] && e->plan.form.pinned[1] == form.pinned[1];
    if (e->plan.nmax == nmax && nmax > 0 && fits) return KSPEC_OK;
    ks_exact_plan_free(e);
    int both = e->sampled == KSPEC_SAMPLED_BOTH;
    size_t rows = e->sampled == KSPEC_SAMPLED_COLS ? e->Q : e->P, cols = both ? e->Q : 1;
    if (nmax < 1 || nmax > ks_exact_highest(e))
        return ks_fail(err, KSPEC_E_ARG, "order %d is not between 1 and %d, the highest of exact", nmax,
                       ks_exact_highest(e));
    for (int side = 0; side < 2 && form.weighted; side++)
        if ((size_t)nmax > ks_exact_enough(e, side)) return ks_exact_too_few(e, side, nmax, err);
    if (form.weighted) return ks_plan_make(&e->plan, form, e->P, e->Q, nmax, err);
    if ((size_t)nmax > rows || (both && (size_t)nmax > cols))
        return ks_fail(err, KSPEC_E_ARG, "order %d exceeds %s=%zu", nmax,
                       both                               ? "min(P,Q)"
                       : e->sampled == KSPEC_SAMPLED_ROWS ? "P"
                                                          : "Q",
                       both && cols < rows ? cols : rows);
    return ks_plan_make(&e->plan, form, rows, cols, nmax, err);
}

void ks_exact_share(ks_exact_plan *e, kspec_team *team, int threads) {
    e->team = team;
    e->threads = threads;
    e->work[0] = e->work[1] = 0;
}

/* The sums over the cycles through each row and column, beside what is held by the execution */
static size_t through_bytes(const ks_exact_plan *e, int nmax, int with_loo) {
    return with_loo ? ks_size((size_t)nmax, ks_size(e->P + e->Q + 16, sizeof(double))) : 0;
}

kspec_status ks_exact_cost(ks_exact_plan *e, int nmax, int with_loo, double *work, size_t *bytes,
                           kspec_error *err) {
    static const double one, other; /* stand for the trials: their entries are not looked at */
    int k = with_loo != 0;
    kspec_status st = make_plan(e, nmax, k, err);
    if (!st && !e->work[k]) {
        ks_pair p = {&one, e->two ? &other : &one, e->P, e->Q, nmax};
        const ks_run run = {.threads = e->threads ? e->threads : kspec_default_threads(), .team = e->team};
        ks_exec_state x = {.run = &run, .dry = 1, .with_loo = k, .err = err};
        st = execute(&x, &e->plan, &p, e->sampled);
        e->bytes[k] = ks_size_add(x.peak, through_bytes(e, nmax, k));
        e->work[k] = st ? 0 : x.work;
    }
    *work = e->work[k];
    *bytes = e->bytes[k];
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

/* The estimates without each index of a side, of a weighted plan */
static void weighted_less(const ks_exact_plan *e, int side, int n, double m, double less,
                          const double *through, double *out) {
    size_t N = side_size(e, side);
    int enough = complete(e, side) || N - 1 >= (size_t)(centred(e, side) ? 2 * n : n);
    for (size_t i = 0; i < N; i++) out[i] = complete(e, side) ? m : enough ? less - through[i] : NAN;
}

kspec_status ks_exact_terms(const ks_run *run, ks_exact_plan *e, const ks_pair *p, const ks_moments_out *out,
                            double *abs_terms, kspec_error *err) {
    double S[KS_EXACT_NMAX] = {0}, abs_S[KS_EXACT_NMAX] = {0}, less[2][KS_EXACT_NMAX] = {{0}};
    ks_arena arena = {0};
    ks_exec_state x = {.run = run, .with_loo = out->rows != NULL, .S = S, .abs_S = abs_S, .err = err};
    x.less[KS_ROW] = less[KS_ROW], x.less[KS_COL] = less[KS_COL];
    size_t bytes;
    if (e->threads != run->threads) ks_exact_share(e, e->team, run->threads);
    kspec_status st = ks_exact_cost(e, p->nmax, x.with_loo, &x.total, &bytes, err);
    if (st) return st;
    x.most = bytes - through_bytes(e, p->nmax, x.with_loo);
    const kspec_sampled s = e->sampled;
    const size_t *size = e->plan.size;
    for (int side = 0; side < 2 && out->rows; side++)
        x.through[side] = ks_arena_zalloc(&arena, ks_size((size_t)p->nmax, size[side]), sizeof(double));
    if (arena.failed) st = ks_nomem(err, "the exact estimator", arena.failed);
    if (!st && !(st = ks_blas_enter(run->threads, err))) {
        st = execute(&x, &e->plan, p, s);
        ks_blas_exit();
    }

    for (int n = 1; n <= p->nmax && !st && ks_exact_weighted(e); n++) {
        out->m[n - 1] = S[n - 1];
        if (abs_terms) abs_terms[n - 1] = abs_S[n - 1];
        for (int side = 0; side < 2 && out->rows; side++) {
            size_t at = (size_t)(n - 1) * size[side];
            weighted_less(e, side, n, S[n - 1], less[side][n - 1], x.through[side] + at,
                          (side == KS_ROW ? out->rows : out->cols) + at);
        }
    }
    for (int n = 1; n <= p->nmax && !st && !ks_exact_weighted(e); n++) {
        double rows = s == KSPEC_SAMPLED_COLS ? 1 : falling(p->P, n),
               cols = s == KSPEC_SAMPLED_ROWS ? 1 : falling(p->Q, n);
        double Sn = S[n - 1], m = Sn / (rows * cols);
        out->m[n - 1] = m;
        if (abs_terms) abs_terms[n - 1] = abs_S[n - 1] / (rows * cols);
        if (!out->rows) continue;
        double *row = out->rows + (size_t)(n - 1) * p->P, *col = out->cols + (size_t)(n - 1) * p->Q;
        /* the one side of a one-sided plan counts as its rows */
        const double *r = x.through[0] + (size_t)(n - 1) * size[0];
        const double *c = s == KSPEC_SAMPLED_COLS ? r : x.through[1] + (size_t)(n - 1) * size[1];
        for (size_t i = 0; i < p->P; i++) row[i] = m;
        for (size_t a = 0; a < p->Q; a++) col[a] = m;
        if (s != KSPEC_SAMPLED_COLS) leave_one_out(p->P, n, Sn, cols, r, row);
        if (s != KSPEC_SAMPLED_ROWS) leave_one_out(p->Q, n, Sn, rows, c, col);
    }
    ks_arena_free(&arena);
    return st;
}

kspec_status ks_exact(const ks_run *run, ks_exact_plan *e, const ks_pair *p, const ks_moments_out *out,
                      kspec_error *err) {
    return ks_exact_terms(run, e, p, out, NULL, err);
}
