/* Computes elementwise products of matrices and their sums on the CPU, tile by tile. */
#include "device/tile.h"

#include "base/error.h"
#include "base/memory.h"
#include "linalg/linalg.h"
#include "simd/simd.h"

#include <string.h>

enum { TR = 32, TC = 128 }; /* A tile has 32 KB, for factors that must be transposed. */

ks_run ks_tile_threads(const ks_run *run, double work) {
    ks_run r = *run;
    if (work < 1e6) r.threads = 1;
    return r;
}

typedef struct {
    const ks_simd *kernels;
    const ks_expression *e;
    ks_tile_result what;
    double *out;
    /* If by_strip is 1, the sums are over columns, and each strip has a row of sums. */
    int by_strip;
    /* Each worker has space for a tile of each transposed factor. */
    double *turned;
    size_t room;
} tile_job;

/* Sets the m x n matrix t, with leading dimension TC, to x^T, eight lines of x at a time. */
static void transpose(double *restrict t, size_t m, size_t n, const double *restrict x, size_t ld) {
    for (size_t j = 0; j < n; j += 8)
        for (size_t i = 0; i < m; i++)
            for (size_t k = j; k < j + 8 && k < n; k++) t[i * TC + k] = x[k * ld + i];
}

static double sum(const double *x, size_t n) {
    double s[4] = {0};
    for (size_t c = 0; c < n / 4 * 4; c += 4)
        for (int k = 0; k < 4; k++) s[k] += x[c + (size_t)k];
    for (size_t c = n / 4 * 4; c < n; c++) s[0] += x[c];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

/*
 * Computes the m x n tile at (i,j). The function first transposes factors into `turned` (count x TR x TC) if
 * necessary. For column sums, it adds to `sums`.
 */
static void tile(const tile_job *job, size_t i, size_t j, size_t m, size_t n, double *turned, double *sums) {
    const ks_expression *e = job->e;
    const double *x[KS_TILE_FACTORS];
    size_t step[KS_TILE_FACTORS];
    int power[KS_TILE_FACTORS];
    for (int k = 0; k < e->count; k++) {
        const ks_factor *f = &e->factor[k];
        power[k] = f->power;
        x[k] = f->x + i * e->n + j, step[k] = e->n;
        if (f->transposed) {
            transpose(turned, m, n, f->x + j * e->m + i, e->m);
            x[k] = turned, step[k] = TC;
            turned += TR * TC;
        }
    }
    const double *col = e->col ? e->col + j : NULL;
    for (size_t r = 0; r < m; r++) {
        double w = e->row ? e->alpha * e->row[i + r] : e->alpha, z[TC];
        switch (job->what) {
        case KS_TILE_STORE:
        case KS_TILE_ADD:
            job->kernels->hadamard(job->out + (i + r) * e->n + j, n, job->what == KS_TILE_ADD, w, col,
                                   e->count, x, power);
            break;
        case KS_TILE_COL_SUMS: job->kernels->hadamard(sums, n, 1, w, col, e->count, x, power); break;
        case KS_TILE_ROW_SUMS:
            job->kernels->hadamard(z, n, 0, w, col, e->count, x, power);
            job->out[i + r] += sum(z, n);
            break;
        }
        for (int k = 0; k < e->count; k++) x[k] += step[k];
    }
}

/* Sums TC columns from j on, strip after strip. */
static void column_sums(const tile_job *job, size_t j, double *turned) {
    const ks_expression *e = job->e;
    size_t n = e->n - j < TC ? e->n - j : TC;
    if (!job->by_strip) memset(job->out + j, 0, n * sizeof *job->out);
    for (size_t i0 = 0, i1; i0 < e->m; i0 = i1) {
        double z[TC] = {0}, *to = job->out + (job->by_strip ? i0 / KS_STRIP * e->n : 0) + j;
        i1 = e->m - i0 < KS_STRIP ? e->m : i0 + KS_STRIP;
        for (size_t i = i0; i < i1; i += TR) tile(job, i, j, i1 - i < TR ? i1 - i : TR, n, turned, z);
        for (size_t k = 0; k < n; k++) to[k] = job->by_strip ? z[k] : to[k] + z[k];
    }
}

/* A chunk is TR rows, or TC columns for column sums, so no two chunks write to the same place. */
static kspec_status tile_chunk(void *ctx, size_t chunk, const ks_worker *worker) {
    const tile_job *job = ctx;
    const ks_expression *e = job->e;
    double *turned = job->turned ? job->turned + (size_t)worker->index * job->room : NULL;
    if (job->what == KS_TILE_COL_SUMS) {
        column_sums(job, chunk * TC, turned);
        return KSPEC_OK;
    }
    size_t i = chunk * TR, m = e->m - i < TR ? e->m - i : TR;
    if (job->what == KS_TILE_ROW_SUMS) memset(job->out + i, 0, m * sizeof *job->out);
    for (size_t j = 0; j < e->n; j += TC) tile(job, i, j, m, e->n - j < TC ? e->n - j : TC, turned, NULL);
    return KSPEC_OK;
}

static size_t chunks_of(const ks_expression *x, ks_tile_result what) {
    return what == KS_TILE_COL_SUMS ? (x->n + TC - 1) / TC : (x->m + TR - 1) / TR;
}

static ks_run threads_of(const ks_run *run, const ks_expression *x) {
    return ks_tile_threads(run, 4.0 * (double)x->m * (double)x->n * (x->count + 1));
}

/* Returns the number of doubles that one worker needs for tiles of transposed factors. */
static size_t room_of(const ks_expression *x) {
    size_t room = 0;
    for (int k = 0; k < x->count; k++) room += x->factor[k].transposed ? TR * TC : 0;
    return room;
}

size_t ks_tile_room(const ks_run *run, const ks_expression *x, ks_tile_result what) {
    ks_run r = threads_of(run, x);
    return ks_size(room_of(x), (size_t)ks_workers(&r, chunks_of(x, what)));
}

static kspec_status all_tiles(const ks_run *run, const ks_expression *x, ks_tile_result what, int by_strip,
                              double *out, kspec_error *err) {
    tile_job job = {.e = x, .what = what, .out = out, .by_strip = by_strip, .room = room_of(x)};
    kspec_status st = ks_simd_choose(&job.kernels, err);
    if (st) return st;
    size_t chunks = chunks_of(x, what);
    ks_run r = threads_of(run, x);
    if (job.room) {
        size_t count = ks_tile_room(run, x, what);
        job.turned = ks_alloc(count, sizeof *job.turned);
        if (!job.turned) return ks_nomem(err, "tiles of transposed factors", ks_size(count, sizeof(double)));
    }
    st = ks_parallel_for(&r, chunks, tile_chunk, &job, err);
    ks_free(job.turned);
    return st;
}

kspec_status ks_tile_run(const ks_run *run, const ks_expression *x, ks_tile_result what, double *out,
                         kspec_error *err) {
    return all_tiles(run, x, what, 0, out, err);
}

kspec_status ks_tile_strip_sums(const ks_run *run, const ks_expression *x, double *out, kspec_error *err) {
    return all_tiles(run, x, KS_TILE_COL_SUMS, 1, out, err);
}

typedef struct {
    size_t n;
    double *X;
} square;

static kspec_status symmetrise_chunk(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const square *s = ctx;
    size_t n = s->n, i0 = chunk * TR, i1 = i0 + TR < n ? i0 + TR : n;
    for (size_t j0 = i0; j0 < n; j0 += TR)
        for (size_t i = i0; i < i1; i++)
            for (size_t j = j0 > i ? j0 : i; j < j0 + TR && j < n; j++)
                s->X[i * n + j] = s->X[j * n + i] = s->X[i * n + j] + s->X[j * n + i];
    return KSPEC_OK;
}

kspec_status ks_tile_symmetrise(const ks_run *run, size_t n, double *X, kspec_error *err) {
    square s = {n, X};
    ks_run r = ks_tile_threads(run, 20.0 * (double)n * (double)n);
    return ks_parallel_for(&r, (n + TR - 1) / TR, symmetrise_chunk, &s, err);
}
