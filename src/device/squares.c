/* Runs computations with matrices as large as the Gram matrix on any backend. */
#include "device/squares.h"

#include "base/error.h"

ks_squares ks_squares_begin(const ks_run *run, const ks_pair *p, size_t matrices, const char *name,
                            kspec_error *err) {
    ks_squares w = {.run = run, .at = ks_backend_for(run, p->P, p->Q), .name = name, .err = err};
    w.held = ks_arena_alloc(&w.arena, matrices, sizeof *w.held);
    if (!w.held) w.status = ks_nomem(err, name, w.arena.failed);
    if (!w.status) w.status = w.at->copy_in(run, p->A, p->P, p->Q, name, &w.A, err);
    if (!w.status && p->B != p->A) w.status = w.at->copy_in(run, p->B, p->P, p->Q, name, &w.B, err);
    if (p->B == p->A) w.B = w.A;
    return w;
}

kspec_status ks_squares_end(ks_squares *w) {
    while (w->count) ks_squares_drop_last(w);
    if (w->B != w->A) w->at->release(w->run, w->B);
    w->at->release(w->run, w->A);
    ks_arena_free(&w->arena);
    return w->status;
}

ks_mat *ks_squares_matrix(ks_squares *w, size_t rows, size_t cols) {
    ks_mat *p = NULL;
    if (!w->status) w->status = w->at->hold(w->run, rows, cols, w->name, &p, w->err);
    if (p) w->held[w->count++] = p;
    return p;
}

void ks_squares_drop_last(ks_squares *w) { w->at->drop(w->run, w->held[--w->count]); }

double *ks_squares_vector(ks_squares *w, size_t count) {
    double *p = w->status ? NULL : ks_arena_alloc(&w->arena, count, sizeof *p);
    if (!p && !w->status) w->status = ks_nomem(w->err, w->name, w->arena.failed);
    return p;
}

void ks_squares_product(ks_squares *w, const ks_run *part, size_t m, size_t n, size_t k, double alpha,
                        const ks_mat *X, const ks_mat *Y, int turned, double beta, ks_mat *Z) {
    const int ta = turned == KS_TURN_FIRST, tb = turned == KS_TURN_SECOND;
    const ks_mat_product p = {ta, tb, m, n, k, alpha, X, ta ? m : k, Y, tb ? k : n, beta, Z, n};
    if (!w->status) w->status = w->at->product(part, &p, w->err);
}

static void expression(ks_squares *w, size_t m, size_t n, double alpha, const ks_mat *X, const ks_mat *Y,
                       int turned, ks_tile_result what, ks_mat *out, double *sums) {
    ks_mat_expression e = {.m = m, .n = n, .alpha = alpha, .count = 1, .factor = {{X, 0, 1}}};
    if (Y) e.factor[e.count++] = (ks_mat_factor){Y, turned, 1};
    if (!w->status) w->status = w->at->expression(w->run, &e, what, out, sums, w->err);
}

void ks_squares_entries(ks_squares *w, size_t m, size_t n, double alpha, const ks_mat *X, const ks_mat *Y,
                        int turned, ks_mat *out) {
    expression(w, m, n, alpha, X, Y, turned, KS_TILE_STORE, out, NULL);
}

void ks_squares_sums(ks_squares *w, size_t m, size_t n, double alpha, const ks_mat *X, const ks_mat *Y,
                     int turned, ks_tile_result what, double *out) {
    expression(w, m, n, alpha, X, Y, turned, what, NULL, out);
}

void ks_squares_diagonal(ks_squares *w, size_t n, const ks_mat *X, double *out) {
    if (!w->status) w->status = w->at->diagonal(w->run, out, X, n, w->err);
}

double ks_squares_sum(const ks_squares *w, size_t n, const double *x) {
    double s = 0;
    for (size_t i = 0; i < n && !w->status; i++) s += x[i];
    return s;
}

kspec_status ks_gram_sums_device(const ks_run *run, const double *X, size_t P, size_t Q, double *trace,
                                 double *square, kspec_error *err) {
    const ks_pair p = {X, X, P, Q, 2};
    const size_t N = P <= Q ? P : Q;
    ks_squares w = ks_squares_begin(run, &p, 1, "the Gram matrix", err);
    ks_mat *G = ks_squares_matrix(&w, N, N);
    double *line = ks_squares_vector(&w, N);
    const ks_mat_product gram = {P > Q, P <= Q, N, N, P <= Q ? Q : P, 1, w.A, Q, w.A, Q, 0, G, N, 1};
    if (!w.status) w.status = w.at->product(run, &gram, err);
    ks_squares_diagonal(&w, N, G, line);
    *trace = ks_squares_sum(&w, N, line);
    ks_squares_sums(&w, N, N, 1, G, G, 0, KS_TILE_ROW_SUMS, line);
    *square = ks_squares_sum(&w, N, line);
    return ks_squares_end(&w);
}
