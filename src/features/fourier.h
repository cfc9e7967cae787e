/* Computes random Fourier features of shift-invariant kernels. */
#pragma once

#include "base/memory.h"
#include "simd/simd.h"
#include "features/kernel.h"

/* Holds q random features of points in p dimensions, in units of sigma, with phases in turns. */
typedef struct {
    const ks_simd *simd;
    size_t p, q;
    double *W; /* q x p: w_j / (2 pi) */
    double *b; /* q phases, uniform on (0,1) */
} ks_fourier;

/* Draws the features by (seed, draw); feature j does not depend on q. */
kspec_status ks_fourier_draw(ks_fourier *f, const ks_kernel *kernel, size_t p, size_t q, uint64_t seed,
                             uint64_t draw, ks_arena *arena, kspec_error *err);

/*
 * Multiplies rows first, first + 1, ... of p normals each by sqrt(2 nu/chi^2). Each row has one chi^2 =
 * 2G, with 2 nu degrees of freedom. The factor is at most 1e12, because the phases of larger frequencies
 * are equally random.
 */
void ks_student_scale(double *W, double nu, size_t p, size_t first, size_t count, uint64_t seed,
                      uint64_t stream);

/*
 * Computes Z[i,j] = scale cos(w_j.x_i + b_j) for `rows` dense rows x_i; Z is dense. It works in tiles that
 * stay in the cache between the product and the cosines. `stages` chooses both stages or, for
 * measurements, only the cosines of the numbers in Z.
 */
enum { KS_FOURIER_BOTH, KS_FOURIER_COSINE };
void ks_fourier_rows(const ks_fourier *f, int stages, const double *x, size_t rows, double scale, double *Z);

/* Returns the size of a tile: half a megabyte, which fits a second-level cache. */
enum { KS_FOURIER_ROWS = 128, KS_FOURIER_COLS = 512 };

/*
 * Computes the features of fewer rows than a tile has, with the bits of a whole tile. The rounding of BLAS
 * depends on the shape of a product. So x has the size of a whole tile, with zeros below its `rows`, and
 * the code computes as many rows as the bits require. `room` is scratch of ks_fourier_few_room() doubles.
 */
void ks_fourier_few(const ks_fourier *f, const double *x, size_t rows, double scale, double *room, double *Z);
size_t ks_fourier_few_room(const ks_fourier *f, size_t rows);
