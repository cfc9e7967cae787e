/* Computes the resolvent Q and the traces that Newton's method and the errors need. */
#include "ridge/resolvent.h"

#include "base/error.h"
#include "linalg/cholesky.h"
#include "linalg/linalg.h"
#include "ridge/device.h"
#include "team/team.h"

#include <float.h>
#include <math.h>

typedef struct {
    const kspec_ridge *r;
    const double *k;
    double ridge, *A;
    size_t tile;
} combine_job;

static kspec_status combine_rows(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const combine_job *j = ctx;
    size_t n = j->r->n, last = (chunk + 1) * j->tile < n ? (chunk + 1) * j->tile : n;
    for (size_t i = chunk * j->tile; i < last; i++) {
        const double *c = j->r->K[COS] + i * n, *s = j->r->K[SIN] + i * n;
        double *A = j->A + i * n;
        for (size_t k = 0; k <= i; k++) A[k] = j->k[COS] * c[k] + j->k[SIN] * s[k];
        A[i] += j->ridge;
    }
    return KSPEC_OK;
}

kspec_status ks_ridge_combine(const kspec_ridge *r, const ks_run *run, const double k[2], double ridge,
                              double *A, kspec_error *err) {
    combine_job j = {r, k, ridge, A, ks_tile(r->n)};
    return ks_parallel_for(run, (r->n + j.tile - 1) / j.tile, combine_rows, &j, err);
}

/* Holds partial sums over blocks of rows and over pairs of tiles, in a fixed order. */
typedef struct {
    const kspec_ridge *r;
    size_t tile, tiles, pairs;
    int second;
    double (*sums)[SUMS];
} trace_job;

enum { WIDTH = 512 };

static size_t pieces(const trace_job *t) { return (t->r->n + WIDTH - 1) / WIDTH; }

static size_t rows_of(const trace_job *t, size_t tile) {
    const size_t left = t->r->n - tile * t->tile;
    return left < t->tile ? left : t->tile;
}

/* Computes some columns of a block of rows of M = Q K_cos into r->work. */
static void multiply(const trace_job *t, size_t tile, size_t piece) {
    const kspec_ridge *r = t->r;
    const size_t n = r->n, i = tile * t->tile, k = piece * WIDTH, cols = n - k < WIDTH ? n - k : WIDTH;
    ks_gemm(0, 0, rows_of(t, tile), cols, n, 1, r->Q + i * n, n, r->K[COS] + k, n, 0, r->work + i * n + k, n);
}

/* Sums a block of rows of <Q,K_cos>, <Q,K_sin>, <Q,Q>, and of tr(MQ) = <M,Q>. */
static void sum_rows(const trace_job *t, size_t tile) {
    const kspec_ridge *r = t->r;
    const size_t n = r->n, i = tile * t->tile, count = rows_of(t, tile) * n;
    const double *Q = r->Q + i * n;
    double *sum = t->sums[tile];
    sum[QC] = ks_dot(count, Q, r->K[COS] + i * n);
    sum[QS] = ks_dot(count, Q, r->K[SIN] + i * n);
    sum[QQ] = ks_dot(count, Q, Q);
    if (t->second) sum[MQ] = ks_dot(count, r->work + i * n, Q);
}

/*
 * Sums the share of tiles (i,j) and (j,i), i >= j, in tr(MM). It uses small blocks, which fit the cache
 * when transposed.
 */
static void sum_pair(const trace_job *t, size_t pair) {
    enum { SMALL = 32 };
    size_t n = t->r->n, bi, bj;
    ks_lower(pair, &bi, &bj);
    size_t i0 = bi * t->tile, i1 = i0 + rows_of(t, bi), j0 = bj * t->tile, j1 = j0 + rows_of(t, bj);
    const double *M = t->r->work;
    double sum = 0;
    for (size_t i = i0; i < i1; i += SMALL)
        for (size_t j = j0; j < j1; j += SMALL)
            for (size_t a = i; a < i1 && a < i + SMALL; a++) {
                double part = 0;
                for (size_t b = j; b < j1 && b < j + SMALL; b++) part += M[a * n + b] * M[b * n + a];
                sum += part;
            }
    t->sums[pair][MM] = bi == bj ? sum : 2 * sum;
}

/* Counts the chunks of the sums with M. Step 0 computes M in pieces, and step 1 computes the sums. */
static size_t trace_chunks(void *ctx, size_t step) {
    const trace_job *t = ctx;
    return step ? t->tiles + t->pairs : t->tiles * pieces(t);
}

static kspec_status trace_step(void *ctx, size_t step, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const trace_job *t = ctx;
    if (!step)
        multiply(t, chunk / pieces(t), chunk % pieces(t));
    else if (chunk < t->tiles)
        sum_rows(t, chunk);
    else
        sum_pair(t, chunk - t->tiles);
    return KSPEC_OK;
}

/*
 * Computes the sums over blocks of rows. This version serves calls without M, or in a team. Ranks divide
 * the blocks, and then exchange their rows of M for the remaining sums.
 */
static kspec_status trace_rows(void *ctx, size_t tile, const ks_worker *worker) {
    (void)worker;
    const trace_job *t = ctx;
    for (size_t k = 0; k < pieces(t) && t->second; k++) multiply(t, tile, k);
    sum_rows(t, tile);
    return KSPEC_OK;
}

static kspec_status trace_pair(void *ctx, size_t pair, const ks_worker *worker) {
    (void)worker;
    sum_pair(ctx, pair);
    return KSPEC_OK;
}

static kspec_status sum_by_rows(const ks_run *run, trace_job *t, kspec_error *err) {
    const kspec_ridge *r = t->r;
    const ks_share shares[] = {{t->sums, sizeof *t->sums, t->tiles, 1},
                               {r->work, r->n * sizeof *r->work, r->n, t->tile}};
    kspec_status st = ks_team_for(run, "traces", t->tiles, trace_rows, t, shares, t->second ? 2 : 1, err);
    return st || !t->second ? st : ks_parallel_for(run, t->pairs, trace_pair, t, err);
}

static kspec_status sum_tiles(const kspec_ridge *r, const ks_run *run, int second, double total[SUMS],
                              kspec_error *err) {
    trace_job t = {.r = r, .tile = ks_tile(r->n), .second = second};
    t.tiles = (r->n + t.tile - 1) / t.tile, t.pairs = t.tiles * (t.tiles + 1) / 2;
    t.sums = ks_zalloc(t.pairs, sizeof *t.sums);
    if (!t.sums) return ks_nomem(err, "traces", ks_size(t.pairs, sizeof *t.sums));
    const ks_steps steps = {2, t.tiles + t.pairs, trace_chunks, trace_step};
    kspec_status st =
        run->team || !second ? sum_by_rows(run, &t, err) : ks_parallel_steps(run, &steps, &t, err);
    for (size_t c = 0; c < t.pairs && !st; c++)
        for (int s = 0; s < SUMS; s++) total[s] += t.sums[c][s];
    ks_free(t.sums);
    for (size_t i = 0; i < r->n; i++) total[TQ] += r->Q[i * r->n + i];
    return st;
}

/*
 * Bounds a trace whose digits are lost in rounding. In P_a = k_a L^-1 K_a L^-T and P_0 = ridge L^-1 L^-T,
 * with L the Cholesky factor, P_cos + P_sin + P_0 = I. So of the traces p_ab = tr(P_a P_b)/n, the ones
 * with P_sin follow from the others: p_cc + p_cs + p_c0 = tr(P_cos)/n, and so on. All traces lie between 0
 * and 1, and the cancelling terms are small compared with the 1 on the diagonal of I - D. The traces with
 * P_sin are also at most tr(P_sin)/n. Rounding errors must not exceed that bound for rows near zero, whose
 * sines almost vanish.
 */
static double within(double x, double most) { return fmax(0, fmin(x, most)); }

static void second_order(const ks_ridge_system *sys, double n, const double x[2], const double k[2],
                         const double sum[SUMS], ks_ridge_traces *t) {
    double cc = k[COS] * k[COS] * sum[MM] / n, c0 = k[COS] * sys->ridge * sum[MQ] / n;
    double q0 = sys->ridge * sum[TQ] / n, oo = sys->ridge * sys->ridge * sum[QQ] / n;
    double sine = k[SIN] * t->G[SIN], cs = within(k[COS] * t->G[COS] - cc - c0, sine);
    double s0 = within(q0 - oo - c0, sine), ss = within(sine - cs - s0, sine);
    double ratio = (sys->shift + x[COS]) / (sys->shift + x[SIN]), c = n / sys->N;
    t->D[COS][COS] = c * cc;
    t->D[COS][SIN] = c * cs * ratio;
    t->D[SIN][COS] = c * cs / ratio;
    t->D[SIN][SIN] = c * ss;
    if (sys->ridge > 0) t->t0[COS] = sum[MQ] / n, t->t0[SIN] = s0 / (k[SIN] * sys->ridge);
}

/* Computes the inverse on the CPU; ks_ridge_device_invert() computes it on a GPU. */
static kspec_status invert(kspec_ridge *r, const ks_run *run, const double k[2], double ridge, double *top,
                           size_t *bad, kspec_error *err) {
    const size_t n = r->n;
    kspec_status st = ks_ridge_combine(r, run, k, ridge, r->Q, err);
    if (st) return st;
    *top = 0;
    for (size_t i = 0; i < n; i++) *top = fmax(*top, r->Q[i * n + i]);
    if ((st = ks_potrf_tiled(run, n, r->Q, bad, err))) return st;
    for (size_t i = 0; i < n && !*bad && ridge == 0; i++)
        if (!(r->Q[i * n + i] * r->Q[i * n + i] > (double)n * DBL_EPSILON * *top)) *bad = i + 1;
    return *bad ? KSPEC_OK : ks_potri_tiled(run, n, r->Q, r->work, err);
}

kspec_status ks_ridge_resolvent(kspec_ridge *r, const ks_run *run, const ks_ridge_system *sys,
                                const double x[2], int second, ks_ridge_traces *t, kspec_error *err) {
    size_t n = r->n, bad;
    double k[2] = {sys->N / (double)n / (sys->shift + x[COS]), sys->N / (double)n / (sys->shift + x[SIN])};
    double top, sum[SUMS] = {0};
    kspec_status st = r->on_device ? ks_ridge_device_invert(r, run, k, sys->ridge, &top, &bad, err)
                                   : invert(r, run, k, sys->ridge, &top, &bad, err);
    if (st) return st;
    if (bad && sys->ridge == 0)
        return ks_fail(
            err, KSPEC_E_NUMERIC,
            "lambda 0 with 2N > n needs a positive definite kernel matrix, but row %zu (from 0) repeats or "
            "nearly depends on those before it; use lambda > 0",
            bad - 1);
    if (bad)
        return ks_fail(err, KSPEC_E_NUMERIC,
                       "lambda %g is lost in rounding next to the kernel: row %zu (from 0)", sys->ridge,
                       bad - 1);
    st = r->on_device ? ks_ridge_device_sums(r, run, second, sum, err) : sum_tiles(r, run, second, sum, err);
    if (st) return st;
    *t = (ks_ridge_traces){.G = {sum[QC] / (double)n, sum[QS] / (double)n}};
    if (!isfinite(t->G[COS] + t->G[SIN]))
        return ks_fail(err, KSPEC_E_NUMERIC, "lambda %g: the resolvent exceeds the largest double",
                       sys->ridge);
    if (second) second_order(sys, (double)n, x, k, sum, t);
    /*
     * The rounding error is dG_a = -tr(K_a Q dA Q)/n, where dA is of the order of top * epsilon. Without
     * t0, tr(Q^2)/tr(Q) replaces Q.
     */
    for (int a = COS; a <= SIN; a++)
        t->noise[a] = DBL_EPSILON * top * (t->t0[a] > 0 ? t->t0[a] : t->G[a] * sum[QQ] / sum[TQ]);
    return KSPEC_OK;
}
