/* The `path` estimator: scales the entries and walks through the matrix block by block. */
#include "path/path.h"

#include "base/error.h"
#include "base/memory.h"
#include "device/gpu.h"
#include "team/team.h"

#include <math.h>
#include <string.h>

/*
 * The bytes of a band of rows, which stay in the second-level cache, and the number of chunks for each
 * thread.
 */
enum { BAND_BYTES = 384 * 1024, CHUNKS_PER_THREAD = 16, TEAM_THREADS = 16 };

/* ---- scaling ---- */

/*
 * Computes f 2^e = 1 / (C(P,n) C(Q,n)) as a running product, because logarithms of factorials would lose five
 * digits.
 */
static ks_path_factor over_binomials(size_t P, size_t Q, int n) {
    double f = 1;
    int e = 0, de;
    for (int l = 1; l <= n; l++) {
        f *= (double)l / (double)(P - (size_t)l + 1);
        f *= (double)l / (double)(Q - (size_t)l + 1);
        f = frexp(f, &de);
        e += de;
    }
    return (ks_path_factor){f, e};
}

ks_path_factor ks_path_mean(const ks_path_plan *plan, size_t P, size_t Q, int n) {
    ks_path_factor r = over_binomials(P, Q, n);
    r.e -= 2 * n * plan->log2_scale;
    return r;
}

/*
 * The sum over cycles of order n has C(P,n) C(Q,n) = 2^c(n) terms of size about 1. Scaling the entries by
 * 2^s multiplies this sum by 2^(2 n s). With s = -c(nmax) / (2 nmax), the sum of order nmax is about 1. The
 * sums of lower orders are not smaller, because c is concave, but they might overflow.
 */
static kspec_status choose_scale(ks_path_plan *plan, const ks_wide *counts, kspec_error *err) {
    enum { UP = 480, DOWN = -640 }; /* these limits leave a factor 2^400 for values far from 1 */
    int s = 0;
    for (int tries = 0; tries < 64; tries++) {
        int top = 0, end = 0;
        for (int n = 1; n <= plan->nmax; n++) {
            end = 2 * n * s + (counts ? counts[n].e : -over_binomials(plan->P, plan->Q, n).e);
            if (end > top) top = end;
        }
        if (top <= UP && end >= DOWN) {
            plan->log2_scale = s;
            plan->scale = ldexp(1, s);
            return KSPEC_OK;
        }
        if (top <= UP) break;
        s = tries == 0 ? -(end / (2 * plan->nmax)) : s - 1;
    }
    return ks_fail(err, KSPEC_E_NUMERIC, "order %d with P=%zu, Q=%zu: the sums leave the range of a double",
                   plan->nmax, plan->P, plan->Q);
}

kspec_status ks_path_plan_make(ks_path_plan *plan, size_t P, size_t Q, int nmax, const ks_run *run,
                               kspec_error *err) {
    return ks_path_plan_count(plan, P, Q, nmax, NULL, run, err);
}

kspec_status ks_path_plan_count(ks_path_plan *plan, size_t P, size_t Q, int nmax, const ks_wide *counts,
                                const ks_run *run, kspec_error *err) {
    memset(plan, 0, sizeof *plan);
    kspec_status st = ks_simd_choose(&plan->k, err);
    if (st) return st;
    plan->P = P, plan->Q = Q, plan->nmax = nmax;
    size_t vector = plan->k->lanes * sizeof(double), n = (size_t)nmax;
    plan->lanes = plan->k->lanes;
    plan->blocks = (P + plan->lanes - 1) / plan->lanes;
    size_t tile = KS_PATH_L1 / ((n + 2) * vector); /* the sweep stores two more vectors for each column */
    plan->tile = tile < 8 ? 8 : tile > KS_PATH_COLS ? KS_PATH_COLS : tile;
    /*
     * The chunks of a team must not depend on the number of ranks, because another team may finish the
     * checkpoint.
     */
    const size_t threads = run->team ? TEAM_THREADS : (size_t)run->threads;
    /*
     * With few orders each entry needs little arithmetic. Several blocks then share the entries in the cache.
     */
    size_t together = plan->blocks / (CHUNKS_PER_THREAD * threads), most = n <= 4 ? 4 : n <= 8 ? 2 : 1;
    plan->together = together < 1 ? 1 : together > most ? most : together;
    size_t band = BAND_BYTES / (plan->together * n * vector + plan->tile * 2 * sizeof(double));
    plan->band = band < 32 ? 32 : band;
    return choose_scale(plan, counts, err);
}

/* ---- one block of start rows ---- */

void ks_path_panel(const ks_path_plan *plan, const double *M, size_t h0, double *panel) {
    size_t L = plan->lanes, Q = plan->Q;
    for (size_t l = 0; l < L; l++) {
        const double *row = M + (h0 + l) * Q;
        if (h0 + l < plan->P)
            for (size_t b = 0; b < Q; b++) panel[b * L + l] = plan->scale * row[b];
        else
            for (size_t b = 0; b < Q; b++) panel[b * L + l] = 0;
    }
}

void ks_path_start(const ks_path_plan *plan, const double *panel, size_t l, size_t b0, size_t cols,
                   double *A) {
    size_t L = plan->lanes, next = (size_t)plan->nmax * L;
    for (size_t b = b0; b < b0 + cols; b++) A[b * next + l] = panel[b * L + l];
}

void ks_path_lane_sums(const ks_path_plan *plan, const double *sum, double *sums) {
    for (int n = 0; n < plan->nmax; n++) {
        sums[n] = 0;
        for (size_t l = 0; l < plan->lanes; l++) sums[n] += sum[(size_t)n * plan->lanes + l];
    }
}

/* Scratch of one block; L stands for plan.lanes. */
typedef struct {
    /* A: Q x nmax x L. R: band x (nmax-1) x L. panel: Q x L. sum: nmax x L */
    double *A, *R, *panel, *sum;
    /* for each order, its matrix at the first entry of the cell; nmax pointers each */
    const double **x, **y;
} scratch;

typedef struct {
    ks_path_plan plan;
    /*
     * for each order n: the matrices in the update of A[n], in the update of R[n], and at the close. mixed: 1
     * if orders use different matrices
     */
    const double **x, **y, **close;
    int mixed;
    /* plan.together for each */
    scratch *workers;
    /* blocks x nmax */
    double *sums;
} job;

/* Rows a ... a+rows-1 through columns b0 ... b0+cols-1. */
static void sweep(const job *j, scratch *w, size_t a, size_t rows, size_t b0, size_t cols, double *R) {
    const ks_path_plan *plan = &j->plan;
    if (plan->nmax == 1 || rows == 0) return;
    const size_t at = a * plan->Q + b0, n = (size_t)plan->nmax;
    ks_path_cell cell = {.ld = plan->Q,
                         .rows = rows,
                         .cols = cols,
                         .dir = 1,
                         .nmax = plan->nmax,
                         .scale = plan->scale,
                         .A = w->A + b0 * n * plan->lanes,
                         .R = R,
                         .x = j->x[0] + at,
                         .y = j->y[0] + at};
    if (!j->mixed) {
        plan->k->path_sweep(&cell);
        return;
    }
    for (size_t i = 0; i < n; i++) w->x[i] = j->x[i] + at, w->y[i] = j->y[i] + at;
    plan->k->path_sweep_trials(&cell, w->x, w->y);
}

/*
 * Walks with start rows h0 ... h0+L-1 through rows a0 ... a1-1. Lane l must skip rows up to h0+l, so its A[1]
 * stays zero until row h0+l is done. The code therefore processes the first L-1 rows one by one, and all
 * later rows together.
 */
static void cell(const job *j, scratch *w, size_t h0, size_t a0, size_t a1, size_t b0, size_t cols) {
    const ks_path_plan *plan = &j->plan;
    const size_t L = plan->lanes, carry = (size_t)(plan->nmax - 1) * L;
    size_t a = a0 > h0 ? a0 : h0;
    for (; a < a1 && a < h0 + L; a++) {
        if (a > h0) sweep(j, w, a, 1, b0, cols, w->R + (a - a0) * carry);
        ks_path_start(plan, w->panel, a - h0, b0, cols, w->A);
    }
    if (a < a1) sweep(j, w, a, a1 - a, b0, cols, w->R + (a - a0) * carry);
}

static void close(const job *j, scratch *w, size_t index) {
    const ks_path_plan *plan = &j->plan;
    const size_t L = plan->lanes, n = (size_t)plan->nmax;
    memset(w->sum, 0, n * L * sizeof(double));
    for (size_t i = 0, many; i < n; i += many) { /* orders that close with the same matrix share a pass */
        for (many = 1; i + many < n && j->close[i + many] == j->close[i];) many++;
        if (i > 0 || j->close[0] != j->x[0]) ks_path_panel(plan, j->close[i], index * L, w->panel);
        plan->k->path_close(plan->Q, plan->nmax, (int)many, w->A + i * L, w->panel, w->sum + i * L);
    }
    ks_path_lane_sums(plan, w->sum, j->sums + index * n);
}

static kspec_status chunk(void *ctx, size_t index, const ks_worker *worker) {
    const job *j = ctx;
    const ks_path_plan *plan = &j->plan;
    const size_t P = plan->P, Q = plan->Q, L = plan->lanes, vectors = (size_t)plan->nmax * L;
    const size_t first = index * plan->together;
    const size_t many = plan->blocks - first < plan->together ? plan->blocks - first : plan->together;
    scratch *w = &j->workers[(size_t)worker->index * plan->together];

    for (size_t i = 0; i < many; i++) {
        ks_path_panel(plan, j->x[0], (first + i) * L, w[i].panel);
        memset(w[i].A, 0, Q * vectors * sizeof(double));
    }
    for (size_t a0 = first * L; a0 < P; a0 += plan->band) {
        const size_t a1 = P - a0 < plan->band ? P : a0 + plan->band;
        for (size_t i = 0; i < many; i++) memset(w[i].R, 0, plan->band * vectors * sizeof(double));
        for (size_t b0 = 0; b0 < Q; b0 += plan->tile) {
            const size_t cols = Q - b0 < plan->tile ? Q - b0 : plan->tile;
            for (size_t i = 0; i < many; i++) cell(j, &w[i], (first + i) * L, a0, a1, b0, cols);
        }
    }
    for (size_t i = 0; i < many; i++) close(j, &w[i], first + i);
    return KSPEC_OK;
}

/* ---- all blocks ---- */

/* Computes m from the sums of all blocks. */
static void means(const job *j, double *m) {
    const ks_path_plan *plan = &j->plan;
    for (int i = 0; i < plan->nmax; i++) {
        double sum = 0;
        for (size_t c = 0; c < plan->blocks; c++) sum += j->sums[c * (size_t)plan->nmax + (size_t)i];
        ks_path_factor mean = ks_path_mean(plan, plan->P, plan->Q, i + 1);
        m[i] = ldexp(sum * mean.f, mean.e);
    }
}

/* On a GPU each block has one start row. */
static kspec_status run_on_device(const ks_run *run, job *j, ks_arena *arena, double *m, kspec_error *err) {
    ks_path_plan *plan = &j->plan;
    plan->blocks = plan->P;
    j->sums = ks_arena_alloc(arena, ks_size(plan->P, (size_t)plan->nmax), sizeof(double));
    if (arena->failed) return ks_nomem(err, "path", arena->failed);
    ks_path_job device_job = {.A = j->x[0],
                              .B = j->y[0],
                              .P = plan->P,
                              .Q = plan->Q,
                              .nmax = plan->nmax,
                              .scale = plan->scale,
                              .sums = j->sums};
    device_job.part.parts = ks_device_path_parts(run, &device_job);
    kspec_status st = ks_device_path(run, &device_job, err);
    if (!st) means(j, m);
    return st;
}

static kspec_status run_job(const ks_run *run, job *j, ks_arena *arena, double *m, kspec_error *err) {
    const ks_path_plan *plan = &j->plan;
    const size_t n = (size_t)plan->nmax, vector = plan->lanes * sizeof(double);
    const size_t chunks = (plan->blocks + plan->together - 1) / plan->together;
    const size_t scratches = (size_t)ks_workers(run, chunks) * plan->together;
    j->sums = ks_arena_alloc(arena, ks_size(plan->blocks, n), sizeof(double));
    j->workers = ks_arena_zalloc(arena, scratches, sizeof(scratch));
    for (size_t i = 0; i < scratches && !arena->failed; i++)
        j->workers[i] = (scratch){.A = ks_arena_alloc(arena, ks_size(plan->Q, n), vector),
                                  .R = ks_arena_alloc(arena, ks_size(plan->band, n), vector),
                                  .panel = ks_arena_alloc(arena, plan->Q, vector),
                                  .sum = ks_arena_alloc(arena, n, vector),
                                  .x = ks_arena_alloc(arena, n, sizeof(double *)),
                                  .y = ks_arena_alloc(arena, n, sizeof(double *))};
    if (arena->failed) return ks_nomem(err, "path", arena->failed);

    const ks_share sums = {j->sums, n * sizeof(double), plan->blocks, plan->together};
    kspec_status st = ks_team_for_falling(run, "path", chunks, chunk, j, &sums, 1, err);
    if (!st) means(j, m);
    return st;
}

static kspec_status job_make(job *j, const ks_run *run, size_t P, size_t Q, int nmax, ks_arena *arena,
                             kspec_error *err) {
    memset(j, 0, sizeof *j);
    kspec_status st = ks_path_plan_make(&j->plan, P, Q, nmax, run, err);
    if (st) return st;
    j->x = ks_arena_alloc(arena, (size_t)nmax, sizeof(double *));
    j->y = ks_arena_alloc(arena, (size_t)nmax, sizeof(double *));
    j->close = ks_arena_alloc(arena, (size_t)nmax, sizeof(double *));
    return arena->failed ? ks_nomem(err, "path", arena->failed) : KSPEC_OK;
}

kspec_status ks_path(const ks_run *run, const ks_pair *p, const ks_moments_out *out, kspec_error *err) {
    if (out->rows) return ks_path_loo(run, p, out, err);
    ks_arena arena = {0};
    job j;
    kspec_status st = job_make(&j, run, p->P, p->Q, p->nmax, &arena, err);
    for (int n = 0; n < p->nmax && !st; n++) j.x[n] = p->A, j.y[n] = j.close[n] = p->B;
    const int device_job = ks_device_has_path(run, p->nmax, 0);
    if (!st) st = (device_job ? run_on_device : run_job)(run, &j, &arena, out->m, err);
    ks_arena_free(&arena);
    return st;
}

kspec_status ks_path_assigned(const ks_run *run, const double *const *trials, size_t P, size_t Q, int nmax,
                              const int *t, const int *close, double *m, kspec_error *err) {
    ks_arena arena = {0};
    job j;
    kspec_status st = job_make(&j, run, P, Q, nmax, &arena, err);
    for (int n = 0; n < nmax && !st; n++) {
        j.x[n] = trials[t[2 * n]];
        j.y[n] = trials[t[n < nmax - 1 ? 2 * n + 1 : 0]]; /* The sweep never computes R[nmax]. */
        j.close[n] = trials[close[n]];
        if (j.x[n] != j.x[0] || (n < nmax - 1 && j.y[n] != j.y[0])) j.mixed = 1;
    }
    if (!st) st = run_job(run, &j, &arena, m, err);
    ks_arena_free(&arena);
    return st;
}
