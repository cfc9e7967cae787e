/* Draws frequencies of random Fourier features, and computes the features. */
#include "features/fourier.h"

#include "base/error.h"
#include "base/streams.h"
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

static const double TURN = 6.283185307179586;

/*
 * Makes the directions of rows w_1 ... w_count (count <= p, p normals each) orthogonal by Gram-Schmidt. It
 * runs Gram-Schmidt twice because of rounding errors. The lengths of the rows do not change. Each
 * direction is uniform and independent of the lengths, so each row is still normal. Each direction depends
 * only on earlier rows.
 */
static void make_orthogonal(double *W, size_t count, size_t p) {
    for (size_t j = 0; j < count; j++) {
        double *w = W + j * p;
        const double length = sqrt(ks_dot(p, w, w));
        for (int pass = 0; pass < 2; pass++)
            for (size_t i = 0; i < j; i++) {
                const double *v = W + i * p;
                const double c = ks_dot(p, v, w) / ks_dot(p, v, v);
                for (size_t l = 0; l < p; l++) w[l] -= c * v[l];
            }
        const double rest = sqrt(ks_dot(p, w, w));
        for (size_t l = 0; l < p && rest > 0; l++) w[l] *= length / rest;
    }
}

/*
 * Repeats each frequency a quarter of a turn apart. This gives a cosine and a sine, whose squares sum to
 * 1.
 */
static void make_pairs(ks_fourier *f) {
    for (size_t j = f->q; j-- > 1;) memmove(f->W + j * f->p, f->W + j / 2 * f->p, f->p * sizeof *f->W);
    for (size_t j = 1; j < f->q; j += 2) f->b[j] = f->b[j - 1] + (f->b[j - 1] < 0.75 ? 0.25 : -0.75);
}

/*
 * Draws G ~ Gamma(nu) for feature j, by the method of Marsaglia and Tsang, which needs one try in 95% of
 * cases. For nu < 1, G is the variable for nu + 1, times u^(1/nu) for a uniform u. Feature j uses the
 * stream's numbers from SPAN j on.
 */
static double gamma_variate(double nu, size_t j, uint64_t seed, uint64_t stream) {
    enum { TRIES = 32, SPAN = 2 * TRIES + 4 };
    double z[TRIES], u[TRIES + 4];
    kspec_random_normal(seed, stream, SPAN * (uint64_t)j, TRIES, z);
    kspec_random_uniform(seed, stream, SPAN * (uint64_t)j + TRIES, TRIES + 4, u);
    const double d = (nu < 1 ? nu + 1 : nu) - 1.0 / 3, c = 1 / sqrt(9 * d);
    double G = d;
    for (int k = 0; k < TRIES; k++) {
        const double t = 1 + c * z[k], v = t * t * t;
        if (t > 0 && log(u[k]) < z[k] * z[k] / 2 + d - d * v + d * log(v)) {
            G = d * v;
            break;
        }
    }
    return nu < 1 ? G * pow(u[TRIES], 1 / nu) : G;
}

void ks_student_scale(double *W, double nu, size_t p, size_t first, size_t count, uint64_t seed,
                      uint64_t stream) {
    for (size_t j = 0; j < count; j++) {
        const double scale = fmin(sqrt(nu / gamma_variate(nu, first + j, seed, stream)), 1e12);
        for (size_t l = 0; l < p; l++) W[j * p + l] *= scale;
    }
}

kspec_status ks_fourier_draw(ks_fourier *f, const ks_kernel *kernel, size_t p, size_t q, uint64_t seed,
                             uint64_t draw, ks_arena *arena, kspec_error *err) {
    size_t count = ks_size(q, p);
    *f = (ks_fourier){.p = p, .q = q};
    kspec_status st = ks_simd_choose(&f->simd, err);
    if (st) return st;
    f->W = ks_arena_alloc(arena, count, sizeof *f->W);
    f->b = ks_arena_alloc(arena, q, sizeof *f->b);
    if (arena->failed) return ks_nomem(err, "the frequencies of the features", arena->failed);
    kspec_random_uniform(seed, ks_stream(KS_STREAM_TURNS, draw), 0, q, f->b);
    const kspec_kernel kind = kernel->kind;
    const int normal = kind == KSPEC_KERNEL_GAUSSIAN || kind == KSPEC_KERNEL_MATERN;
    const int orthogonal = kernel->frequencies == KSPEC_FREQUENCIES_ORTHOGONAL;
    const int paired = orthogonal || kernel->paired;
    const size_t different = paired ? (q + 1) / 2 : q;
    (normal ? kspec_random_normal : kspec_random_uniform)(seed, ks_stream(KS_STREAM_FREQUENCIES, draw), 0,
                                                          different * p, f->W);
    for (size_t j = 0; j < different && orthogonal; j += p)
        make_orthogonal(f->W + j * p, different - j < p ? different - j : p, p);
    if (kind == KSPEC_KERNEL_MATERN)
        ks_student_scale(f->W, kernel->nu, p, 0, different, seed, ks_stream(KS_STREAM_SCALES, draw));
    if (paired) make_pairs(f);
    for (size_t k = 0; k < count; k++) {
        /* These are the inverse distribution functions of Cauchy's and of Laplace's distribution. */
        double w = f->W[k], u = w - 0.5;
        if (kind == KSPEC_KERNEL_LAPLACE) w = tan(TURN / 2 * u);
        if (kind == KSPEC_KERNEL_CAUCHY) w = copysign(log1p(-2 * fabs(u)), u);
        f->W[k] = w / TURN;
    }
    return KSPEC_OK;
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
 * Returns how many rows of a product with n columns must be computed so that the first `rows` rows have the
 * same bits as in a whole tile. OpenBLAS rounds differently at the edge of its blocks, which are up to 16
 * rows high, and in its routines for small matrices (SkylakeX: up to 1200 entries).
 * tests/unit/test_norm_features.c tests six cores.
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
