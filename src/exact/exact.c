/* Computes the exact estimator of m(n): the mean over all cycles with distinct rows and distinct columns. */
#include "exact/exact.h"

#include "base/center.h"
#include "base/error.h"
#include "engine/run.h"
#include "linalg/linalg.h"
#include "exact/terms.h"
#include "kspec/host.h"

#include <math.h>
#include <string.h>

/*
 * Computes the N x N Gram matrix G of the sampled side. If the other side is complete, the edges of graphs
 * are entries of G. For sampled rows, G[i,j] is the sum of A[i,a] B[j,a] / Q over columns a. For sampled
 * columns, G[a,b] is the sum of B[i,a] A[i,b] / P over rows i.
 */
static void gram(ks_exec_state *x, const ks_pair *p, kspec_sampled s, const ks_mat *A, const ks_mat *B,
                 ks_mat *G) {
    int rows = s == KSPEC_SAMPLED_ROWS, symmetric = A == B;
    size_t N = rows ? p->P : p->Q, M = rows ? p->Q : p->P, ld = p->Q;
    double work = (double)N * (double)N * (double)M * (symmetric ? KS_SYMMETRIC_COST : 1),
           alpha = 1 / (double)M;
    ks_run part;
    const ks_mat_product product = {.ta = !rows,
                                    .tb = rows,
                                    .m = N,
                                    .n = N,
                                    .k = M,
                                    .alpha = alpha,
                                    .A = rows ? A : B,
                                    .lda = ld,
                                    .B = rows ? B : A,
                                    .ldb = ld,
                                    .C = G,
                                    .ldc = N,
                                    .symmetric = symmetric};
    ks_exec_room(x, &(ks_room){.product = &product, .whole = KS_WHOLE_A | KS_WHOLE_B});
    if (!ks_exec_step(x, work, &part)) return;
    x->status = x->at->product(&part, &product, x->err);
}

/*
 * The results of each order are the sum over distinct cycles and the sum of |terms|. If the caller sets
 * `through`, through[side][(n-1)*size + i] receives the sum over distinct cycles through i. For weighted
 * cycles S is the estimate, and the estimate without i is less[side][n-1] - through[side][(n-1)*size + i].
 */
typedef struct {
    const ks_cycles *cycles;
    double S[KS_EXACT_NMAX], abs_S[KS_EXACT_NMAX], less[2][KS_EXACT_NMAX], *through[2];
} sums;

/* Receives the values d[i] of a weighted graph with its last vertex fixed to i. */
static void fix_root(void *ctx, uint32_t graph, int side, double value, const double *d) {
    sums *s = ctx;
    const ks_graph *g = &s->cycles->graphs[graph];
    size_t size = s->cycles->plan.size[side];
    double *through = s->through[side] + (size_t)(g->n - 1) * size;
    for (int k = 0; k < 2; k++) s->less[k][g->n - 1] += g->less[k] * value;
    for (size_t i = 0; i < size && g->pin != 0; i++) through[i] += g->pin * d[i];
}

/* Runs the backward pass once per order n with the weights of that order's graphs. */
static void backward(ks_exec_state *x, const sums *s) {
    const ks_cycles *c = s->cycles;
    double *through[KS_AXES] = {NULL};
    for (int n = 1; n <= c->nmax && !x->status; n++) {
        for (size_t g = 0; g < c->ngraphs; g++) x->seed[g] = c->graphs[g].n == n ? c->graphs[g].weight : 0;
        for (int side = 0; side < 2 && s->through[side]; side++)
            through[side] = s->through[side] + (size_t)(n - 1) * c->plan.size[side];
        ks_exec_backward(x, through);
    }
}

/* Executes the plan once. If with_loo is 1, also computes the sums over the cycles through each index. */
static kspec_status execute(ks_exec_state *x, sums *out, const ks_pair *p, kspec_sampled s, int with_loo) {
    const ks_cycles *c = out->cycles;
    const int gram_wanted = s != KSPEC_SAMPLED_BOTH;
    x->plan = &c->plan;
    x->what = "the exact estimator";
    x->live = c->bytes;
    x->peak = c->bytes_making;
    x->at = c->plan.any_hard ? ks_backend_alone(x->run) : ks_backend_for(x->run, p->P, p->Q);
    x->keep = with_loo && !c->form.weighted;
    x->whole = !gram_wanted;
    if (with_loo && c->form.weighted) x->watch = fix_root, x->ctx = out;
    const ks_mat *A = ks_exec_copy_in(x, p->A, p->P, p->Q),
                 *B = p->B == p->A ? A : ks_exec_copy_in(x, p->B, p->P, p->Q);
    size_t N = c->plan.size[KS_ROW];
    ks_mat *G = gram_wanted ? ks_exec_hold(x, N, N) : NULL;
    if (G) gram(x, p, s, A, B, G);
    x->source[0] = gram_wanted ? G : A, x->source[1] = B;
    ks_exec_begin(x);
    ks_exec_forward(x);
    if (x->keep) backward(x, out);
    for (size_t g = 0; g < c->ngraphs && !x->dry && !x->status; g++) {
        const double term = c->graphs[g].weight * x->graph[g];
        out->S[c->graphs[g].n - 1] += term;
        out->abs_S[c->graphs[g].n - 1] += fabs(term);
    }
    ks_exec_end(x);
    ks_exec_drop(x, G, N, N);
    ks_exec_end_spares(x);
    if (B && B != A && !x->dry) x->at->release(x->run, B);
    if (A && !x->dry) x->at->release(x->run, A);
    return x->status;
}

/* ---- results ---- */

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
    ks_cycles_free(&e->cycles);
    e->work[0] = e->work[1] = 0;
}

static kspec_status make_plan(ks_exact_plan *e, int nmax, int with_loo, kspec_error *err) {
    ks_exact_form form = form_of(e, with_loo);
    const int *pinned = e->cycles.form.pinned,
              fits = pinned[0] == form.pinned[0] && pinned[1] == form.pinned[1];
    if (e->cycles.nmax == nmax && nmax > 0 && fits) return KSPEC_OK;
    ks_exact_plan_free(e);
    int both = e->sampled == KSPEC_SAMPLED_BOTH;
    size_t rows = e->sampled == KSPEC_SAMPLED_COLS ? e->Q : e->P, cols = both ? e->Q : 1;
    if (nmax < 1 || nmax > ks_exact_highest(e))
        return ks_fail(err, KSPEC_E_ARG, "order %d is not between 1 and %d, the highest of exact", nmax,
                       ks_exact_highest(e));
    for (int side = 0; side < 2 && form.weighted; side++)
        if ((size_t)nmax > ks_exact_enough(e, side)) return ks_exact_too_few(e, side, nmax, err);
    if (form.weighted) return ks_cycles_make(&e->cycles, form, e->P, e->Q, nmax, err);
    if ((size_t)nmax > rows || (both && (size_t)nmax > cols))
        return ks_fail(err, KSPEC_E_ARG, "order %d exceeds %s=%zu", nmax,
                       both                               ? "min(P,Q)"
                       : e->sampled == KSPEC_SAMPLED_ROWS ? "P"
                                                          : "Q",
                       both && cols < rows ? cols : rows);
    return ks_cycles_make(&e->cycles, form, rows, cols, nmax, err);
}

void ks_exact_share(ks_exact_plan *e, kspec_team *team, int threads) {
    e->team = team;
    e->threads = threads;
    e->work[0] = e->work[1] = 0;
}

/*
 * Returns the bytes for the sums over the cycles through each row and column, in addition to the execution's
 * own memory.
 */
static size_t through_bytes(const ks_exact_plan *e, int nmax, int with_loo) {
    return with_loo ? ks_size((size_t)nmax, ks_size(e->P + e->Q + 16, sizeof(double))) : 0;
}

kspec_status ks_exact_cost(ks_exact_plan *e, int nmax, int with_loo, double *work, size_t *bytes,
                           kspec_error *err) {
    /* A dry run reads no entries, so these two numbers represent the trials. */
    static const double one, other;
    int k = with_loo != 0;
    kspec_status st = make_plan(e, nmax, k, err);
    if (!st && !e->work[k]) {
        ks_pair p = {&one, e->two ? &other : &one, e->P, e->Q, nmax};
        const ks_run run = {.threads = e->threads ? e->threads : kspec_default_threads(), .team = e->team};
        ks_exec_state x = {.run = &run, .dry = 1, .err = err};
        sums none = {.cycles = &e->cycles};
        st = execute(&x, &none, &p, e->sampled, k);
        e->bytes[k] = ks_size_add(x.peak, through_bytes(e, nmax, k));
        e->work[k] = st ? 0 : x.work;
    }
    *work = e->work[k];
    *bytes = e->bytes[k];
    return st;
}

static double falling(size_t N, int n) { /* returns (N)_n */
    double f = 1;
    for (int k = 0; k < n; k++) f *= (double)N - k;
    return f;
}

/*
 * Computes the estimates without each of the N indices of a sampled side. `other` is the number of choices on
 * the other side.
 */
static void leave_one_out(size_t N, int n, double S, double other, const double *through, double *out) {
    double cycles = falling(N - 1, n) * other;
    for (size_t i = 0; i < N; i++) out[i] = N > (size_t)n ? (S - through[i]) / cycles : NAN;
}

/* Computes the estimates of a weighted plan without each index of one side. */
static void weighted_less(const ks_exact_plan *e, int side, int n, double m, double less,
                          const double *through, double *out) {
    size_t N = side_size(e, side);
    int enough = complete(e, side) || N - 1 >= (size_t)(centred(e, side) ? 2 * n : n);
    for (size_t i = 0; i < N; i++) out[i] = complete(e, side) ? m : enough ? less - through[i] : NAN;
}

kspec_status ks_exact_terms(const ks_run *run, ks_exact_plan *e, const ks_pair *p, const ks_moments_out *out,
                            double *abs_terms, kspec_error *err) {
    const int with_loo = out->rows != NULL;
    sums got = {.cycles = &e->cycles};
    ks_arena arena = {0};
    ks_exec_state x = {.run = run, .err = err};
    size_t bytes;
    if (e->threads != run->threads) ks_exact_share(e, e->team, run->threads);
    kspec_status st = ks_exact_cost(e, p->nmax, with_loo, &x.total, &bytes, err);
    if (st) return st;
    x.most = bytes - through_bytes(e, p->nmax, with_loo);
    const kspec_sampled s = e->sampled;
    const size_t *size = e->cycles.plan.size;
    for (int side = 0; side < 2 && with_loo; side++)
        got.through[side] = ks_arena_zalloc(&arena, ks_size((size_t)p->nmax, size[side]), sizeof(double));
    if (arena.failed) st = ks_nomem(err, "the exact estimator", arena.failed);
    if (!st && !(st = ks_blas_enter(run->threads, err))) {
        st = execute(&x, &got, p, s, with_loo);
        ks_blas_exit();
    }

    for (int n = 1; n <= p->nmax && !st && ks_exact_weighted(e); n++) {
        out->m[n - 1] = got.S[n - 1];
        if (abs_terms) abs_terms[n - 1] = got.abs_S[n - 1];
        for (int side = 0; side < 2 && out->rows; side++) {
            size_t at = (size_t)(n - 1) * size[side];
            weighted_less(e, side, n, got.S[n - 1], got.less[side][n - 1], got.through[side] + at,
                          (side == KS_ROW ? out->rows : out->cols) + at);
        }
    }
    for (int n = 1; n <= p->nmax && !st && !ks_exact_weighted(e); n++) {
        double rows = s == KSPEC_SAMPLED_COLS ? 1 : falling(p->P, n),
               cols = s == KSPEC_SAMPLED_ROWS ? 1 : falling(p->Q, n);
        double Sn = got.S[n - 1], m = Sn / (rows * cols);
        out->m[n - 1] = m;
        if (abs_terms) abs_terms[n - 1] = got.abs_S[n - 1] / (rows * cols);
        if (!out->rows) continue;
        double *row = out->rows + (size_t)(n - 1) * p->P, *col = out->cols + (size_t)(n - 1) * p->Q;
        /* A plan for a complete side calls its only side the rows. */
        const double *r = got.through[0] + (size_t)(n - 1) * size[0];
        const double *c = s == KSPEC_SAMPLED_COLS ? r : got.through[1] + (size_t)(n - 1) * size[1];
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
