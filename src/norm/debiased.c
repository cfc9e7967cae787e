/* Estimates |K| from unbiased moments of random features. */
#include "norm/debiased.h"

#include "base/error.h"
#include "base/streams.h"
#include "base/memory.h"
#include "device/device.h"
#include "linalg/eigen.h"
#include "linalg/linalg.h"
#include "exact/exact.h"
#include "path/kv.h"
#include "team/team.h"

#include <math.h>
#include <string.h>

size_t ks_debiased_features = 4096;

enum { PERMUTATIONS = 8, EXACT_PAIRS = 3 };

/*
 * These limit the work in multiply-adds: of all exact orders, and of higher orders, which then use fewer
 * random orders of the features.
 */
static const double EXACT_WORK = 4e11, KV_WORK = 4e10;

/* ---- reading ---- */

/*
 * Returns a standard error by the jackknife: sqrt((q-1)/q sum (t_a - mean)^2), where t_a is a function of
 * the values without feature a.
 */
typedef struct {
    double sum, square;
} spread;

static void add(spread *s, double t) {
    s->sum += t;
    s->square += t * t;
}

static double standard_error(const spread *s, double q) {
    return sqrt(fmax(0, (s->square - s->sum * s->sum / q) * (q - 1) / q));
}

ks_debiased ks_debiased_read(const double *m, const double *loo, int orders, size_t q, size_t n) {
    const double z = 1.959963984540054, N = (double)n; /* the 97.5% quantile of the normal distribution */
    ks_debiased d = {N, 1, N, 0};
    for (int k = 2; k <= orders && (size_t)k < q; k++) {
        double M = m[k - 1], below = m[k - 2];
        const double *L = loo + (size_t)(k - 1) * q, *Lb = L - q;
        /* the standard errors of m(k)/M, of log m(k)^(1/k) and of log m(k)/m(k-1) */
        spread plain = {0}, root = {0}, ratio = {0};
        int positive = M > 0 && below > 0;
        for (size_t a = 0; a < q && positive; a++) {
            if (!(L[a] > 0 && Lb[a] > 0)) {
                positive = 0;
                break;
            }
            add(&plain, L[a] / M - 1);
            add(&root, log(L[a] / M) / k);
            add(&ratio, log(L[a] / M) - log(Lb[a] / below));
        }
        if (!positive || standard_error(&plain, (double)q) >= 0.5) break;
        double value = N * pow(M, 1.0 / k);
        d.value = fmin(N, fmax(1, value));
        d.high = fmin(N, fmax(1, value * exp(z * standard_error(&root, (double)q))));
        d.low = fmax(1, fmin(d.value, N * (M / below) * exp(-z * standard_error(&ratio, (double)q))));
        d.order = k;
    }
    return d;
}

/* ---- moments ---- */

/*
 * Computes a matrix A (q x q) with A^T A / q = G. With complete rows, the estimators depend only on this
 * product.
 */
static kspec_status factor(double *G, size_t q, double *A, double *w, kspec_error *err) {
    kspec_status st = ks_syevd(1, q, G, q, w, err);
    for (size_t k = 0; k < q && !st; k++)
        for (size_t a = 0; a < q; a++) A[k * q + a] = sqrt(fmax(0, w[k]) * (double)q) * G[k * q + a];
    return st;
}

/*
 * Pairs of columns. Rotating the two columns of a pair changes no sum over pairs. The rotation that makes
 * their product zero prevents a cycle from stepping from one to the other. So the sums over distinct columns
 * equal the sums over distinct pairs whenever any two columns of a cycle are neighbours, that is for n <= 3,
 * and for Kong and Valiant's estimator at every n. Two things differ: the number of cycles, and the part of a
 * pair in G = Phi^T Phi / n, which is half.
 */
static void turn_pairs(double *G, size_t q) {
    for (size_t a = 0; a < q; a += 2) {
        const double *g = G + a * q + a;
        const double t = atan2(2 * g[1], g[0] - g[q + 1]) / 2, c = cos(t), s = sin(t);
        for (size_t k = 0; k < q; k++) {
            const double x = G[k * q + a], y = G[k * q + a + 1];
            G[k * q + a] = c * x + s * y, G[k * q + a + 1] = c * y - s * x;
        }
        for (size_t k = 0; k < q; k++) {
            const double x = G[a * q + k], y = G[(a + 1) * q + k];
            G[a * q + k] = c * x + s * y, G[(a + 1) * q + k] = c * y - s * x;
        }
    }
}

/* Converts moments of orders from..to, with and without a column, from columns to pairs, in place. */
static void read_pairs(double *m, double *loo, int from, int to, size_t q) {
    const double Q = (double)q, pairs = Q / 2;
    double more = 1; /* (q)_n / ((q/2)_n 2^n) */
    for (int n = 1; n <= to; n++) {
        more *= (Q - n + 1) / (Q - 2 * n + 2);
        if (n < from) continue;
        const double *L = loo + (size_t)(n - 1) * q, f = m[n - 1], all = m[n - 1] = more * f;
        double *without = loo + (size_t)(n - 1) * (q / 2);
        /* f minus the value without a column is the sum through that column. */
        for (size_t k = 0; k < q / 2; k++) {
            const double through = 2 * f - (L[2 * k] + L[2 * k + 1]) * (Q - n) / Q;
            without[k] = (all - more * through) * pairs / (pairs - n);
        }
    }
}

/* Returns the highest order up to *order that the exact estimator can compute for these features. */
static kspec_status exact_order(const ks_run *run, ks_exact_plan *plan, int *order, kspec_error *err) {
    size_t available = run->device ? ks_device_available(run->device) : ks_team_memory(run);
    kspec_status decided = ks_team_decide(run->team, &available, sizeof available, err);
    if (decided) return decided;
    for (; *order > 1; --*order) {
        double work;
        size_t bytes;
        kspec_status st = ks_exact_cost(plan, *order, 1, &work, &bytes, err);
        if (st) return st;
        if (work <= EXACT_WORK && bytes <= available) break;
    }
    return KSPEC_OK;
}

/* Draws a random order of the q columns, in which `group` consecutive columns stay together. */
static void random_order(uint64_t seed, uint64_t stream, size_t q, size_t group, size_t *order) {
    ks_random_permutation(seed, stream, q / group, order);
    for (size_t k = q / group; k-- > 0;)
        for (size_t l = group; l-- > 0;) order[k * group + l] = order[k] * group + l;
}

/*
 * Runs Kong-Valiant in several random orders of the features, for all moments up to `orders`. The features
 * are the rows of A^T. m and loo already hold the exact sums, so this function writes only orders above
 * `done`.
 */
static kspec_status increasing(const ks_run *run, const double *A, size_t q, size_t group, int done,
                               int orders, uint64_t seed, uint64_t draw, double *m, double *loo,
                               kspec_error *err) {
    double N = (double)q, wanted = KV_WORK / (4 * N * N * N * orders);
    int R = wanted < 1 ? 1 : wanted > PERMUTATIONS ? PERMUTATIONS : (int)wanted;
    size_t rows = (size_t)orders;
    ks_arena arena = {0};
    size_t *order = ks_arena_alloc(&arena, q, sizeof *order);
    double *At = ks_arena_alloc(&arena, ks_size(q, q), sizeof *At),
           *f = ks_arena_alloc(&arena, rows, sizeof *f);
    ks_moments_out out = {f, ks_arena_alloc(&arena, ks_size(rows, q), sizeof(double)),
                          ks_arena_alloc(&arena, ks_size(rows, q), sizeof(double))};
    kspec_status st = arena.failed ? ks_nomem(err, "moments of the features", arena.failed) : KSPEC_OK;
    for (size_t k = (size_t)done; k < rows && !st; k++) {
        m[k] = 0;
        memset(loo + k * q, 0, q * sizeof *loo);
    }
    for (int r = 0; r < R && !st; r++) {
        random_order(seed, ks_stream(KS_STREAM_FEATURE_ORDER, draw * PERMUTATIONS + (uint64_t)r), q, group,
                     order);
        for (size_t a = 0; a < q; a++)
            for (size_t k = 0; k < q; k++) At[a * q + k] = A[k * q + order[a]];
        ks_pair p = {At, At, q, q, orders};
        ks_run part = ks_run_part(run, (double)r / R, (r + 1.0) / R);
        if ((st = ks_kv_row(&part, &p, &out, err))) break;
        for (size_t k = (size_t)done; k < rows; k++) {
            m[k] += f[k] / R;
            for (size_t a = 0; a < q; a++) loo[k * q + order[a]] += out.rows[k * q + a] / R;
        }
    }
    ks_arena_free(&arena);
    return st;
}

kspec_status ks_debias(const ks_run *run, double *G, size_t q, int paired, size_t n, int orders,
                       uint64_t seed, uint64_t draw, ks_debiased *out, kspec_error *err) {
    const size_t group = paired ? 2 : 1, drawn = q / group;
    *out = (ks_debiased){(double)n, 1, (double)n, 0};
    if (orders > KS_DEBIASED_ORDERS) orders = KS_DEBIASED_ORDERS;
    /* Without one column, enough columns must remain. */
    if ((size_t)orders >= drawn) orders = (int)drawn - 1;
    if (orders < 2) return KSPEC_OK;
    if (paired) turn_pairs(G, q);
    ks_arena arena = {0};
    size_t N = (size_t)orders;
    double *A = ks_arena_alloc(&arena, ks_size(q, q), sizeof *A), *w = ks_arena_alloc(&arena, q, sizeof *w);
    double *m = ks_arena_alloc(&arena, N, sizeof *m),
           *loo = ks_arena_alloc(&arena, ks_size(N, q), sizeof *loo);
    double *rows = ks_arena_alloc(&arena, ks_size(N, q), sizeof *rows);
    kspec_status st =
        arena.failed ? ks_nomem(err, "moments of the features", arena.failed) : factor(G, q, A, w, err);
    int exact = paired ? EXACT_PAIRS : KS_DEBIASED_EXACT;
    if (exact > orders) exact = orders;
    ks_exact_plan plan = {.P = q, .Q = q, .sampled = KSPEC_SAMPLED_COLS};
    if (!st) st = exact_order(run, &plan, &exact, err);
    if (!st) {
        ks_run part = ks_run_part(run, 0, 0.3);
        ks_pair p = {A, A, q, q, exact};
        st = ks_exact(&part, &plan, &p, &(ks_moments_out){m, rows, loo}, err);
    }
    ks_exact_plan_free(&plan);
    if (!st && paired) read_pairs(m, loo, 1, exact, q);
    if (!st) *out = ks_debiased_read(m, loo, exact, drawn, n);
    /* If the exact orders ended below their limit, higher orders are not more precise. */
    if (!st && exact < orders && out->order == exact) {
        ks_run part = ks_run_part(run, 0.3, 1);
        st = increasing(&part, A, q, group, exact, orders, seed, draw, m, loo, err);
        if (!st && paired) read_pairs(m, loo, exact + 1, orders, q);
        if (!st) *out = ks_debiased_read(m, loo, orders, drawn, n);
    }
    ks_arena_free(&arena);
    return st;
}
