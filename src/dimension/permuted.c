/*
 * Tests an alignment against all orders of the rows, by the first three moments of its distribution over the
 * orders.
 */
#include "dimension/permuted.h"

#include "base/error.h"
#include "base/gamma.h"
#include "base/streams.h"
#include "device/backend.h"
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

enum { MOST_ROWS = 1000 };

/* ---- matrix ---- */

/*
 * Replaces K_ij by K_ij - u_i - v_j + c off the diagonal, and by 0 on the diagonal. All rows and all columns
 * then sum to 0. Let R be the row sums, C the column sums and S the total. Then u = ((n-1) R + C) / (n
 * (n-2)), v = ((n-1) C + R) / (n (n-2)), and c = S / ((n-1) (n-2)). For a symmetric K this is Szekely and
 * Rizzo's centring.
 */
static void centre(double *K, size_t n, double *u, double *v) {
    const double N = (double)n;
    double S = 0;
    memset(u, 0, n * sizeof *u);
    memset(v, 0, n * sizeof *v);
    for (size_t i = 0; i < n; i++) {
        K[i * n + i] = 0;
        for (size_t j = 0; j < n; j++) u[i] += K[i * n + j], v[j] += K[i * n + j];
        S += u[i];
    }
    for (size_t i = 0; i < n; i++) {
        const double R = u[i], C = v[i];
        u[i] = ((N - 1) * R + C) / (N * (N - 2));
        v[i] = ((N - 1) * C + R) / (N * (N - 2));
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            if (i != j) K[i * n + j] += S / ((N - 1) * (N - 2)) - u[i] - v[j];
}

/* Computes the sums of ks_shape from K and W = K K. */
static void add_up(const double *K, const double *W, ks_shape *s) {
    const size_t n = s->n;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            const double x = K[i * n + j], y = K[j * n + i], w = W[i * n + j];
            s->square += x * x, s->turned += x * y;
            s->cube += x * x * x, s->mixed += x * x * y;
            s->cycle += w * y, s->transitive += w * x;
        }
}

/* Returns the rows of X (P x Q) in this order, or X itself. */
static const double *rows_of(const double *X, size_t P, size_t Q, const size_t *order, size_t n,
                             ks_arena *arena) {
    if (n == P) return X;
    double *x = ks_arena_alloc(arena, ks_size(n, Q), sizeof *x);
    for (size_t i = 0; i < n && x; i++) memcpy(x + i * Q, X + order[i] * Q, Q * sizeof *x);
    return x;
}

/* Sets out to the product of these rows of A with these rows of B, all in host memory. */
static kspec_status product_here(const ks_run *run, const double *A, const double *B, size_t P, size_t Q,
                                 const size_t *order, size_t n, double *out, ks_arena *arena,
                                 kspec_error *err) {
    const double *a = rows_of(A, P, Q, order, n, arena), *b = A == B ? a : rows_of(B, P, Q, order, n, arena);
    if (!a || !b) return ks_nomem(err, "the null distribution", arena->failed);
    return ks_gemm_tiled(run, 0, 1, n, n, Q, 1, a, Q, b, Q, 0, out, n, err);
}

/* Computes the product for one matrix on the run's device, and copies it to `out` in host memory. */
static kspec_status product_there(const ks_run *run, const double *A, size_t P, size_t Q, const size_t *order,
                                  size_t n, double *out, kspec_error *err) {
    static const char what[] = "the null distribution";
    const ks_backend *at = ks_backend_of(run);
    const ks_mat *all = ks_mat_of(A);
    ks_mat *rows = NULL, *square = NULL;
    ks_mat_expression copy = {.m = 1, .n = Q, .alpha = 1, .count = 1};
    kspec_status st = at->hold(run, n, n, what, &square, err);
    if (!st && n < P) st = at->hold(run, n, Q, what, &rows, err);
    for (size_t i = 0; i < n && rows && !st; i++) {
        copy.factor[0] = (ks_mat_factor){ks_mat_view(all, order[i] * Q), 0, 1};
        st = at->expression(run, &copy, KS_TILE_STORE, ks_mat_view(rows, i * Q), NULL, err);
    }
    const ks_mat *x = rows ? rows : all;
    const ks_mat_product p = {0, 1, n, n, Q, 1, x, Q, x, Q, 0, square, n, 1};
    if (!st) st = at->product(run, &p, err);
    if (!st) st = at->get(run, out, square, n * n, 1, err);
    at->drop(run, rows);
    at->drop(run, square);
    return st;
}

kspec_status ks_shape_make(const ks_run *run, const double *A, const double *B, size_t P, size_t Q,
                           uint64_t seed, ks_shape *s, kspec_error *err) {
    const size_t n = P < MOST_ROWS ? P : MOST_ROWS;
    ks_arena arena = {0};
    double *K = ks_arena_alloc(&arena, ks_size(n, n), sizeof *K),
           *W = ks_arena_alloc(&arena, ks_size(n, n), sizeof *W);
    size_t *order = ks_arena_alloc(&arena, P, sizeof *order);
    *s = (ks_shape){.n = n};
    if (order) ks_random_permutation(seed, ks_stream(KS_STREAM_PERMUTED, 0), P, order);
    kspec_status st = arena.failed ? ks_nomem(err, "the null distribution", arena.failed) : KSPEC_OK;
    ks_run here = *run;
    here.device = NULL;
    if (!st)
        st = run->device ? product_there(run, A, P, Q, order, n, K, err)
                         : product_here(&here, A, B, P, Q, order, n, K, &arena, err);
    if (!st) centre(K, n, W, W + n);
    if (!st) st = ks_gemm_tiled(&here, 0, 0, n, n, n, 1, K, n, K, n, 0, W, n, err);
    if (!st) add_up(K, W, s);
    ks_arena_free(&arena);
    return st;
}

/* ---- moments ---- */

/*
 * Let E be the expectation of (sum_ij K_ij L_p(i)p(j))^r over all orders p. E is a sum over r edges (i,j). A
 * partition pi groups those of the 2r ends that are the same row. The expectation E is the sum over pi of
 * f_K(pi) f_L(pi) / (n)_|pi|. f(pi) sums the product of r entries, with different rows for different blocks.
 * By Moebius inversion, f(pi) is the sum over sigma >= pi of mu(pi, sigma) F(sigma), where different blocks
 * of F may share a row. F is 0 if a block has one end, because sums of rows are 0. F is also 0 if an edge
 * joins a block with itself, because the diagonal is 0.
 */
enum { ENDS = 6, PARTITIONS = 203 };

typedef struct {
    int of[ENDS], blocks; /* the block of each end */
} partition;

/* Lists all partitions of `ends` ends, and returns how many there are. */
static int list_partitions(int ends, partition *list) {
    partition p = {.blocks = 1};
    int count = 0, at = 0;
    for (;;) {
        list[count++] = p;
        for (at = ends - 1; at > 0; at--) { /* find the next partition */
            int most = 0;
            for (int k = 0; k < at; k++) most = p.of[k] > most ? p.of[k] : most;
            if (p.of[at] <= most) break;
        }
        if (at == 0) return count;
        p.of[at]++;
        for (int k = at + 1; k < ends; k++) p.of[k] = 0;
        p.blocks = 0;
        for (int k = 0; k < ends; k++) p.blocks = p.of[k] >= p.blocks ? p.of[k] + 1 : p.blocks;
    }
}

/* Returns F of a partition. Edge e goes from end 2e to end 2e + 1. */
static double free_sum(const partition *p, int edges, const ks_shape *s) {
    int out[ENDS] = {0}, in[ENDS] = {0}, forward = 0, cyclic = 1;
    for (int e = 0; e < edges; e++) {
        if (p->of[2 * e] == p->of[2 * e + 1]) return 0;
        out[p->of[2 * e]]++, in[p->of[2 * e + 1]]++;
        forward += p->of[2 * e] == p->of[0];
    }
    for (int b = 0; b < p->blocks; b++) {
        if (out[b] + in[b] < 2) return 0;
        cyclic &= out[b] == in[b];
    }
    if (edges == 2) return forward == 2 ? s->square : s->turned;
    if (p->blocks == 2) return forward == 3 ? s->cube : s->mixed;
    return cyclic ? s->cycle : s->transitive;
}

/* Returns mu(fine, coarse), or 0 if `coarse` does not join blocks of `fine`. */
static double moebius(const partition *fine, const partition *coarse, int ends) {
    int joined[ENDS] = {0}, into[ENDS];
    double mu = 1;
    for (int b = 0; b < fine->blocks; b++) into[b] = -1;
    for (int k = 0; k < ends; k++) {
        const int b = fine->of[k], c = coarse->of[k];
        if (into[b] >= 0 && into[b] != c) return 0;
        if (into[b] < 0) mu *= joined[c] ? -joined[c] : 1, joined[c]++;
        into[b] = c;
    }
    return mu;
}

static double moment(const ks_shape *K, const ks_shape *L, int edges) {
    partition list[PARTITIONS];
    double F[PARTITIONS], G[PARTITIONS], sum = 0;
    const int ends = 2 * edges, count = list_partitions(ends, list);
    for (int k = 0; k < count; k++) F[k] = free_sum(&list[k], edges, K), G[k] = free_sum(&list[k], edges, L);
    for (int k = 0; k < count; k++) {
        double f = 0, g = 0, tuples = 1;
        int loop = 0;
        for (int e = 0; e < edges; e++) loop |= list[k].of[2 * e] == list[k].of[2 * e + 1];
        if (loop || (size_t)list[k].blocks > K->n) continue;
        for (int l = 0; l < count; l++) {
            if (F[l] == 0 && G[l] == 0) continue;
            const double mu = moebius(&list[k], &list[l], ends);
            f += mu * F[l], g += mu * G[l];
        }
        for (int b = 0; b < list[k].blocks; b++) tuples *= (double)K->n - b;
        sum += f * g / tuples;
    }
    return sum;
}

void ks_permuted_moments(const ks_shape *K, const ks_shape *L, double *variance, double *skewness) {
    *variance = moment(K, L, 2);
    *skewness = moment(K, L, 3) / (*variance * sqrt(*variance));
}

/* With a zero diagonal and zero sums, sum_ij K_ij L_ij equals n (n-3) times the mean over four rows. */
double ks_permuted_p(const ks_shape *K, const ks_shape *L, size_t P, double cross) {
    const double n = (double)K->n, all = (double)P;
    double variance, skewness;
    ks_permuted_moments(K, L, &variance, &skewness);
    if (!(variance > 0)) return NAN;
    /*
     * Without signal, the mean over n rows has a standard deviation proportional to 1/n. So convert the
     * standard deviation from n to all rows.
     */
    const double sd = sqrt(variance) / (n * (n - 3)) * n / all;
    return ks_skewed_tail(skewness, cross / sd);
}
