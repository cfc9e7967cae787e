/* Computes random features in bands of rows, and products with them. */
#include "norm/rff.h"

#include "base/error.h"
#include "linalg/linalg.h"
#include "team/team.h"

#include <math.h>
#include <string.h>

/* Rows are computed in bands that fit the cache. Sums over rows use at most GROUPS groups of bands. */
enum { BAND_ENTRIES = 65536, GROUPS = 64 };

static size_t bands(const ks_rff *z) { return (z->n + z->band - 1) / z->band; }
static size_t groups(const ks_rff *z) { return bands(z) < GROUPS ? bands(z) : GROUPS; }

/* Returns the first band of group g. */
static size_t group_begin(const ks_rff *z, size_t g) { return bands(z) * g / groups(z); }

/*
 * The first function returns how many rows of Z this rank stores, and the second the first row of band k
 * of group g. In a team, the groups of a rank are consecutive, and each group has room for the longest
 * group.
 */
static size_t group_rows(const ks_rff *z) { return (bands(z) + groups(z) - 1) / groups(z) * z->band; }
static size_t held_rows(const ks_rff *z) {
    if (z->ranks == 1) return z->n;
    return groups(z) > z->rank ? ks_size((groups(z) - z->rank - 1) / z->ranks + 1, group_rows(z)) : 0;
}
static size_t held_at(const ks_rff *z, size_t g, size_t k) {
    return z->ranks == 1 ? k * z->band : g / z->ranks * group_rows(z) + (k - group_begin(z, g)) * z->band;
}

static void make_band(const ks_rff *z, size_t k, double *to) {
    size_t from = k * z->band, count = z->n - from < z->band ? z->n - from : z->band;
    ks_fourier_rows(&z->f, KS_FOURIER_BOTH, z->x + from * z->f.p, count, z->scale, to);
}

/* Returns the rows of Z in band k of group g, either stored or computed into `room`. */
static const double *rows(const ks_rff *z, size_t g, size_t k, double *room) {
    if (z->Z) return z->Z + held_at(z, g, k) * z->f.q;
    make_band(z, k, room);
    return room;
}

static kspec_status fill(void *ctx, size_t g, const ks_worker *worker) {
    (void)worker;
    const ks_rff *z = ctx;
    for (size_t k = group_begin(z, g); k < group_begin(z, g + 1) && g % z->ranks == z->rank; k++)
        make_band(z, k, z->Z + held_at(z, g, k) * z->f.q);
    return KSPEC_OK;
}

kspec_status ks_rff_open(ks_rff *z, const ks_run *run, const ks_inputs *x, const ks_kernel *kernel, size_t q,
                         uint64_t seed, uint64_t draw, size_t memory, ks_arena *arena, kspec_error *err) {
    *z = (ks_rff){.x = x->x, .n = x->n, .scale = sqrt(2 / (double)q)};
    z->rank = (size_t)ks_team_rank(run), z->ranks = (size_t)ks_team_ranks(run);
    kspec_status st = ks_fourier_draw(&z->f, kernel, x->p, q, seed, draw, arena, err);
    if (st) return st;
    if (run->device) return ks_rff_device_open(&z->on_device, run, x, &z->f, z->scale, memory, arena, err);
    z->band = BAND_ENTRIES / q < 16 ? 16 : BAND_ENTRIES / q;
    z->tile = ks_arena_zalloc(arena, (size_t)run->threads, sizeof *z->tile);
    z->partial = ks_arena_alloc(arena, ks_size(GROUPS, q), sizeof *z->partial);
    size_t bytes = ks_size(ks_size(held_rows(z), q), sizeof(double));
    int hold = bytes <= memory && bytes <= ks_team_memory(run) / 2;
    if ((st = ks_team_decide(run->team, &hold, sizeof hold, err))) return st;
    for (int w = 0; w < run->threads && !hold && z->tile; w++)
        z->tile[w] = ks_arena_alloc(arena, ks_size(z->band, q), sizeof(double));
    if (hold) z->Z = ks_arena_alloc(arena, 1, bytes);
    if (arena->failed) return ks_nomem(err, "the random features", arena->failed);
    const ks_run alone = ks_run_alone(run); /* each its own */
    return hold ? ks_parallel_for(&alone, groups(z), fill, z, err) : KSPEC_OK;
}

void ks_rff_close(ks_rff *z, const ks_run *run) {
    if (run->device) ks_rff_device_close(&z->on_device, run);
}

/* ---- w = Z^T Z v ---- */

typedef struct {
    const ks_rff *z;
    const double *v;
} product;

static kspec_status multiply(void *ctx, size_t chunk, const ks_worker *worker) {
    const product *p = ctx;
    const ks_rff *z = p->z;
    size_t q = z->f.q;
    double *w = z->partial + chunk * q;
    memset(w, 0, q * sizeof *w);
    for (size_t k = group_begin(z, chunk); k < group_begin(z, chunk + 1); k++) {
        size_t first = k * z->band, count = z->n - first < z->band ? z->n - first : z->band;
        z->f.simd->normal_product(rows(z, chunk, k, z->tile[worker->index]), count, q, p->v, w);
    }
    return KSPEC_OK;
}

kspec_status ks_rff_apply(void *rff, const ks_run *run, const double *v, double *w, kspec_error *err) {
    ks_rff *z = rff;
    if (run->device) return ks_rff_device_apply(&z->on_device, run, v, w, err);
    product p = {z, v};
    memset(w, 0, z->f.q * sizeof *w);
    return ks_team_sum(run, "features", groups(z), multiply, &p, z->partial, z->f.q, z->f.q, w, err);
}

/* ---- G = (q/n) Z^T Z ---- */

/* The code computes G from blocks of rows of Z, in tiles on and above the diagonal. */
enum { BLOCK_ENTRIES = 1 << 22, TILE = 64 };

typedef struct {
    const ks_rff *z;
    size_t first, count; /* the first row and the number of rows of a block */
    double *block;       /* room for count x q numbers, if Z is not stored */
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

static void one_tile(const gram_job *j, size_t I, size_t J) {
    size_t q = j->z->f.q, a = I * TILE, b = J * TILE, m = q - a < TILE ? q - a : TILE,
           n = q - b < TILE ? q - b : TILE;
    const double *Z = j->block ? j->block : j->z->Z + j->first * q;
    ks_gemm(1, 0, m, n, j->count, (double)q / (double)j->z->n, Z + a, q, Z + b, q, j->first ? 1 : 0,
            j->G + a * q + b, q);
}

static kspec_status gram_tile(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const gram_job *j = ctx;
    size_t I = 0, row = (j->z->f.q + TILE - 1) / TILE;
    while (chunk >= row) chunk -= row--, I++;
    one_tile(j, I, I + chunk);
    return KSPEC_OK;
}

/* Computes a row of tiles, for a team. */
static kspec_status gram_strip(void *ctx, size_t I, const ks_worker *worker) {
    (void)worker;
    const gram_job *j = ctx;
    for (size_t J = I; J * TILE < j->z->f.q; J++) one_tile(j, I, J);
    return KSPEC_OK;
}

static kspec_status multiply_block(const ks_run *run, gram_job *j, kspec_error *err) {
    size_t q = j->z->f.q, tiles = (q + TILE - 1) / TILE;
    if (!run->team) return ks_parallel_for(run, tiles * (tiles + 1) / 2, gram_tile, j, err);
    const ks_share rows = {j->G, q * sizeof *j->G, q, TILE};
    return ks_team_for(run, "covariance", tiles, gram_strip, j, &rows, 1, err);
}

/* In a team every rank computes all features, because that takes less time than sending them. */
kspec_status ks_rff_gram(ks_rff *z, const ks_run *run, double *G, kspec_error *err) {
    if (run->device) return ks_rff_device_gram(&z->on_device, run, G, err);
    size_t q = z->f.q, bands_per_block = BLOCK_ENTRIES / q / z->band + 1;
    size_t block = bands_per_block * z->band < z->n ? bands_per_block * z->band : z->n;
    const ks_run alone = ks_run_alone(run);
    gram_job j = {.z = z, .G = G};
    if (run->team) memset(G, 0, q * q * sizeof *G);
    if ((!z->Z || z->ranks > 1) && !(j.block = ks_alloc(ks_size(block, q), sizeof(double))))
        return ks_nomem(err, "a block of random features", ks_size(ks_size(block, q), sizeof(double)));
    kspec_status st = KSPEC_OK;
    for (; j.first < z->n && !st; j.first += block) {
        j.count = z->n - j.first < block ? z->n - j.first : block;
        double from = (double)j.first / (double)z->n, to = (double)(j.first + j.count) / (double)z->n;
        ks_run made = ks_run_part(&alone, from, from), multiplied = ks_run_part(run, from, to);
        if (j.block) st = ks_parallel_for(&made, (j.count + z->band - 1) / z->band, fill_block, &j, err);
        if (!st) st = multiply_block(&multiplied, &j, err);
    }
    for (size_t a = 0; a < q; a++)
        for (size_t b = 0; b < a && !st; b++) G[a * q + b] = G[b * q + a];
    ks_free(j.block);
    return st;
}
