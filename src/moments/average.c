#include "moments/average.h"

#include "base/error.h"
#include "base/streams.h"
#include "moments/kv.h"
#include "moments/naive.h"
#include "moments/path.h"

#include <string.h>

/* One method on one pair. Seen from the transpose, rows and columns change places in the result, too. */
static kspec_status run_method(const ks_run *run, const ks_source *s, kspec_estimator method,
                               const ks_pair *p, const ks_moments_out *out, kspec_error *err) {
    if (method == KSPEC_ESTIMATOR_NAIVE) return ks_naive(run, p, out, err);
    if (method == KSPEC_ESTIMATOR_EXACT) return ks_exact(run, &s->tasks->exact, p, out, err);
    if (method == KSPEC_ESTIMATOR_KV_ROW) return ks_kv_row(run, p, out, err);
    if (method == KSPEC_ESTIMATOR_PATH && !s->tasks->transposed) return ks_path(run, p, out, err);
    ks_arena arena = {0};
    ks_pair t;
    ks_moments_out turned = {out->m, out->cols, out->rows};
    kspec_status st = ks_pair_transpose(p, &t, &arena, err);
    if (!st)
        st = method == KSPEC_ESTIMATOR_PATH ? ks_path(run, &t, &turned, err)
                                            : ks_kv_row(run, &t, &turned, err);
    ks_arena_free(&arena);
    return st;
}

/* Does exchanging the two trials leave the value as it is? */
static int symmetric(kspec_estimator method) {
    return method == KSPEC_ESTIMATOR_NAIVE || method == KSPEC_ESTIMATOR_EXACT;
}

/* ---- a pair, squared and in another order ---- */

typedef struct {
    /* row i of the changed pair is row rows[i] of the given one */
    size_t *rows, *cols;
    double *a, *b;
} changed;

static kspec_status changed_alloc(changed *c, const ks_task *task, int square, size_t P, size_t Q, int two,
                                  ks_arena *arena, kspec_error *err) {
    *c = (changed){0};
    if (!task->permutations && !square) return KSPEC_OK;
    c->rows = ks_arena_alloc(arena, P, sizeof *c->rows);
    c->cols = ks_arena_alloc(arena, Q, sizeof *c->cols);
    c->a = ks_arena_alloc(arena, ks_size(P, Q), sizeof *c->a);
    if (two) c->b = ks_arena_alloc(arena, ks_size(P, Q), sizeof *c->b);
    return arena->failed ? ks_nomem(err, "a copy of the matrix", arena->failed) : KSPEC_OK;
}

static void change(changed *c, ks_pair *p, int permute, uint64_t seed, uint64_t number, int square) {
    if (!c->a) return;
    for (size_t i = 0; i < p->P; i++) c->rows[i] = i;
    for (size_t a = 0; a < p->Q; a++) c->cols[a] = a;
    if (permute) {
        kspec_random_permutation(seed, ks_stream(KS_STREAM_ROW_ORDER, number), p->P, c->rows);
        kspec_random_permutation(seed, ks_stream(KS_STREAM_COL_ORDER, number), p->Q, c->cols);
    }
    const double *from[2] = {p->A, p->B};
    double *to[2] = {c->a, c->b};
    for (int k = 0; k < (c->b ? 2 : 1); k++)
        for (size_t i = 0; i < p->P; i++)
            for (size_t a = 0; a < p->Q; a++) {
                double x = from[k][c->rows[i] * p->Q + c->cols[a]];
                to[k][i * p->Q + a] = square ? x * x : x;
            }
    p->A = c->a;
    p->B = c->b ? c->b : c->a;
}

/* sum += weight * one, leave-one-out estimates going back to the rows and columns that they are about */
static void accumulate(const changed *c, const ks_pair *p, double weight, const ks_moments_out *one,
                       const ks_moments_out *sum) {
    for (size_t n = 0; n < (size_t)p->nmax; n++) {
        sum->m[n] += weight * one->m[n];
        if (!sum->rows) continue;
        for (size_t i = 0; i < p->P; i++)
            sum->rows[n * p->P + (c->a ? c->rows[i] : i)] += weight * one->rows[n * p->P + i];
        for (size_t a = 0; a < p->Q; a++)
            sum->cols[n * p->Q + (c->a ? c->cols[a] : a)] += weight * one->cols[n * p->Q + a];
    }
}

static void clear(const ks_moments_out *sum, size_t n, size_t P, size_t Q) {
    memset(sum->m, 0, n * sizeof *sum->m);
    if (sum->rows) memset(sum->rows, 0, n * P * sizeof *sum->rows);
    if (sum->cols) memset(sum->cols, 0, n * Q * sizeof *sum->cols);
}

kspec_status ks_average(const ks_run *run, ks_source *s, const ks_task *task, int square,
                        const ks_moments_out *sum, kspec_error *err) {
    const ks_trials *t = s->trials;
    size_t P = t->P, Q = t->Q, n = (size_t)task->last;
    size_t splits = ks_trials_splits(t, s->o->splits);
    size_t sides = t->split && !symmetric(task->method) ? 2 : 1,
           orders = task->permutations ? (size_t)task->permutations : 1;
    size_t total = splits * sides * orders, done = 0;

    ks_arena arena = {0};
    changed c;
    ks_moments_out one = {ks_arena_alloc(&arena, n, sizeof(double)), NULL, NULL};
    if (sum->rows) {
        one.rows = ks_arena_alloc(&arena, ks_size(n, P), sizeof(double));
        one.cols = ks_arena_alloc(&arena, ks_size(n, Q), sizeof(double));
    }
    kspec_status st = changed_alloc(&c, task, square, P, Q, t->count > 1, &arena, err);
    if (!st && arena.failed) st = ks_nomem(err, "leave-one-out estimates", arena.failed);
    if (!st) clear(sum, n, P, Q);
    for (size_t r = 0; r < splits && !st; r++) {
        ks_pair p = {.nmax = task->last};
        ks_trials_split(t, s->o->seed, r, &s->halves, &p);
        for (size_t k = 0; k < sides * orders && !st; k++) {
            ks_pair q = k % sides ? (ks_pair){p.B, p.A, P, Q, p.nmax} : p;
            change(&c, &q, task->permutations, s->o->seed, r * orders + k / sides, square);
            ks_run part = ks_run_part(run, (double)done / (double)total, (double)(done + 1) / (double)total);
            done++;
            st = run_method(&part, s, task->method, &q, &one, err);
            if (!st) accumulate(&c, &q, 1 / (double)total, &one, sum);
        }
    }
    ks_arena_free(&arena);
    return st;
}

/* ---- the assignment scheme ---- */

/* A trial other than the two given ones (the same twice, or -1: no constraint), from u uniform on (0,1) */
static int another(double u, int trials, int not1, int not2) {
    int excluded = (not1 >= 0) + (not2 >= 0 && not2 != not1), k = (int)(u * (trials - excluded));
    for (int t = 0;; t++)
        if (t != not1 && t != not2 && k-- == 0) return t;
}

kspec_status ks_average_assigned(const ks_run *run, ks_source *s, const ks_task *task,
                                 const ks_moments_out *sum, kspec_error *err) {
    const ks_trials *t = s->trials;
    size_t P = t->P, Q = t->Q, n = (size_t)task->last;
    int T = (int)t->count;
    ks_arena arena = {0};
    const double **phi = ks_arena_alloc(&arena, t->count, sizeof *phi);
    int *edge = ks_arena_alloc(&arena, 2 * n, sizeof *edge),
        *closing = ks_arena_alloc(&arena, n, sizeof *closing);
    double *u = ks_arena_alloc(&arena, 3 * n, sizeof *u), *m = ks_arena_alloc(&arena, n, sizeof *m);
    kspec_status st = arena.failed ? ks_nomem(err, "the trials", arena.failed) : KSPEC_OK;
    for (size_t k = 0; k < t->count && !st; k++) {
        double *copy = ks_arena_alloc(&arena, ks_size(P, Q), sizeof *copy);
        if (!copy) {
            st = ks_nomem(err, "a copy of a trial", arena.failed);
            break;
        }
        ks_trials_copy(t, k, &s->halves, copy);
        ks_pair p = {copy, copy, P, Q, task->last}, turned = p;
        if (s->tasks->transposed) st = ks_pair_transpose(&p, &turned, &arena, err);
        phi[k] = turned.A;
    }
    if (!st) clear(sum, n, P, Q);
    for (int r = 0; r < s->o->splits && !st; r++) {
        kspec_random_uniform(s->o->seed, ks_stream(KS_STREAM_ASSIGNMENT, (uint64_t)r), 0, 3 * n, u);
        for (size_t e = 0; e + 1 < 2 * n; e++) edge[e] = another(u[e], T, e ? edge[e - 1] : -1, -1);
        for (size_t k = 0; k < n; k++) closing[k] = another(u[2 * n + k], T, edge[2 * k], edge[0]);
        ks_run part = ks_run_part(run, (double)r / s->o->splits, (r + 1.0) / s->o->splits);
        st = ks_path_assigned(&part, phi, s->tasks->transposed ? Q : P, s->tasks->transposed ? P : Q,
                              task->last, edge, closing, m, err);
        for (size_t k = 0; k < n && !st; k++) sum->m[k] += m[k] / s->o->splits;
    }
    ks_arena_free(&arena);
    return st;
}
