#include "features/fourier.h"

#include "base/error.h"
#include "base/streams.h"
#include "linalg/linalg.h"

#include <math.h>

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

enum { ROWS = 128, COLS = 512 }; /* of a tile: half a megabyte, which a second-level cache holds */

void ks_fourier_rows(const ks_fourier *f, int stages, const double *x, size_t rows, double scale, double *Z) {
    size_t p = f->p, q = f->q;
    for (size_t i = 0; i < rows; i += ROWS)
        for (size_t j = 0; j < q; j += COLS) {
            size_t m = rows - i < ROWS ? rows - i : ROWS, n = q - j < COLS ? q - j : COLS;
            double *tile = Z + i * q + j;
            if (stages == KS_FOURIER_BOTH)
                ks_gemm(0, 1, m, n, p, 1, x + i * p, p, f->W + j * p, p, 0, tile, q);
            for (size_t r = 0; r < m; r++) f->simd->cos_turns(tile + r * q, f->b + j, scale, n);
        }
}
