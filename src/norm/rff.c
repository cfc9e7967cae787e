#include "norm/rff.h"

#include "base/error.h"
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

/* Rows are made in bands that the cache holds; sums over rows are made in at most GROUPS groups of bands. */
enum { BAND_ENTRIES = 65536, GROUPS = 64 };

static size_t bands(const ks_rff *z) { return (z->n + z->band - 1) / z->band; }

/* The rows [from, from + count) of Z: where they are held, or made into `room` */
static const double *rows(const ks_rff *z, size_t from, size_t count, double *room) {
    if (z->Z) return z->Z + from * z->f.q;
    ks_fourier_rows(&z->f, KS_FOURIER_BOTH, z->x + from * z->f.p, count, z->scale, room);
    return room;
}

static kspec_status fill(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const ks_rff *z = ctx;
    size_t from = chunk * z->band, count = z->n - from < z->band ? z->n - from : z->band;
    ks_fourier_rows(&z->f, KS_FOURIER_BOTH, z->x + from * z->f.p, count, z->scale, z->Z + from * z->f.q);
    return KSPEC_OK;
}

kspec_status ks_rff_open(ks_rff *z, const ks_run *run, const ks_inputs *x, kspec_kernel kernel, size_t q,
                         uint64_t seed, uint64_t draw, size_t memory, ks_arena *arena, kspec_error *err) {
    *z = (ks_rff){.x = x->x, .n = x->n, .scale = sqrt(2 / (double)q)};
    kspec_status st = ks_fourier_draw(&z->f, kernel, x->p, q, seed, draw, arena, err);
    if (st) return st;
    z->band = BAND_ENTRIES / q < 16 ? 16 : BAND_ENTRIES / q;
    z->tile = ks_arena_zalloc(arena, (size_t)run->threads, sizeof *z->tile);
    z->partial = ks_arena_alloc(arena, ks_size(GROUPS, q), sizeof *z->partial);
    size_t bytes = ks_size(ks_size(z->n, q), sizeof(double));
    int hold = bytes <= memory && bytes <= ks_memory_available() / 2;
    for (int w = 0; w < run->threads && !hold && z->tile; w++)
        z->tile[w] = ks_arena_alloc(arena, ks_size(z->band, q), sizeof(double));
    if (hold) z->Z = ks_arena_alloc(arena, 1, bytes);
    if (arena->failed) return ks_nomem(err, "the random features", arena->failed);
    return hold ? ks_parallel_for(run, bands(z), fill, z, err) : KSPEC_OK;
}

/* ---- w = Z^T Z v ---- */

typedef struct {
    const ks_rff *z;
    const double *v;
    size_t groups;
} product;

static kspec_status multiply(void *ctx, size_t chunk, const ks_worker *worker) {
    const product *p = ctx;
    const ks_rff *z = p->z;
    size_t q = z->f.q, from = bands(z) * chunk / p->groups, to = bands(z) * (chunk + 1) / p->groups;
    double *w = z->partial + chunk * q;
    memset(w, 0, q * sizeof *w);
    for (size_t k = from; k < to; k++) {
        size_t first = k * z->band, count = z->n - first < z->band ? z->n - first : z->band;
        z->f.simd->normal_product(rows(z, first, count, z->tile[worker->index]), count, q, p->v, w);
    }
    return KSPEC_OK;
}

kspec_status ks_rff_apply(void *rff, const ks_run *run, const double *v, double *w, kspec_error *err) {
    ks_rff *z = rff;
    product p = {z, v, bands(z) < GROUPS ? bands(z) : GROUPS};
    kspec_status st = ks_parallel_for(run, p.groups, multiply, &p, err);
    memset(w, 0, z->f.q * sizeof *w);
    for (size_t g = 0; g < p.groups && !st; g++)
        for (size_t j = 0; j < z->f.q; j++) w[j] += z->partial[g * z->f.q + j];
    return st;
}

/* ---- G = (q/n) Z^T Z ---- */

/* Z is taken in blocks of rows; G in tiles, on and above the diagonal. */
enum { BLOCK_ENTRIES = 1 << 22, TILE = 64 };

typedef struct {
    const ks_rff *z;
    size_t first, count; /* rows of the block */
    double *block;       /* count x q, where Z is not held */
    double *G;
} gram_job;

static kspec_status fill_block(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const gram_job *j = ctx;
    const ks_rff *z = j->z;
    size_t from = chunk * z->band, count = j->count - from < z->band ? j->count - from : z->band;
    ks_fourier_rows(&z->f, KS_FOURIER_BOTH, z->x + (j->first + from) * z->f.p, count, z->scale,
                    j->block + from * z->f.q);
    return KSPEC_OK;
}

static kspec_status gram_tile(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const gram_job *j = ctx;
    size_t q = j->z->f.q, tiles = (q + TILE - 1) / TILE, I = 0, row = tiles;
    while (chunk >= row) chunk -= row--, I++;
    size_t a = I * TILE, b = (I + chunk) * TILE, m = q - a < TILE ? q - a : TILE,
           n = q - b < TILE ? q - b : TILE;
    const double *Z = j->z->Z ? j->z->Z + j->first * q : j->block;
    ks_gemm(1, 0, m, n, j->count, (double)q / (double)j->z->n, Z + a, q, Z + b, q, j->first ? 1 : 0,
            j->G + a * q + b, q);
    return KSPEC_OK;
}

kspec_status ks_rff_gram(ks_rff *z, const ks_run *run, double *G, kspec_error *err) {
    size_t q = z->f.q, tiles = (q + TILE - 1) / TILE, bands_per_block = BLOCK_ENTRIES / q / z->band + 1;
    size_t block = bands_per_block * z->band < z->n ? bands_per_block * z->band : z->n;
    gram_job j = {.z = z, .G = G};
    if (!z->Z && !(j.block = ks_alloc(ks_size(block, q), sizeof(double))))
        return ks_nomem(err, "a block of random features", ks_size(ks_size(block, q), sizeof(double)));
    kspec_status st = KSPEC_OK;
    for (; j.first < z->n && !st; j.first += block) {
        j.count = z->n - j.first < block ? z->n - j.first : block;
        double from = (double)j.first / (double)z->n, to = (double)(j.first + j.count) / (double)z->n;
        ks_run made = ks_run_part(run, from, from), multiplied = ks_run_part(run, from, to);
        if (j.block) st = ks_parallel_for(&made, (j.count + z->band - 1) / z->band, fill_block, &j, err);
        if (!st) st = ks_parallel_for(&multiplied, tiles * (tiles + 1) / 2, gram_tile, &j, err);
    }
    for (size_t a = 0; a < q; a++)
        for (size_t b = 0; b < a && !st; b++) G[a * q + b] = G[b * q + a];
    ks_free(j.block);
    return st;
}
