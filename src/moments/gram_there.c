#include "moments/gram_there.h"

#include "base/error.h"
#include "device/backend.h"
#include "moments/naive.h"

#include <math.h>

/*
 * One computation: every step does nothing after a failure, and all matrices are dropped at the end. `arena`
 * holds vectors.
 */
enum { MATRICES = 64 };
typedef struct {
    const ks_run *run;
    const ks_backend *at;
    const char *name;
    const double *A, *B;
    double *held[MATRICES];
    int count;
    ks_arena arena;
    kspec_status status;
    kspec_error *err;
} work;

static work begin(const ks_run *run, const ks_pair *p, const char *name, kspec_error *err) {
    work w = {.run = run, .at = ks_backend_of(run), .name = name, .err = err};
    w.status = w.at->bring(run, p->A, p->P, p->Q, name, &w.A, err);
    if (!w.status && p->B != p->A) w.status = w.at->bring(run, p->B, p->P, p->Q, name, &w.B, err);
    if (p->B == p->A) w.B = w.A;
    return w;
}

static kspec_status end(work *w) {
    for (int k = 0; k < w->count; k++) w->at->drop(w->run, w->held[k]);
    if (w->B != w->A) w->at->leave(w->run, w->B);
    w->at->leave(w->run, w->A);
    ks_arena_free(&w->arena);
    return w->status;
}

static double *matrix(work *w, size_t rows, size_t cols) {
    double *p = NULL;
    if (!w->status) w->status = w->at->hold(w->run, rows, cols, w->name, &p, w->err);
    if (p) w->held[w->count++] = p;
    return p;
}

static void drop_last(work *w) { w->at->drop(w->run, w->held[--w->count]); }

static double *vector(work *w, size_t count) {
    double *p = w->status ? NULL : ks_arena_alloc(&w->arena, count, sizeof *p);
    if (!p && !w->status) w->status = ks_nomem(w->err, w->name, w->arena.failed);
    return p;
}

/* Z (m x n) = alpha X op(Y) + beta Z, with m x k and k x n */
static void product(work *w, const ks_run *part, size_t m, size_t n, size_t k, double alpha, const double *X,
                    const double *Y, int turned, double beta, double *Z) {
    const ks_matmul p = {.tb = turned,
                         .m = m,
                         .n = n,
                         .k = k,
                         .alpha = alpha,
                         .A = X,
                         .lda = k,
                         .B = Y,
                         .ldb = turned ? k : n,
                         .beta = beta,
                         .C = Z,
                         .ldc = n};
    if (!w->status) w->status = w->at->product(part, &p, w->err);
}

/* alpha X o Y (turned: Y^T; NULL: X alone), stored, added or summed */
static void entries(work *w, size_t m, size_t n, double alpha, const double *X, const double *Y, int turned,
                    ks_tile_result what, double *out) {
    ks_expression e = {.m = m, .n = n, .alpha = alpha, .count = 1, .factor = {{X, 0, 1}}};
    if (Y) e.factor[e.count++] = (ks_factor){Y, turned, 1};
    if (!w->status) w->status = w->at->expression(w->run, &e, what, out, w->err);
}

static double sum(const work *w, size_t n, const double *x) {
    double s = 0;
    for (size_t i = 0; i < n && !w->status; i++) s += x[i];
    return s;
}

/* ---- naive ---- */

static void naive(work *w, const ks_pair *p, const ks_moments_out *out) {
    const size_t P = p->P, Q = p->Q, n = (size_t)p->nmax;
    const int half = (p->nmax + 1) / 2;
    const double entries_count = (double)P * (double)Q, steps = half + (out->cols ? p->nmax : 0);
    double *diag = vector(w, ks_size(n, P)), *g = out->cols ? vector(w, ks_size(n, Q)) : NULL;
    double **power = w->status ? NULL : ks_arena_zalloc(&w->arena, (size_t)half, sizeof *power);
    if (!power) {
        if (!w->status) w->status = ks_nomem(w->err, w->name, w->arena.failed);
        return;
    }
    for (int k = 0; k < half && !w->status; k++) {
        const ks_run part = ks_run_part(w->run, k / steps, (k + 1) / steps);
        power[k] = matrix(w, P, P);
        if (k == 0)
            product(w, &part, P, P, Q, 1 / entries_count, w->A, w->B, 1, 0, power[0]);
        else
            product(w, &part, P, P, P, 1, power[0], power[k - 1], 0, 0, power[k]);
    }
    for (int k = 1; k <= p->nmax && !w->status; k++) { /* (K^k)_ii */
        double *d = diag + (size_t)(k - 1) * P;
        if (k <= half)
            w->status = w->at->diagonal(w->run, d, power[k - 1], P, w->err);
        else
            entries(w, P, P, 1, power[half - 1], power[k - half - 1], 1, KS_TILE_ROW_SUMS, d);
        out->m[k - 1] = sum(w, P, d);
    }
    if (!out->rows || w->status) return;
    while (w->count > 1) drop_last(w); /* K itself stays */
    double *T = matrix(w, P, Q), *T2 = matrix(w, P, Q);
    entries(w, P, Q, 1 / entries_count, w->A, NULL, 0, KS_TILE_STORE, T);
    for (int k = 1; k <= p->nmax && !w->status; k++) { /* (B^T K^(k-1) A)_aa */
        const ks_run part = ks_run_part(w->run, (half + k - 1) / steps, (half + k) / steps);
        entries(w, P, Q, 1, w->B, T, 0, KS_TILE_COL_SUMS, g + (size_t)(k - 1) * Q);
        if (k == p->nmax) break;
        product(w, &part, P, Q, P, 1, power[0], T, 0, 0, T2);
        double *swap = T;
        T = T2;
        T2 = swap;
    }
    if (w->status) return;
    ks_naive_leave_out(out->m, p->nmax, P, diag, out->rows);
    ks_naive_leave_out(out->m, p->nmax, Q, g, out->cols);
}

kspec_status ks_naive_there(const ks_run *run, const ks_pair *p, const ks_moments_out *out,
                            kspec_error *err) {
    work w = begin(run, p, "naive", err);
    if (!w.status && (p->nmax + 1) / 2 + 2 > MATRICES)
        w.status = ks_fail(err, KSPEC_E_ARG, "naive: order %d exceeds %d, the highest on a GPU", p->nmax,
                           2 * (MATRICES - 2));
    if (!w.status) naive(&w, p, out);
    return end(&w);
}

kspec_status ks_ratio_there(const ks_run *run, const double *X, size_t P, size_t Q, double *ratio,
                            kspec_error *err) {
    const ks_pair p = {X, X, P, Q, 2};
    const size_t N = P <= Q ? P : Q;
    work w = begin(run, &p, "the Gram matrix", err);
    double *G = matrix(&w, N, N), *line = vector(&w, N);
    const ks_matmul gram = {.ta = P > Q,
                            .tb = P <= Q,
                            .m = N,
                            .n = N,
                            .k = P <= Q ? Q : P,
                            .alpha = 1,
                            .A = w.A,
                            .lda = Q,
                            .B = w.A,
                            .ldb = Q,
                            .C = G,
                            .ldc = N,
                            .symmetric = 1};
    if (!w.status) w.status = w.at->product(run, &gram, err);
    if (!w.status) w.status = w.at->diagonal(run, line, G, N, err);
    const double trace = sum(&w, N, line);
    entries(&w, N, N, 1, G, G, 0, KS_TILE_ROW_SUMS, line);
    const double square = sum(&w, N, line);
    *ratio = square > 0 ? trace * trace / square : NAN;
    return end(&w);
}

/* ---- Kong and Valiant ---- */

/* Ones above the diagonal, zeros elsewhere */
static double *triangle(work *w, size_t P) {
    double *M = matrix(w, P, P), *line = vector(w, 2 * P);
    for (size_t i = 0; i < 2 * P && !w->status; i++) line[i] = i >= P;
    for (size_t i = 0; i < P && !w->status; i++)
        w->status = w->at->put(w->run, M + i * P, line + P - 1 - i, P, w->err);
    return M;
}

/* The P x P matrices of the recursion, and G B */
typedef struct {
    double *M, *K, *U, *E, *E2, *W, *W2, *G, *GB, *sums;
} squares;

static void leave_out(work *w, const ks_run *part, const ks_pair *p, int n, const squares *s,
                      const ks_moments_out *out) {
    const size_t P = p->P, Q = p->Q;
    double *row = out->rows + (size_t)(n - 1) * P, *col = out->cols + (size_t)(n - 1) * Q;
    const double f = out->m[n - 1];
    if (n == 1) { /* G = I / P */
        if (!w->status) w->status = w->at->diagonal(w->run, row, s->K, P, w->err);
        for (size_t i = 0; i < P && !w->status; i++) row[i] /= (double)P;
        entries(w, P, Q, 1 / ((double)P * (double)Q), w->A, w->B, 0, KS_TILE_COL_SUMS, col);
    } else { /* E_ji is zero but below the diagonal */
        entries(w, P, P, 1, s->M, s->W, 1, KS_TILE_STORE, s->G);
        ks_expression below = {.m = P, .n = P, .alpha = 1, .count = 1, .factor = {{s->E, 1, 1}}};
        if (!w->status) w->status = w->at->expression(w->run, &below, KS_TILE_ADD, s->G, w->err);
        entries(w, P, P, 1, s->K, s->G, 0, KS_TILE_ROW_SUMS, row);
        product(w, part, P, Q, P, 1 / (double)Q, s->G, w->B, 0, 0, s->GB);
        entries(w, P, Q, 1, w->A, s->GB, 0, KS_TILE_COL_SUMS, col);
    }
    if (w->status) return;
    for (size_t i = 0; i < P; i++)
        row[i] = P > (size_t)n ? (f - row[i]) * (double)P / (double)(P - (size_t)n) : NAN;
    for (size_t a = 0; a < Q; a++) col[a] = Q > 1 ? f - (col[a] - n * f / (double)Q) : NAN;
}

static void next_order(work *w, const ks_run *part, size_t P, int n, squares *s) {
    const double c = (double)n / ((double)P - n + 1);
    if (n == 2) { /* from E_1 = I / P and W_1 = 0 */
        if (s->W) entries(w, P, P, c / (double)P, s->K, NULL, 0, KS_TILE_STORE, s->W);
        entries(w, P, P, c / (double)P, s->U, NULL, 0, KS_TILE_STORE, s->E);
        return;
    }
    if (s->W) {
        product(w, part, P, P, P, c, s->U, s->W, 0, 0, s->W2);
        product(w, part, P, P, P, c, s->K, s->E, 0, 1, s->W2);
    }
    product(w, part, P, P, P, c, s->E, s->U, 0, 0, s->E2);
    double *E = s->E, *W = s->W;
    s->E = s->E2, s->E2 = E;
    s->W = s->W2, s->W2 = W;
}

static void kong_valiant(work *w, const ks_pair *p, const ks_moments_out *out) {
    const size_t P = p->P, Q = p->Q;
    squares s = {.M = triangle(w, P), .sums = vector(w, P)};
    double **all[] = {&s.K, &s.U, &s.E, &s.E2, &s.W, &s.W2, &s.G};
    for (int k = 0; k < (out->rows ? 7 : 4); k++) *all[k] = matrix(w, P, P);
    if (out->rows) s.GB = matrix(w, P, Q);
    ks_run part = ks_run_part(w->run, 0, 0);
    product(w, &part, P, P, Q, 1 / (double)Q, w->A, w->B, 1, 0, s.K);
    entries(w, P, P, 1, s.K, s.M, 0, KS_TILE_STORE, s.U);
    for (int n = 1; n <= p->nmax && !w->status; n++) {
        part = ks_run_part(w->run, (n - 1.0) / p->nmax, (double)n / p->nmax);
        if (n > 1) next_order(w, &part, P, n, &s);
        if (n > 1)
            entries(w, P, P, 1, s.E, s.K, 1, KS_TILE_ROW_SUMS, s.sums);
        else if (!w->status)
            w->status = w->at->diagonal(w->run, s.sums, s.K, P, w->err);
        out->m[n - 1] = sum(w, P, s.sums) / (n > 1 ? 1 : (double)P);
        if (out->rows) leave_out(w, &part, p, n, &s, out);
    }
}

kspec_status ks_kv_there(const ks_run *run, const ks_pair *p, const ks_moments_out *out, kspec_error *err) {
    work w = begin(run, p, "Kong-Valiant", err);
    if (!w.status) kong_valiant(&w, p, out);
    return end(&w);
}
