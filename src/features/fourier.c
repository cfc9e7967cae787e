#include "features/fourier.h"

#include "base/error.h"
#include "base/streams.h"
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

static const double TURN = 6.283185307179586;

kspec_status ks_fourier_draw(ks_fourier *f, kspec_kernel kernel, size_t p, size_t q, uint64_t seed,
                             uint64_t draw, ks_arena *arena, kspec_error *err) {
    size_t count = ks_size(q, p);
    *f = (ks_fourier){.p = p, .q = q};
    kspec_status st = ks_simd_choose(&f->simd, err);
    if (st) return st;
    f->W = ks_arena_alloc(arena, count, sizeof *f->W);
    f->b = ks_arena_alloc(arena, q, sizeof *f->b);
    if (arena->failed) return ks_nomem(err, "the frequencies of the features", arena->failed);
    kspec_random_uniform(seed, ks_stream(KS_STREAM_TURNS, draw), 0, q, f->b);
    (kernel == KSPEC_KERNEL_GAUSSIAN ? kspec_random_normal : kspec_random_uniform)(
        seed, ks_stream(KS_STREAM_FREQUENCIES, draw), 0, count, f->W);
    for (size_t k = 0; k < count; k++) {
        double w = f->W[k], u = w - 0.5; /* distribution functions, inverted */
        if (kernel == KSPEC_KERNEL_LAPLACE) w = tan(TURN / 2 * u);
        if (kernel == KSPEC_KERNEL_CAUCHY) w = copysign(log1p(-2 * fabs(u)), u);
        f->W[k] = w / TURN;
    }
    return KSPEC_OK;
}

void ks_fourier_pair(ks_fourier *f) {
    for (size_t j = 1; j < f->q; j += 2) {
        memcpy(f->W + j * f->p, f->W + (j - 1) * f->p, f->p * sizeof *f->W);
        f->b[j] = f->b[j - 1] < 0.25 ? f->b[j - 1] + 0.75 : f->b[j - 1] - 0.25;
    }
}

void ks_fourier_rows(const ks_fourier *f, int stages, const double *x, size_t rows, double scale, double *Z) {
    size_t p = f->p, q = f->q;
    for (size_t i = 0; i < rows; i += KS_FOURIER_ROWS)
        for (size_t j = 0; j < q; j += KS_FOURIER_COLS) {
            size_t m = rows - i < KS_FOURIER_ROWS ? rows - i : KS_FOURIER_ROWS,
                   n = q - j < KS_FOURIER_COLS ? q - j : KS_FOURIER_COLS;
            double *tile = Z + i * q + j;
            if (stages == KS_FOURIER_BOTH)
                ks_gemm(0, 1, m, n, p, 1, x + i * p, p, f->W + j * p, p, 0, tile, q);
            for (size_t r = 0; r < m; r++) f->simd->cos_turns(tile + r * q, f->b + j, scale, n);
        }
}

/*
 * How many rows of a product of n columns to compute for `rows` of them, so that each has the bits that it
 * has in a whole tile. OpenBLAS rounds differently at the edge of its blocks, which are up to 16 rows high,
 * and in its routines for small matrices (SkylakeX: up to 1200 entries). tests/unit/test_norm_features.c
 * tries six cores.
 */
enum { HIGH = 16, ENTRIES = 4096 };
static size_t padded(size_t rows, size_t n) {
    size_t least = rows * n < ENTRIES ? (ENTRIES + n - 1) / n : rows, m = (least + HIGH - 1) / HIGH * HIGH;
    return m < KS_FOURIER_ROWS ? m : KS_FOURIER_ROWS;
}

size_t ks_fourier_few_room(const ks_fourier *f, size_t rows) {
    return ENTRIES + (rows + HIGH) * (f->q < KS_FOURIER_COLS ? f->q : KS_FOURIER_COLS);
}

void ks_fourier_few(const ks_fourier *f, const double *x, size_t rows, double scale, double *room,
                    double *Z) {
    size_t p = f->p, q = f->q;
    for (size_t j = 0; j < q; j += KS_FOURIER_COLS) {
        size_t n = q - j < KS_FOURIER_COLS ? q - j : KS_FOURIER_COLS;
        ks_gemm(0, 1, padded(rows, n), n, p, 1, x, p, f->W + j * p, p, 0, room, n);
        for (size_t r = 0; r < rows; r++) {
            memcpy(Z + r * q + j, room + r * n, n * sizeof *Z);
            f->simd->cos_turns(Z + r * q + j, f->b + j, scale, n);
        }
    }
}
