/*
 * Averages one estimator over random splits of the trials, over both orders of a pair, and over random orders
 * of rows and columns.
 */
#include "moments/average.h"

#include "base/center.h"
#include "base/error.h"
#include "base/streams.h"
#include "device/device.h"
#include "exact/apart.h"
#include "path/kv.h"
#include "path/naive.h"
#include "pairs/pairs.h"
#include "path/path.h"
#include "path/groups.h"
#include "device/pair_device.h"

#include <math.h>
#include <string.h>

/* ---- pairs ---- */

typedef struct {
    ks_group_order rows, cols;
    double *a, *b;
} changed;

/*
 * The path estimator wants the members of each group next to each other, so groups always need a copy of the
 * data.
 */
static int is_changed(const ks_source *s, const ks_task *task, int square) {
    int grouped = task->method == KSPEC_ESTIMATOR_PATH && (s->rows->of || s->cols->of);
    return task->permutations || square || grouped;
}

static kspec_status changed_alloc(changed *c, const ks_source *s, const ks_task *task, int square,
                                  ks_arena *arena, kspec_error *err) {
    size_t entries = ks_size(s->trials->P, s->trials->Q);
    *c = (changed){0};
    if (!is_changed(s, task, square)) return KSPEC_OK;
    kspec_status st = ks_group_order_alloc(&c->rows, s->rows, arena, err);
    if (!st) st = ks_group_order_alloc(&c->cols, s->cols, arena, err);
    c->a = ks_arena_alloc(arena, entries, sizeof *c->a);
    if (s->trials->count > 1) c->b = ks_arena_alloc(arena, entries, sizeof *c->b);
    return !st && arena->failed ? ks_nomem(err, "a copy of the matrix", arena->failed) : st;
}

static void one_order(ks_group_order *o, const ks_groups *g, int permute, uint64_t seed, uint64_t stream) {
    for (size_t k = 0; k < g->count; k++) o->group[k] = k;
    if (permute) ks_random_permutation(seed, stream, g->count, o->group);
    ks_group_order_set(o, g);
}

static void set_order(changed *c, const ks_source *s, int permute, uint64_t number) {
    if (!c->a) return;
    one_order(&c->rows, s->rows, permute, s->o->seed, ks_stream(KS_STREAM_ROW_ORDER, number));
    one_order(&c->cols, s->cols, permute, s->o->seed, ks_stream(KS_STREAM_COL_ORDER, number));
}

static void change(changed *c, ks_pair *p, int square) {
    if (!c->a) return;
    const double *from[2] = {p->A, p->B};
    double *to[2] = {c->a, c->b};
    for (int k = 0; k < (c->b ? 2 : 1); k++)
        for (size_t i = 0; i < p->P; i++)
            for (size_t a = 0; a < p->Q; a++) {
                double x = from[k][c->rows.place[i] * p->Q + c->cols.place[a]];
                to[k][i * p->Q + a] = square ? x * x : x;
            }
    p->A = c->a;
    p->B = c->b ? c->b : c->a;
}

/* ---- estimators ---- */

/* Returns the fraction of the entries that both trials contain. A cycle of order 1 is one such entry. */
static double seen_part(const ks_halves *h, size_t entries) {
    double seen = 0;
    for (size_t k = 0; k < entries; k++) seen += h->seen_a[k] * h->seen_b[k];
    return seen / (double)entries;
}

/*
 * Estimates m(1) and m(2) of one pair of trials by sums over pairs of columns, which also handle groups and
 * missing entries.
 */
static kspec_status run_pairs(const ks_run *run, const ks_source *s, const ks_pair *p,
                              const ks_moments_out *out, kspec_error *err) {
    const size_t G = s->rows->count, H = s->cols->count, count = 1 + G + H;
    const ks_halves *h = &s->halves;
    const ks_pairs in = {p->A, p->B, h->seen_a, h->seen_b, s->rows, s->cols, ks_centred(s->trials->center)};
    ks_arena arena = {0};
    double *room = ks_arena_alloc(&arena, 4 * count, sizeof *room), terms[2];
    if (!room) return ks_nomem(err, "pairs", arena.failed);
    const ks_pairs_out to = {room, room + count, room + 2 * count, room + 3 * count, terms};
    kspec_status st = ks_pairs_make(run, &in, &to, err);
    for (int n = 0; n < p->nmax && !st; n++) {
        const double *from = n ? to.moment : to.trace;
        out->m[n] = from[0];
        if (s->terms) s->terms[n] = fmax(s->terms[n], terms[n]);
        if (s->cycles) s->cycles[n] += n ? to.cycles[0] : seen_part(h, p->P * p->Q);
        if (!out->rows) continue;
        memcpy(out->rows + (size_t)n * G, from + 1, G * sizeof *from);
        memcpy(out->cols + (size_t)n * H, from + 1 + G, H * sizeof *from);
    }
    ks_arena_free(&arena);
    return st;
}

static kspec_status run_path(const ks_run *run, const ks_source *s, const changed *c, const ks_pair *p,
                             int transposed, const ks_moments_out *out, kspec_error *err) {
    if (!s->rows->of && !s->cols->of) return ks_path(run, p, out, err);
    const ks_blocks rows = {s->rows->count, c->rows.first}, cols = {s->cols->count, c->cols.first};
    return ks_path_groups(run, p, transposed ? cols : rows, transposed ? rows : cols, out, err);
}

/*
 * Bounds the sum of |terms| for centred data, in units of m(1). The rounding error of an entry is
 * proportional to the largest entry of its column (row). For two trials x and z, the terms x z may be much
 * smaller. So the bound is the sum over columns (rows) of max |x| sum |z| + max |z| sum |x|.
 */
static double centred_terms(const ks_trials *t, const ks_pair *p) {
    double sum = 0;
    for (int side = 0; side < 2; side++) {
        const size_t lines = side ? p->P : p->Q, length = side ? p->Q : p->P, line = side ? p->Q : 1,
                     step = side ? 1 : p->Q;
        if (!(side ? ks_cols_centred(t->center) : ks_rows_centred(t->center))) continue;
        for (size_t k = 0; k < lines; k++) {
            double most[2] = {0, 0}, sums[2] = {0, 0};
            for (size_t i = 0; i < length; i++) {
                const double x = fabs(p->A[k * line + i * step]), z = fabs(p->B[k * line + i * step]);
                most[0] = fmax(most[0], x), most[1] = fmax(most[1], z);
                sums[0] += x, sums[1] += z;
            }
            sum += (most[0] * sums[1] + most[1] * sums[0]) / ((double)(length - 1) * (double)lines);
        }
    }
    return sum / 2;
}

/*
 * Runs the exact estimator on one pair. If entries are missing, s->terms contains the sums of |terms| of the
 * values, followed by the sums of |terms| of the zero-one mask.
 */
static kspec_status run_exact(const ks_run *run, const ks_source *s, const ks_pair *p,
                              const ks_moments_out *out, kspec_error *err) {
    double terms[KS_EXACT_NMAX], *to = s->terms;
    ks_exact_plan *e = &s->tasks->exact;
    ks_apart a = {0};
    ks_moved host = {.p = *p};
    const int on_device = ks_device_has(run->device, p->A); /* only a search for an outlier needs the host */
    kspec_status st = on_device && s->apart ? ks_to_host(run, p, &host, err) : KSPEC_OK;
    if (!st && (s->apart || (s->stands_out && !on_device))) st = ks_apart_find(run, e, &host.p, &a, err);
    if (s->stands_out && (a.rows || on_device)) *s->stands_out = 1;
    if (!st)
        st = a.rows && s->apart ? ks_apart_terms(run, e, &host.p, &a, out, terms, err)
                                : ks_exact_terms(run, e, p, out, terms, err);
    ks_moved_end(run, &host);
    if (to && s->cycles && p->A == s->halves.seen_a) to += p->nmax;
    for (int n = 0; n < p->nmax && to && !st; n++) to[n] = fmax(to[n], terms[n]);
    if (to && !st && ks_centred(s->trials->center) && p->A != p->B && !ks_device_has(run->device, p->A))
        to[0] = fmax(to[0], centred_terms(s->trials, p));
    return st;
}

/* If the method runs on the transpose, the function exchanges rows and columns in the result. */
static kspec_status run_method(const ks_run *run, const ks_source *s, kspec_estimator method,
                               const changed *c, const ks_pair *p, const ks_moments_out *out,
                               kspec_error *err) {
    if (method == KSPEC_ESTIMATOR_NAIVE) return ks_naive(run, p, out, err);
    if (method == KSPEC_ESTIMATOR_EXACT && s->tasks->pairs) return run_pairs(run, s, p, out, err);
    if (method == KSPEC_ESTIMATOR_EXACT) return run_exact(run, s, p, out, err);
    if (method == KSPEC_ESTIMATOR_KV_ROW) return ks_kv_row(run, p, out, err);
    if (method == KSPEC_ESTIMATOR_PATH && !s->tasks->transposed) return run_path(run, s, c, p, 0, out, err);
    ks_moved t;
    ks_moments_out turned = {out->m, out->cols, out->rows};
    kspec_status st = ks_turn(run, p, &t, err);
    if (!st)
        st = method == KSPEC_ESTIMATOR_PATH ? run_path(run, s, c, &t.p, 1, &turned, err)
                                            : ks_kv_row(run, &t.p, &turned, err);
    ks_moved_end(run, &t);
    return st;
}

/* Does exchanging the two trials leave the estimate unchanged? */
static int symmetric(kspec_estimator method) {
    return method == KSPEC_ESTIMATOR_NAIVE || method == KSPEC_ESTIMATOR_EXACT;
}

/* ---- averages ---- */

/* Allocates the results of one method for one pair of matrices. */
static kspec_status outs_alloc(ks_moments_out *out, const ks_source *s, size_t n, int with_loo,
                               ks_arena *arena) {
    *out = (ks_moments_out){ks_arena_zalloc(arena, n, sizeof(double)), NULL, NULL};
    if (with_loo) {
        out->rows = ks_arena_zalloc(arena, ks_size(n, s->rows->count), sizeof(double));
        out->cols = ks_arena_zalloc(arena, ks_size(n, s->cols->count), sizeof(double));
    }
    return arena->failed ? KSPEC_E_NOMEM : KSPEC_OK;
}

/* Adds weight * one to sum. Puts leave-one-out estimates back into the order of the caller's groups. */
static void accumulate(const ks_source *s, const changed *c, size_t nmax, double weight,
                       const ks_moments_out *one, const ks_moments_out *sum) {
    const size_t G = s->rows->count, H = s->cols->count;
    for (size_t n = 0; n < nmax; n++) {
        sum->m[n] += weight * one->m[n];
        for (size_t i = 0; i < G && sum->rows; i++)
            sum->rows[n * G + (c->a ? c->rows.group[i] : i)] += weight * one->rows[n * G + i];
        for (size_t a = 0; a < H && sum->rows; a++)
            sum->cols[n * H + (c->a ? c->cols.group[a] : a)] += weight * one->cols[n * H + a];
    }
}

static void clear(const ks_moments_out *sum, size_t n, size_t G, size_t H) {
    memset(sum->m, 0, n * sizeof *sum->m);
    if (sum->rows) memset(sum->rows, 0, n * G * sizeof *sum->rows);
    if (sum->cols) memset(sum->cols, 0, n * H * sizeof *sum->cols);
}

/*
 * With missing entries, m(n) is the sum over complete cycles divided by their number. The exact estimator
 * computes the number as a difference, so a number below this fraction of all cycles is rounding error.
 */
static const double LEAST_CYCLES = 1e-12;
static void divide(double *x, const double *by, size_t count) {
    for (size_t k = 0; k < count; k++) x[k] = by[k] > LEAST_CYCLES ? x[k] / by[k] : NAN;
}

static void divide_all(const ks_source *s, size_t n, const ks_moments_out *sum,
                       const ks_moments_out *counts) {
    memcpy(s->cycles, counts->m, n * sizeof *s->cycles);
    divide(sum->m, counts->m, n);
    for (size_t k = 0; k < n && s->terms; k++)
        s->terms[k] = (s->terms[k] + fabs(sum->m[k]) * s->terms[n + k]) / counts->m[k];
    if (sum->rows) divide(sum->rows, counts->rows, n * s->rows->count);
    if (sum->cols) divide(sum->cols, counts->cols, n * s->cols->count);
}

kspec_status ks_average(const ks_run *run, ks_source *s, const ks_task *task, int square,
                        const ks_moments_out *sum, kspec_error *err) {
    const ks_trials *t = s->trials;
    size_t P = t->P, Q = t->Q, n = (size_t)task->last;
    size_t splits = ks_trials_splits(t, s->o->splits);
    size_t sides = t->split && !symmetric(task->method) ? 2 : 1,
           orders = task->permutations ? (size_t)task->permutations : 1;
    size_t total = splits * sides * orders, done = 0;
    int holes = s->cycles && !s->tasks->pairs, with_loo = sum->rows != NULL;

    ks_arena arena = {0};
    changed c;
    ks_moments_out one, counts = {0};
    kspec_status st = changed_alloc(&c, s, task, square, &arena, err);
    if (!st &&
        (outs_alloc(&one, s, n, with_loo, &arena) || (holes && outs_alloc(&counts, s, n, with_loo, &arena))))
        st = ks_nomem(err, "leave-one-out estimates", arena.failed);
    if (!st) clear(sum, n, s->rows->count, s->cols->count);
    for (size_t k = 0; k < n && s->cycles; k++) s->cycles[k] = 0;
    for (size_t r = 0; r < splits && !st; r++) {
        ks_pair p = {.nmax = task->last};
        ks_trials_split(t, s->o->seed, r, &s->halves, &p);
        const ks_pair seen = {s->halves.seen_a, s->halves.seen_b, P, Q, p.nmax};
        for (size_t k = 0; k < sides * orders && !st; k++) {
            double from = (double)done / (double)total, to = (double)++done / (double)total;
            set_order(&c, s, task->permutations, r * orders + k / sides);
            for (int what = 0; what <= holes && !st; what++) {
                const ks_pair *x = what ? &seen : &p;
                ks_pair q = k % sides ? (ks_pair){x->B, x->A, P, Q, p.nmax} : *x;
                change(&c, &q, square);
                ks_run part =
                    ks_run_part(run, what ? (from + to) / 2 : from, what || !holes ? to : (from + to) / 2);
                st = run_method(&part, s, task->method, &c, &q, &one, err);
                if (!st) accumulate(s, &c, n, 1 / (double)total, &one, what ? &counts : sum);
            }
        }
    }
    if (!st && holes) divide_all(s, n, sum, &counts);
    for (size_t k = 0; k < n && s->cycles && !holes; k++) s->cycles[k] /= (double)total;
    ks_arena_free(&arena);
    return st;
}

/* Draws a random trial that differs from not1 and not2 (-1: no constraint). u is uniform on (0, 1). */
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
