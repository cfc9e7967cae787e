/* Small regression problems, as the reference values have them, and one-line calls. */
#ifndef KSPEC_RIDGE_HELP_H
#define KSPEC_RIDGE_HELP_H

#include "oracle/brute.h"
#include "kspec.h"
#include "test.h"

typedef struct {
    size_t n, nt, p;
    double *X, *Xt, *y, *yt;
} problem;

/* Entries of the generator less 0.25, labels sign(x0 + 0.3 x1), rows/sqrt(p) */
static inline void sample(uint64_t seed, size_t n, size_t p, double *X, double *y) {
    brute_matrix(seed, n * p, X);
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < p; k++) X[i * p + k] -= 0.25;
        y[i] = X[i * p] + (p > 1 ? 0.3 * X[i * p + 1] : 0) >= 0 ? 1 : -1;
        for (size_t k = 0; k < p; k++) X[i * p + k] /= sqrt((double)p);
    }
}

static inline problem make_problem(uint64_t seed, size_t n, size_t nt, size_t p) {
    problem q = {n, nt, p, malloc(n * p * 8), malloc(nt * p * 8 + 8), malloc(n * 8), malloc(nt * 8 + 8)};
    sample(seed, n, p, q.X, q.y);
    sample(seed + 1, nt, p, q.Xt, q.yt);
    return q;
}

static inline void free_problem(problem *q) {
    free(q->X);
    free(q->Xt);
    free(q->y);
    free(q->yt);
}

static inline kspec_matrix view(const double *x, size_t rows, size_t cols) {
    return (kspec_matrix){x, rows, cols, (ptrdiff_t)cols, 1};
}

static inline kspec_ridge *open_problem(const problem *q, const kspec_ridge_opts *o) {
    kspec_matrix X = view(q->X, q->n, q->p), y = view(q->y, q->n, 1);
    kspec_matrix Xt = view(q->Xt, q->nt, q->p), yt = view(q->yt, q->nt, 1);
    kspec_ridge *r;
    kspec_error err;
    kspec_status st = kspec_ridge_open(&X, &y, q->nt ? &Xt : NULL, q->nt ? &yt : NULL, o, &r, &err);
    CHECK_MSG(st == KSPEC_OK, "%s", err.msg);
    return r;
}

/* The points of a result, copied out of it; their columns go with the result. */
static inline void take_points(kspec_ridge_result *r, kspec_ridge_point *p) {
    for (size_t k = 0; k < r->count; k++) {
        p[k] = *r->points[k];
        p[k].train_columns = p[k].test_columns = NULL;
    }
    kspec_free(r);
}

static inline void predict_all(kspec_ridge *r, size_t N, const double *lambda, size_t count,
                               kspec_ridge_point *p) {
    kspec_ridge_result *out;
    kspec_error err;
    kspec_status st = kspec_ridge_predict(r, &N, 1, lambda, count, &out, &err);
    CHECK_MSG(st == KSPEC_OK && out->count == count, "N = %zu: %s", N, err.msg);
    take_points(out, p);
}

static inline kspec_ridge_point predict(kspec_ridge *r, size_t N, double lambda) {
    kspec_ridge_point p;
    predict_all(r, N, &lambda, 1, &p);
    return p;
}

static inline void measure(kspec_ridge *r, size_t N, const double *lambda, size_t count, size_t draws,
                           kspec_ridge_measured *m) {
    kspec_ridge_empirical_result *out;
    kspec_error err;
    kspec_status st = kspec_ridge_empirical(r, N, lambda, count, draws, &out, &err);
    CHECK_MSG(st == KSPEC_OK && out->count == count, "N = %zu: %s", N, err.msg);
    for (size_t k = 0; k < count; k++) {
        CHECK(out->points[k]->lambda == lambda[k]);
        m[k] = *out->points[k];
    }
    kspec_free(out);
}

#endif
