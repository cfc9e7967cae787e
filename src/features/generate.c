/*
 * Matrices from processes whose kernel is known. Entries are made in absolute tiles of rows, each a pure
 * function of the seed: however the caller bands the rows, and on however many threads, the same bits come
 * out.
 */
#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/streams.h"
#include "features/noise.h"
#include "simd/simd.h"
#include "linalg/covariance.h"
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

/* What each random stream is for; noise has its own. */

enum { TILE = 64, GAUSSIAN_TILE = 512, GAUSSIAN_MAX_ROWS = 20000, WEIGHT_BLOCK = 512 };

struct kspec_generator {
    kspec_generate_opts o;
    ks_run run;
    const ks_simd *kernels;
    ks_arena arena;
    ks_noise noise;
    size_t tile;    /* rows made at a time */
    double *M;      /* dim x dim, of Sigma and Sigma_x: x . w = z^T M v, z and v standard normal; else NULL */
    double *W;      /* dim x cols: weights, scaled so that an entry is a function of x . w */
    double *b;      /* cols: phases (rff) */
    double *L;      /* rows x rows: Cholesky factor of the kernel matrix (gaussian) */
    double **tiles; /* per worker: tile x cols */
    double **inputs; /* per worker: tile x dim, or a tile of normals, tile x cols (gaussian) */
};

static double per_axis(const double *list, size_t count, size_t l) {
    return count == 0 ? 1 : list[count == 1 ? 0 : l];
}

static kspec_status check(const kspec_generate_opts *o, kspec_error *err) {
    if (o->process < KSPEC_GENERATE_RFF || o->process > KSPEC_GENERATE_GAUSSIAN)
        return ks_fail(err, KSPEC_E_ARG, "process %d is none of rff, linear, gaussian", (int)o->process);
    if (o->rows < 1 || o->cols < 1 || o->dim < 1)
        return ks_fail(err, KSPEC_E_ARG, "rows %zu, columns %zu and dimension %zu must all be at least 1",
                       o->rows, o->cols, o->dim);
    if (ks_size(ks_size(ks_size(o->rows, o->cols), o->trials), sizeof(double)) > PTRDIFF_MAX ||
        ks_size(ks_size(o->dim, o->cols), sizeof(double)) > PTRDIFF_MAX)
        return ks_fail(err, KSPEC_E_ARG, "%zu trials of %zu x %zu in %zu dimensions exceed the address space",
                       o->trials, o->rows, o->cols, o->dim);
    if (o->cols > INT32_MAX || o->dim > INT32_MAX)
        return ks_fail(err, KSPEC_E_ARG, "columns %zu and dimension %zu must not exceed %d", o->cols, o->dim,
                       INT32_MAX);
    if (o->process == KSPEC_GENERATE_GAUSSIAN && o->rows > GAUSSIAN_MAX_ROWS)
        return ks_fail(err, KSPEC_E_ARG, "gaussian: %zu rows exceed %d (a rows x rows factor is needed)",
                       o->rows, GAUSSIAN_MAX_ROWS);
    if (o->process == KSPEC_GENERATE_LINEAR) {
        if (o->eigenvalue_count > 1 && o->eigenvalue_count != o->dim)
            return ks_fail(err, KSPEC_E_ARG, "%zu eigenvalues for dimension %zu", o->eigenvalue_count,
                           o->dim);
        for (size_t l = 0; l < o->eigenvalue_count; l++)
            if (!(o->eigenvalues[l] >= 0 && o->eigenvalues[l] <= 1e300))
                return ks_fail(err, KSPEC_E_ARG, "eigenvalue %g is not between 0 and 1e300",
                               o->eigenvalues[l]);
        if (o->sigma || o->sigma_x) return ks_fail(err, KSPEC_E_ARG, "linear takes no Sigma and no Sigma_x");
    } else {
        if (o->eta_count && (o->sigma || o->sigma_x))
            return ks_fail(err, KSPEC_E_ARG, "eta and Sigma, Sigma_x exclude each other");
        if (o->eta_count > 1 && o->eta_count != o->dim)
            return ks_fail(err, KSPEC_E_ARG, "%zu values of eta for dimension %zu", o->eta_count, o->dim);
        for (size_t l = 0; l < o->eta_count; l++)
            if (!(o->eta[l] > 0 && o->eta[l] <= 1e300))
                return ks_fail(err, KSPEC_E_ARG, "eta %g is not between 0 and 1e300", o->eta[l]);
    }
    if (!(o->noise >= 0 && o->noise <= 1e300))
        return ks_fail(err, KSPEC_E_ARG, "noise %g is not between 0 and 1e300", o->noise);
    if (o->noise_correlation < KSPEC_NOISE_INDEPENDENT || o->noise_correlation > KSPEC_NOISE_BOTH)
        return ks_fail(err, KSPEC_E_ARG, "noise correlation %d is none of rows, cols, both",
                       (int)o->noise_correlation);
    if (!(o->noise_share > 0 && o->noise_share <= 1))
        return ks_fail(err, KSPEC_E_ARG, "noise share %g is not above 0 and at most 1", o->noise_share);
    return KSPEC_OK;
}

/*
 * The inputs, so scaled that the kernel is exp(-|x-x'|^2 / 2): z_l sqrt(eta_l), or z^T M.
 */
static kspec_status scaled_inputs(kspec_generator *g, double *X, double *sq, kspec_error *err) {
    size_t P = g->o.rows, d = g->o.dim;
    kspec_status st = KSPEC_OK;
    if (g->M) {
        double *Z = ks_alloc(ks_size(P, d), sizeof *Z);
        if (!Z) return ks_nomem(err, "the inputs of the Gaussian process", ks_size(P, d) * sizeof *Z);
        ks_run part = ks_run_part(&g->run, 0, 0);
        kspec_random_normal(g->o.seed, ks_stream(KS_STREAM_INPUTS, 0), 0, P * d, Z);
        st = ks_gemm_tiled(&part, 0, 0, P, d, d, 1, Z, d, g->M, d, 0, X, d, err);
        ks_free(Z);
    } else {
        kspec_random_normal(g->o.seed, ks_stream(KS_STREAM_INPUTS, 0), 0, P * d, X);
        for (size_t k = 0; k < P * d; k++) X[k] *= sqrt(per_axis(g->o.eta, g->o.eta_count, k % d));
    }
    for (size_t i = 0; i < P && !st; i++) sq[i] = ks_dot(d, X + i * d, X + i * d);
    return st;
}

/*
 * The lower triangle of K_ij = exp(-|x_i - x_j|^2 / 2), then its Cholesky factor. K is singular
 * to rounding when the kernel is smooth, so a nugget is added to the diagonal: the smallest power of ten from
 * 1e-14 that makes the factorisation succeed.
 */
static kspec_status factor(kspec_generator *g, kspec_error *err) {
    size_t P = g->o.rows, d = g->o.dim;
    ks_arena scratch = {0};
    double *X = ks_arena_alloc(&scratch, ks_size(P, d), sizeof *X),
           *sq = ks_arena_alloc(&scratch, P, sizeof *sq);
    kspec_status st = KSPEC_OK;
    if (scratch.failed) {
        st = ks_nomem(err, "the inputs of the Gaussian process", scratch.failed);
        goto done;
    }
    if ((st = scaled_inputs(g, X, sq, err))) goto done;
    for (double nugget = 1e-14; nugget < 2e-8; nugget *= 10) {
        ks_run part = ks_run_part(&g->run, 0, 0);
        st = ks_gemm_tiled(&part, 0, 1, P, P, d, 1, X, d, X, d, 0, g->L, P, err);
        if (st) goto done;
        for (size_t i = 0; i < P; i++) {
            double *row = g->L + i * P;
            for (size_t j = 0; j < i; j++) row[j] = exp(row[j] - 0.5 * (sq[i] + sq[j]));
            row[i] = 1 + nugget;
        }
        if (ks_potrf(P, g->L, P) == 0) {
            for (size_t i = 0; i < P; i++) memset(g->L + i * P + i + 1, 0, (P - i - 1) * sizeof(double));
            goto done;
        }
    }
    st = ks_fail(err, KSPEC_E_NUMERIC, "gaussian: the kernel matrix of %zu rows is not positive definite", P);
done:
    ks_arena_free(&scratch);
    return st;
}

/* W = M V, V standard normal: a block of columns at a time */
static kspec_status weights_of_covariances(kspec_generator *g, kspec_error *err) {
    size_t d = g->o.dim, Q = g->o.cols, most = Q < WEIGHT_BLOCK ? Q : WEIGHT_BLOCK;
    double *V = ks_alloc(ks_size(d, most), sizeof *V);
    if (!V) return ks_nomem(err, "the weights", ks_size(ks_size(d, most), sizeof *V));
    for (size_t j = 0; j < Q; j += most) {
        size_t n = Q - j < most ? Q - j : most;
        for (size_t l = 0; l < d; l++)
            kspec_random_normal(g->o.seed, ks_stream(KS_STREAM_WEIGHTS, 0), l * Q + j, n, V + l * n);
        ks_gemm(0, 0, d, n, d, 1, g->M, d, V, n, 0, g->W + j, Q);
    }
    ks_free(V);
    return KSPEC_OK;
}

/* w_l ~ N(0, eta_l) for rff; sqrt(c_l) N(0, 1) for linear */
static void weights_of_lists(kspec_generator *g) {
    const kspec_generate_opts *o = &g->o;
    for (size_t l = 0; l < o->dim; l++) {
        double *w = g->W + l * o->cols;
        double scale =
            sqrt(o->process == KSPEC_GENERATE_RFF ? per_axis(o->eta, o->eta_count, l)
                                                  : per_axis(o->eigenvalues, o->eigenvalue_count, l));
        kspec_random_normal(o->seed, ks_stream(KS_STREAM_WEIGHTS, 0), l * o->cols, o->cols, w);
        for (size_t j = 0; j < o->cols; j++) w[j] *= scale;
    }
}

/* What all bands share is allocated here, and only if it is there to be had. */
static kspec_status allocate(kspec_generator *g, kspec_error *err) {
    const kspec_generate_opts *o = &g->o;
    int gaussian = o->process == KSPEC_GENERATE_GAUSSIAN;
    size_t workers = (size_t)g->run.threads, per_row = gaussian ? o->cols : o->dim;
    size_t shared = gaussian ? ks_size(o->rows, o->rows) : ks_size(o->dim, o->cols);
    size_t square = o->sigma || o->sigma_x ? ks_size(o->dim, o->dim) : 0;
    size_t values = ks_size_add(ks_size_add(shared, square),
                                ks_size(ks_size(workers, g->tile), ks_size_add(o->cols, per_row)));
    size_t need = ks_size(values, sizeof(double)), have = ks_memory_available();
    if (need > have)
        return ks_fail(err, KSPEC_E_NOMEM, "the generator needs %zu MiB of memory and there are %zu",
                       need >> 20, have >> 20);
    g->tiles = ks_arena_zalloc(&g->arena, workers, sizeof *g->tiles);
    g->inputs = ks_arena_zalloc(&g->arena, workers, sizeof *g->inputs);
    for (size_t w = 0; w < workers && !g->arena.failed; w++) {
        g->tiles[w] = ks_arena_alloc(&g->arena, ks_size(g->tile, o->cols), sizeof(double));
        g->inputs[w] = ks_arena_alloc(&g->arena, ks_size(g->tile, per_row), sizeof(double));
    }
    *(gaussian ? &g->L : &g->W) = ks_arena_alloc(&g->arena, shared, sizeof(double));
    if (square) g->M = ks_arena_alloc(&g->arena, square, sizeof(double));
    if (o->process == KSPEC_GENERATE_RFF) g->b = ks_arena_alloc(&g->arena, o->cols, sizeof(double));
    return g->arena.failed ? ks_nomem(err, "the generator", g->arena.failed) : KSPEC_OK;
}

static kspec_status prepare(kspec_generator *g, kspec_error *err) {
    const kspec_generate_opts *o = &g->o;
    g->tile = o->process == KSPEC_GENERATE_GAUSSIAN ? GAUSSIAN_TILE : TILE;
    g->noise = ks_noise_of(o->noise, o->noise_correlation, o->noise_share);
    kspec_status st = allocate(g, err);
    if (!st && g->M) st = ks_relative_factor(o->sigma, o->sigma_x, o->dim, g->M, err);
    if (st) return st;
    if (g->L) return factor(g, err);
    if (g->b) {
        kspec_random_uniform(o->seed, ks_stream(KS_STREAM_PHASES, 0), 0, o->cols, g->b);
        for (size_t j = 0; j < o->cols; j++) g->b[j] *= 6.283185307179586;
    }
    if (g->M) return weights_of_covariances(g, err);
    weights_of_lists(g);
    return KSPEC_OK;
}

kspec_status kspec_generate_open(const kspec_generate_opts *opts, kspec_generator **out, kspec_error *err) {
    ks_clear(err);
    *out = NULL;
    kspec_generate_opts o;
    kspec_status st = ks_take_opts(&o, sizeof o, opts, err);
    if (st) return st;
    if (o.trials == 0) o.trials = 1;
    if (o.noise_share == 0) o.noise_share = 1;
    if (o.process == KSPEC_GENERATE_LINEAR && o.dim == 0) o.dim = o.eigenvalue_count;
    if ((st = check(&o, err))) return st;

    kspec_generator *g = ks_zalloc(1, sizeof *g);
    if (!g) return ks_nomem(err, "the generator", sizeof *g);
    g->o = o;
    st = ks_run_init(&g->run, o.threads, o.progress, err);
    if (!st) st = ks_simd_choose(&g->kernels, err);
    if (!st) {
        ks_blas_enter();
        st = prepare(g, err);
        ks_blas_leave();
    }
    if (st) {
        kspec_generate_close(g);
        return st;
    }
    /* the caller's lists and matrices are borrowed for the call only */
    g->o.eta = g->o.eigenvalues = NULL;
    g->o.sigma = g->o.sigma_x = NULL;
    *out = g;
    return KSPEC_OK;
}

void kspec_generate_close(kspec_generator *g) {
    if (!g) return;
    ks_arena_free(&g->arena);
    ks_free(g);
}

typedef struct {
    kspec_generator *g;
    size_t trial, first, count;
    double *out;
} band;

/* tile = L[rows, 0 ... last row] Z, with Z ~ N(0,1) made GAUSSIAN_TILE rows at a time */
static void gaussian_tile(const kspec_generator *g, size_t row, size_t rows, double *tile, double *Z) {
    size_t Q = g->o.cols, P = g->o.rows, end = row + rows;
    for (size_t k = 0; k < end; k += GAUSSIAN_TILE) {
        size_t n = end - k < GAUSSIAN_TILE ? end - k : GAUSSIAN_TILE;
        kspec_random_normal(g->o.seed, ks_stream(KS_STREAM_FIELD, 0), k * Q, n * Q, Z);
        ks_gemm(0, 0, rows, Q, n, 1, g->L + row * P + k, P, Z, Q, k ? 1 : 0, tile, Q);
    }
}

static kspec_status make_tile(void *ctx, size_t chunk, const ks_worker *worker) {
    const band *b = ctx;
    const kspec_generator *g = b->g;
    const kspec_generate_opts *o = &g->o;
    size_t row = (b->first / g->tile + chunk) * g->tile; /* a whole tile, even where only part is wanted */
    double *tile = g->tiles[worker->index], *X = g->inputs[worker->index];
    size_t rows = g->tile;
    if (o->process == KSPEC_GENERATE_GAUSSIAN) {
        if (rows > o->rows - row) rows = o->rows - row;
        gaussian_tile(g, row, rows, tile, X);
    } else {
        kspec_random_normal(o->seed, ks_stream(KS_STREAM_INPUTS, 0), row * o->dim, rows * o->dim, X);
        ks_gemm(0, 0, rows, o->cols, o->dim, 1, X, o->dim, g->W, o->cols, 0, tile, o->cols);
        if (o->process == KSPEC_GENERATE_RFF)
            for (size_t i = 0; i < rows; i++) g->kernels->sin_features(tile + i * o->cols, g->b, o->cols);
    }
    size_t from = row < b->first ? b->first : row;
    size_t to = row + rows < b->first + b->count ? row + rows : b->first + b->count;
    double *out = b->out + (from - b->first) * o->cols;
    memcpy(out, tile + (from - row) * o->cols, (to - from) * o->cols * sizeof *out);
    /* the tile is free now, and has room for two rows */
    if (o->noise > 0) ks_noise_add(&g->noise, o->seed, b->trial, from, to - from, o->cols, out, tile);
    return KSPEC_OK;
}

kspec_status kspec_generate_rows(kspec_generator *g, size_t trial, size_t first, size_t count, double *out,
                                 kspec_error *err) {
    ks_clear(err);
    if (trial >= g->o.trials)
        return ks_fail(err, KSPEC_E_ARG, "trial %zu is not below %zu", trial, g->o.trials);
    if (first > g->o.rows || count > g->o.rows - first)
        return ks_fail(err, KSPEC_E_ARG, "rows %zu to %zu exceed the matrix's %zu rows", first, first + count,
                       g->o.rows);
    if (count == 0) return KSPEC_OK;
    band b = {g, trial, first, count, out};
    size_t done = trial * g->o.rows + first, total = g->o.trials * g->o.rows;
    ks_run run = ks_run_part(&g->run, (double)done / (double)total, (double)(done + count) / (double)total);
    size_t chunks = (first + count - 1) / g->tile - first / g->tile + 1;
    ks_blas_enter();
    kspec_status st = ks_parallel_for(&run, chunks, make_tile, &b, err);
    ks_blas_leave();
    return st;
}
