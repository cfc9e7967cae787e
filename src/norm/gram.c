/* Multiplies with a kernel's Gram matrix tile by tile, holding or recomputing the tiles. */
#include "norm/gram.h"

#include "base/error.h"
#include "base/matrix.h"
#include "linalg/linalg.h"
#include "team/team.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/*
 * Small tiles stay in the second-level cache between the product and the exponentials. From LARGE_FROM
 * columns on, the product dominates the work.
 */
enum { SMALL_TILE = 256, LARGE_TILE = 512, LARGE_FROM = 128 /* columns */ };
enum { CHUNKS = 32, CHUNK_TILES = 128 /* small ones */ };

/* With h = |x|^2/2, the exponent is x.y - h_x - h_y, with an error of about 2e-16 max h. Above this h,
 * tiles are computed from differences. Summing squares of differences costs more than a matrix product
 * but has no cancellation. */
static const double LARGEST_H = 1e4;

static size_t rows_of(const ks_gram *g, size_t I) { return g->n - I * g->T < g->T ? g->n - I * g->T : g->T; }

void ks_gram_tile(const ks_gram *g, int stages, size_t I, size_t J, double *tile) {
    size_t T = g->T, m = rows_of(g, I), n = rows_of(g, J), pad = (n + 7) / 8 * 8, p = g->p;
    const double *x = g->x + I * T * p;
    if (g->xt) {
        for (size_t i = 0; i < m; i++) {
            g->simd->gram_row(g->metric, x + i * p, g->xt + J * T * p, T, p, tile + i * T, pad);
            /* On the diagonal, the loop computes only the stored half of a tile. */
            for (size_t j = I == J ? i + 1 : 0; j < n && g->metric == KS_METRIC_SQUARE; j++)
                tile[i * T + j] = ks_matern_at(&g->matern, tile[i * T + j]);
        }
    } else {
        if (stages & 1) ks_gemm(0, 1, m, n, p, 1, x, p, g->x + J * T * p, p, 0, tile, T);
        for (size_t i = 0; i < m && stages & 2; i++) {
            for (size_t j = n; j < pad; j++) tile[i * T + j] = 0;
            g->simd->gram_exp(tile + i * T, g->h + J * T, g->h[I * T + i], pad);
        }
    }
    /* This mirrors the tile, so that it is symmetric to the last bit. */
    for (size_t i = 0; i < m && I == J && stages & 2; i++) {
        tile[i * T + i] = 1;
        for (size_t j = 0; j < i; j++) tile[i * T + j] = tile[j * T + i];
    }
}

/* ---- tiles of the upper triangle, counted row by row ---- */

static size_t tile_count(size_t bands) { return bands * (bands + 1) / 2; }

/* Sets (I, J) to the position of tile number t; next() moves to the following tile. */
static void locate(size_t bands, size_t t, size_t *I, size_t *J) {
    size_t row = bands;
    for (*I = 0; t >= row; ++*I) t -= row--;
    *J = *I + t;
}

static void next(size_t bands, size_t *I, size_t *J) {
    if (++*J == bands) *J = ++*I;
}

typedef struct {
    ks_gram *g;
    size_t first, per_chunk; /* the number of the first tile of a round, and the number of tiles in a chunk */
    double *K;               /* receives the whole matrix if it is requested, else NULL */
} job;

/* Returns the number of tiles in a chunk; a product runs in rounds of CHUNKS chunks. */
static size_t tiles_per_chunk(const ks_gram *g) {
    size_t per = (tile_count(g->bands) + CHUNKS - 1) / CHUNKS;
    /* This limits the time of a chunk. */
    size_t most = CHUNK_TILES * SMALL_TILE * SMALL_TILE / (g->T * g->T);
    return per > most ? most : per;
}

/* Returns the number of this rank's chunks in a round. */
static size_t own_chunks(const ks_gram *g) { return (CHUNKS - g->rank + g->ranks - 1) / g->ranks; }

/* Returns the position of a tile in this rank's memory, in tiles, or SIZE_MAX for tiles of other ranks. */
static size_t held_at(const ks_gram *g, size_t t) {
    if (g->ranks == 1) return t;
    size_t per = tiles_per_chunk(g), round = t / (CHUNKS * per), chunk = t / per % CHUNKS;
    if (chunk % g->ranks != g->rank) return SIZE_MAX;
    return (round * own_chunks(g) + chunk / g->ranks) * per + t % per;
}

static size_t held_count(const ks_gram *g) {
    if (g->ranks == 1) return tile_count(g->bands);
    size_t round = CHUNKS * tiles_per_chunk(g), rounds = (tile_count(g->bands) + round - 1) / round;
    return g->rank < CHUNKS ? rounds * own_chunks(g) * tiles_per_chunk(g) : 0;
}

static size_t held_bytes(const ks_gram *g) { return ks_size(held_count(g), g->T * g->T * sizeof(double)); }

static const double *tile_at(const ks_gram *g, size_t t, size_t I, size_t J, double *scratch) {
    if (g->held) return g->held + held_at(g, t) * g->T * g->T;
    ks_gram_tile(g, 3, I, J, scratch);
    return scratch;
}

static kspec_status fill_tile(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const job *j = ctx;
    size_t I, J, at = held_at(j->g, chunk);
    if (at == SIZE_MAX) return KSPEC_OK;
    locate(j->g->bands, chunk, &I, &J);
    ks_gram_tile(j->g, 3, I, J, j->g->held + at * j->g->T * j->g->T);
    return KSPEC_OK;
}

/* ---- opening ---- */

static kspec_status prepare(ks_gram *g, const ks_run *run, size_t n, ks_arena *arena, kspec_error *err) {
    kspec_status st = ks_simd_choose(&g->simd, err);
    if (st) return st;
    size_t T = g->T = g->p >= LARGE_FROM ? LARGE_TILE : SMALL_TILE;
    g->n = n;
    g->bands = (n + T - 1) / T;
    g->rank = (size_t)ks_team_rank(run), g->ranks = (size_t)ks_team_ranks(run);
    g->workers = run->threads;
    g->tile = ks_arena_zalloc(arena, (size_t)g->workers, sizeof *g->tile);
    for (int w = 0; w < g->workers && g->tile; w++) g->tile[w] = ks_arena_alloc(arena, T * T, sizeof(double));
    g->partial = ks_arena_alloc(arena, ks_size(CHUNKS, g->bands * T), sizeof(double));
    g->in = ks_arena_zalloc(arena, g->bands * T, sizeof(double));
    return arena->failed ? ks_nomem(err, "products with the Gram matrix", arena->failed) : KSPEC_OK;
}

ks_metric ks_gram_metric(kspec_kernel kernel) {
    static const ks_metric metric[] = {KS_METRIC_GAUSSIAN, KS_METRIC_LAPLACE, KS_METRIC_CAUCHY,
                                       KS_METRIC_SQUARE};
    return metric[kernel];
}

int ks_gram_by_products(const ks_inputs *x, kspec_kernel kernel, double *h) {
    double largest = 0;
    for (size_t i = 0; i < x->n; i++) {
        h[i] = ks_dot(x->p, x->x + i * x->p, x->x + i * x->p) / 2;
        largest = fmax(largest, h[i]);
    }
    return kernel == KSPEC_KERNEL_GAUSSIAN && largest <= LARGEST_H;
}

kspec_status ks_gram_open(ks_gram *g, const ks_run *run, const ks_inputs *x, const ks_kernel *kernel,
                          size_t memory, ks_arena *arena, kspec_error *err) {
    size_t n = x->n, p = x->p;
    *g = (ks_gram){.metric = ks_gram_metric(kernel->kind), .p = p, .x = x->x};
    if (g->metric == KS_METRIC_SQUARE) g->matern = ks_matern_of(kernel->nu);
    kspec_status st = prepare(g, run, n, arena, err);
    if (st) return st;
    size_t T = g->T;
    g->h = ks_arena_zalloc(arena, g->bands * T, sizeof(double));
    if (arena->failed) return ks_nomem(err, "the norms of the rows", arena->failed);
    if (!ks_gram_by_products(x, kernel->kind, g->h)) {
        g->xt = ks_arena_zalloc(arena, ks_size(g->bands * T, p), sizeof(double));
        if (!g->xt) return ks_nomem(err, "a copy of the rows", arena->failed);
        for (size_t i = 0; i < n; i++)
            for (size_t l = 0; l < p; l++) g->xt[i / T * T * p + l * T + i % T] = g->x[i * p + l];
    }
    size_t bytes = held_bytes(g);
    int hold = bytes <= memory && bytes <= ks_team_memory(run) / 2;
    if ((st = ks_team_decide(run->team, &hold, sizeof hold, err)) || !hold) return st;
    g->held = ks_arena_alloc(arena, 1, bytes);
    if (!g->held) return ks_nomem(err, "the Gram matrix", arena->failed);
    job j = {.g = g};
    const ks_run alone = ks_run_alone(run); /* each its own */
    return ks_parallel_for(&alone, tile_count(g->bands), fill_tile, &j, err);
}

kspec_status ks_gram_take(ks_gram *g, const ks_run *run, const kspec_matrix *K, double unit,
                          const size_t *rows, size_t n, ks_arena *arena, kspec_error *err) {
    *g = (ks_gram){0};
    kspec_status st = prepare(g, run, n, arena, err);
    if (st) return st;
    size_t T = g->T, bytes = held_bytes(g);
    if ((st = ks_check_memory(err, bytes, "half of the Gram matrix of %zu rows", n))) return st;
    g->held = ks_arena_zalloc(arena, 1, bytes);
    if (!g->held) return ks_nomem(err, "the Gram matrix", arena->failed);
    size_t I = 0, J = 0;
    for (size_t t = 0; t < tile_count(g->bands); t++, next(g->bands, &I, &J)) {
        const size_t at = held_at(g, t);
        for (size_t i = 0; i < rows_of(g, I) && at != SIZE_MAX; i++)
            for (size_t j = 0; j < rows_of(g, J); j++) {
                size_t a = I * T + i, b = J * T + j;
                g->held[at * T * T + i * T + j] = ks_at(K, rows ? rows[a] : a, rows ? rows[b] : b) / unit;
            }
    }
    return KSPEC_OK;
}

/* ---- products ---- */

/* Adds the products of the chunk's tiles and of their mirror images to the chunk's vector. */
static kspec_status multiply(void *ctx, size_t chunk, const ks_worker *worker) {
    const job *j = ctx;
    const ks_gram *g = j->g;
    size_t T = g->T, t = j->first + chunk * j->per_chunk, end = tile_count(g->bands), I, J;
    double *y = g->partial + chunk * g->bands * T;
    memset(y, 0, g->bands * T * sizeof *y);
    if (t >= end) return KSPEC_OK;
    locate(g->bands, t, &I, &J);
    for (size_t k = 0; k < j->per_chunk && t < end; k++, t++, next(g->bands, &I, &J)) {
        const double *tile = tile_at(g, t, I, J, g->tile[worker->index]);
        g->simd->tile_product(tile, T, rows_of(g, I), (rows_of(g, J) + 7) / 8 * 8, g->in + J * T,
                              g->in + I * T, y + I * T, I == J ? NULL : y + J * T);
    }
    return KSPEC_OK;
}

kspec_status ks_gram_apply(void *gram, const ks_run *run, const double *x, double *y, kspec_error *err) {
    ks_gram *g = gram;
    size_t tiles = tile_count(g->bands), per = tiles_per_chunk(g), round = CHUNKS * per;
    /* The padding stays 0, so entries of a tile beyond the columns add nothing. */
    memcpy(g->in, x, g->n * sizeof *x);
    memset(y, 0, g->n * sizeof *y);
    for (job j = {.g = g, .per_chunk = per}; j.first < tiles; j.first += round) {
        size_t left = tiles - j.first, last = left < round ? left : round;
        size_t chunks = (last + per - 1) / per;
        ks_run part =
            ks_run_part(run, (double)j.first / (double)tiles, (double)(j.first + last) / (double)tiles);
        kspec_status st =
            ks_team_sum(&part, "tiles", chunks, multiply, &j, g->partial, g->bands * g->T, g->n, y, err);
        if (st) return st;
    }
    return KSPEC_OK;
}

static kspec_status place(void *ctx, size_t chunk, const ks_worker *worker) {
    const job *j = ctx;
    const ks_gram *g = j->g;
    size_t T = g->T, I, J;
    locate(g->bands, chunk, &I, &J);
    const double *tile = tile_at(g, chunk, I, J, g->tile[worker->index]);
    double *K = j->K + I * T * g->n + J * T;
    for (size_t i = 0; i < rows_of(g, I); i++) memcpy(K + i * g->n, tile + i * T, rows_of(g, J) * sizeof *K);
    /* Copies the mirror image, eight rows at a time, so that both sides read and write whole cache lines. */
    double buffer[8][LARGE_TILE], *L = j->K + J * T * g->n + I * T;
    for (size_t c = 0; c < rows_of(g, J) && I != J; c += 8) {
        for (size_t i = 0; i < rows_of(g, I); i++)
            for (size_t k = 0; k < 8; k++) buffer[k][i] = tile[i * T + c + k];
        for (size_t k = 0; k < 8 && c + k < rows_of(g, J); k++)
            memcpy(L + (c + k) * g->n, buffer[k], rows_of(g, I) * sizeof *L);
    }
    return KSPEC_OK;
}

kspec_status ks_gram_matrix(ks_gram *g, const ks_run *run, double *K, kspec_error *err) {
    job j = {.g = g, .K = K};
    return ks_parallel_for(run, tile_count(g->bands), place, &j, err);
}
