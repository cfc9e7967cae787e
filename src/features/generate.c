/*
 * Generates matrices from processes whose kernel is known. Rows are generated in tiles at fixed positions,
 * and the entries of a tile depend only on the seed. So every division of the rows into bands, and every
 * number of threads, gives the same bits.
 */
#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/streams.h"
#include "features/noise.h"
#include "simd/simd.h"
#include "linalg/covariance.h"
#include "linalg/linalg.h"
#include "kspec/host.h"

#include <math.h>
#include <string.h>

enum { TILE = 64, GAUSSIAN_TILE = 512, GAUSSIAN_MAX_ROWS = 20000, WEIGHT_BLOCK = 512 };

struct kspec_generator {
    size_t P, Q; /* rows, columns */
    kspec_generate_opts o;
    ks_run run;
    const ks_simd *simd;
    ks_arena arena;
    ks_noise noise;
    size_t tile; /* the number of rows in a tile */
    /*
     * the dim x dim matrix M if Sigma or Sigma_x is given: x.w = z^T M v with standard normal z and v;
     * else NULL
     */
    double *M;
    double *W;      /* the weights, dim x Q, scaled so that an entry is a function of x.w */
    double *b;      /* Q: phases (rff) */
    double *L;      /* P x P: the Cholesky factor of the kernel matrix, for the gaussian process */
    double **tiles; /* room for tile x Q numbers for each worker */
    /* for each worker, room for tile x dim numbers; for gaussian, a tile of normals, tile x Q */
    double **inputs;
};

static double per_axis(const double *list, size_t count, size_t l) {
    return count == 0 ? 1 : list[count == 1 ? 0 : l];
}

/* ---- options ---- */

static void fill_defaults(kspec_generate_opts *o) {
    if (o->trials == 0) o->trials = 1;
    if (o->noise_share == 0) o->noise_share = 1;
    if (o->dim == 0) o->dim = o->process == KSPEC_PROCESS_LINEAR ? o->eigenvalue_count : o->eta_count;
    if (o->dim == 0 && (o->Sigma || o->Sigma_x)) o->dim = (o->Sigma ? o->Sigma : o->Sigma_x)->rows;
    if (o->dim == 0) o->dim = 1;
}

static kspec_status check_size(size_t P, size_t Q, const kspec_generate_opts *o, kspec_error *err) {
    if (P < 1 || Q < 1) return ks_fail(err, KSPEC_E_ARG, "rows %zu and columns %zu must be at least 1", P, Q);
    if (ks_size(ks_size(ks_size(P, Q), o->trials), sizeof(double)) > PTRDIFF_MAX ||
        ks_size(ks_size(o->dim, Q), sizeof(double)) > PTRDIFF_MAX)
        return ks_fail(err, KSPEC_E_ARG, "%zu trials of %zu x %zu in %zu dimensions exceed the address space",
                       o->trials, P, Q, o->dim);
    if (Q > INT32_MAX || o->dim > INT32_MAX)
        return ks_fail(err, KSPEC_E_ARG, "columns %zu and dimension %zu must not exceed %d", Q, o->dim,
                       INT32_MAX);
    if (o->process == KSPEC_PROCESS_GAUSSIAN && P > GAUSSIAN_MAX_ROWS)
        return ks_fail(err, KSPEC_E_ARG, "gaussian: %zu rows exceed %d (a rows x rows factor is needed)", P,
                       GAUSSIAN_MAX_ROWS);
    return KSPEC_OK;
}

/* A list has one value for all dimensions, or one value for each dimension. */
static kspec_status check_list(const double *list, size_t count, size_t dim, const char *many,
                               kspec_error *err) {
    if (count == 0) return KSPEC_OK;
    if (count > 1 && count != dim)
        return ks_fail(err, KSPEC_E_ARG, "%zu %s for dimension %zu", count, many, dim);
    return ks_check_pointer(err, list, many);
}

static kspec_status check_kernel(const kspec_generate_opts *o, kspec_error *err) {
    kspec_status st;
    if (o->process == KSPEC_PROCESS_LINEAR) {
        if ((st = check_list(o->eigenvalues, o->eigenvalue_count, o->dim, "eigenvalues", err))) return st;
        for (size_t l = 0; l < o->eigenvalue_count; l++)
            if (!(o->eigenvalues[l] >= 0 && o->eigenvalues[l] <= 1e300))
                return ks_fail(err, KSPEC_E_ARG, "eigenvalue %g is not between 0 and 1e300",
                               o->eigenvalues[l]);
        if (o->Sigma || o->Sigma_x) return ks_fail(err, KSPEC_E_ARG, "linear takes no Sigma and no Sigma_x");
        return KSPEC_OK;
    }
    if (o->eta_count && (o->Sigma || o->Sigma_x))
        return ks_refuse(err, KSPEC_E_ARG, "eta", NULL, "eta and Sigma, Sigma_x cannot be combined");
    if ((st = check_list(o->eta, o->eta_count, o->dim, "values of eta", err))) return st;
    for (size_t l = 0; l < o->eta_count; l++)
        if (!(o->eta[l] > 0 && o->eta[l] <= 1e300))
            return ks_fail(err, KSPEC_E_ARG, "eta %g is not between 0 and 1e300", o->eta[l]);
    return KSPEC_OK;
}

static kspec_status check(size_t P, size_t Q, const kspec_generate_opts *o, kspec_error *err) {
    if (o->process < KSPEC_PROCESS_RFF || o->process > KSPEC_PROCESS_GAUSSIAN)
        return ks_fail(err, KSPEC_E_ARG, "unknown process %d", (int)o->process);
    kspec_status st = check_size(P, Q, o, err);
    if (!st) st = check_kernel(o, err);
    if (st) return st;
    if (!(o->noise >= 0 && o->noise <= 1e300))
        return ks_fail(err, KSPEC_E_ARG, "noise %g is not between 0 and 1e300", o->noise);
    if (o->noise_correlation < KSPEC_NOISE_INDEPENDENT || o->noise_correlation > KSPEC_NOISE_BOTH)
        return ks_fail(err, KSPEC_E_ARG, "unknown noise correlation %d", (int)o->noise_correlation);
    if (!(o->noise_share > 0 && o->noise_share <= 1))
        return ks_fail(err, KSPEC_E_ARG, "noise share %g is not above 0 and at most 1", o->noise_share);
    return KSPEC_OK;
}

/* ---- the data shared by all bands ---- */

/* Computes the inputs, scaled so that the kernel is exp(-|x-x'|^2 / 2): z_l sqrt(eta_l), or z^T M. */
static kspec_status scaled_inputs(kspec_generator *g, double *X, double *sq, kspec_error *err) {
    size_t P = g->P, d = g->o.dim;
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
 * Computes the lower triangle of K_ij = exp(-|x_i - x_j|^2 / 2), then its Cholesky factor. For a smooth
 * kernel, K is singular up to rounding errors. So the function adds a nugget to the diagonal: the smallest
 * power of ten, from 1e-14 on, with which the factorisation succeeds.
 */
static kspec_status factor(kspec_generator *g, kspec_error *err) {
    size_t P = g->P, d = g->o.dim;
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

/* Computes W = M V for standard normal V, a block of columns at a time. */
static kspec_status weights_of_covariances(kspec_generator *g, kspec_error *err) {
    size_t d = g->o.dim, Q = g->Q, most = Q < WEIGHT_BLOCK ? Q : WEIGHT_BLOCK;
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

/* The weights are w_l ~ N(0, eta_l) for rff, and sqrt(c_l) N(0, 1) for linear. */
static void weights_of_lists(kspec_generator *g) {
    const kspec_generate_opts *o = &g->o;
    size_t Q = g->Q;
    for (size_t l = 0; l < o->dim; l++) {
        double *w = g->W + l * Q;
        double scale =
            sqrt(o->process == KSPEC_PROCESS_RFF ? per_axis(o->eta, o->eta_count, l)
                                                 : per_axis(o->eigenvalues, o->eigenvalue_count, l));
        kspec_random_normal(o->seed, ks_stream(KS_STREAM_WEIGHTS, 0), l * Q, Q, w);
        for (size_t j = 0; j < Q; j++) w[j] *= scale;
    }
}

static kspec_status allocate(kspec_generator *g, kspec_error *err) {
    const kspec_generate_opts *o = &g->o;
    int gaussian = o->process == KSPEC_PROCESS_GAUSSIAN;
    size_t Q = g->Q, workers = (size_t)g->run.threads, per_row = gaussian ? Q : o->dim;
    size_t shared = gaussian ? ks_size(g->P, g->P) : ks_size(o->dim, Q);
    size_t square = o->Sigma || o->Sigma_x ? ks_size(o->dim, o->dim) : 0;
    size_t values =
        ks_size_add(ks_size_add(shared, square), ks_size(ks_size(workers, g->tile), ks_size_add(Q, per_row)));
    kspec_status st = ks_check_memory(err, ks_size(values, sizeof(double)), "the generator");
    if (st) return st;
    g->tiles = ks_arena_zalloc(&g->arena, workers, sizeof *g->tiles);
    g->inputs = ks_arena_zalloc(&g->arena, workers, sizeof *g->inputs);
    for (size_t w = 0; w < workers && !g->arena.failed; w++) {
        g->tiles[w] = ks_arena_alloc(&g->arena, ks_size(g->tile, Q), sizeof(double));
        g->inputs[w] = ks_arena_alloc(&g->arena, ks_size(g->tile, per_row), sizeof(double));
    }
    *(gaussian ? &g->L : &g->W) = ks_arena_alloc(&g->arena, shared, sizeof(double));
    if (square) g->M = ks_arena_alloc(&g->arena, square, sizeof(double));
    if (o->process == KSPEC_PROCESS_RFF) g->b = ks_arena_alloc(&g->arena, Q, sizeof(double));
    return g->arena.failed ? ks_nomem(err, "the generator", g->arena.failed) : KSPEC_OK;
}

static kspec_status prepare(kspec_generator *g, kspec_error *err) {
    const kspec_generate_opts *o = &g->o;
    g->tile = o->process == KSPEC_PROCESS_GAUSSIAN ? GAUSSIAN_TILE : TILE;
    g->noise = ks_noise_of(o->noise, o->noise_correlation, o->noise_share);
    kspec_status st = allocate(g, err);
    if (!st && g->M) st = ks_relative_factor(o->Sigma, o->Sigma_x, o->dim, g->M, err);
    if (st) return st;
    if (g->L) return factor(g, err);
    if (g->b) {
        kspec_random_uniform(o->seed, ks_stream(KS_STREAM_PHASES, 0), 0, g->Q, g->b);
        for (size_t j = 0; j < g->Q; j++) g->b[j] *= 6.283185307179586;
    }
    if (g->M) return weights_of_covariances(g, err);
    weights_of_lists(g);
    return KSPEC_OK;
}

kspec_status kspec_generate_open(size_t rows, size_t cols, const kspec_generate_opts *opts,
                                 kspec_generator **out, kspec_error *err) {
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    kspec_generate_opts o;
    kspec_status st = ks_take_opts(&o, sizeof o, opts, err);
    if (st) return st;
    fill_defaults(&o);
    if ((st = check(rows, cols, &o, err))) return st;

    kspec_generator *g = ks_zalloc(1, sizeof *g);
    if (!g) return ks_nomem(err, "the generator", sizeof *g);
    g->P = rows, g->Q = cols, g->o = o;
    st = ks_run_init(&g->run, o.threads, o.progress, err);
    if (!st) st = ks_simd_choose(&g->simd, err);
    if (!st && !(st = ks_blas_enter(g->run.threads, err))) {
        st = prepare(g, err);
        ks_blas_exit();
    }
    if (st) {
        kspec_generate_close(g);
        return st;
    }
    /* The lists and matrices in the options belong to the caller, who may free them after the call. */
    g->o.eta = g->o.eigenvalues = NULL;
    g->o.Sigma = g->o.Sigma_x = NULL;
    *out = g;
    return KSPEC_OK;
}

void kspec_generate_close(kspec_generator *g) {
    if (!g) return;
    ks_arena_free(&g->arena);
    ks_free(g);
}

/* ---- bands of rows ---- */

typedef struct {
    kspec_generator *g;
    size_t trial, first, count;
    double *out;
} band;

/* Computes the tile L[rows, 0 ... last row] Z, where Z ~ N(0,1) is generated GAUSSIAN_TILE rows at a time. */
static void gaussian_tile(const kspec_generator *g, size_t row, size_t rows, double *tile, double *Z) {
    size_t Q = g->Q, P = g->P, end = row + rows;
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
    /* The code computes a whole tile, even if the band needs only some of its rows. */
    size_t row = (b->first / g->tile + chunk) * g->tile, rows = g->tile, Q = g->Q;
    double *tile = g->tiles[worker->index], *X = g->inputs[worker->index];
    if (o->process == KSPEC_PROCESS_GAUSSIAN) {
        if (rows > g->P - row) rows = g->P - row;
        gaussian_tile(g, row, rows, tile, X);
    } else {
        kspec_random_normal(o->seed, ks_stream(KS_STREAM_INPUTS, 0), row * o->dim, rows * o->dim, X);
        ks_gemm(0, 0, rows, Q, o->dim, 1, X, o->dim, g->W, Q, 0, tile, Q);
        if (o->process == KSPEC_PROCESS_RFF)
            for (size_t i = 0; i < rows; i++) g->simd->sin_features(tile + i * Q, g->b, Q);
    }
    size_t from = row < b->first ? b->first : row;
    size_t to = row + rows < b->first + b->count ? row + rows : b->first + b->count;
    double *out = b->out + (from - b->first) * Q;
    memcpy(out, tile + (from - row) * Q, (to - from) * Q * sizeof *out);
    /* The tile is free again at this point, and has room for two rows of scratch. */
    if (o->noise > 0) ks_noise_add(&g->noise, o->seed, b->trial, from, to - from, Q, out, tile);
    return KSPEC_OK;
}

kspec_status kspec_generate_rows(kspec_generator *g, size_t trial, size_t first, size_t count, double *out,
                                 kspec_error *err) {
    ks_clear(err);
    kspec_status st = ks_check_pointer(err, g, "the generator");
    if (!st && count) st = ks_check_pointer(err, out, "out");
    if (st) return st;
    size_t P = g->P;
    if (trial >= g->o.trials)
        return ks_fail(err, KSPEC_E_ARG, "trial %zu (from 0) is out of range: trials %zu", trial,
                       g->o.trials);
    if (first > P || count > P - first)
        return ks_fail(err, KSPEC_E_ARG, "rows %zu to %zu exceed the matrix's %zu rows", first, first + count,
                       P);
    if (count == 0) return KSPEC_OK;
    if ((st = ks_check_pointer(err, out, "the output array"))) return st;
    band b = {g, trial, first, count, out};
    size_t done = trial * P + first, total = g->o.trials * P;
    ks_run run = ks_run_part(&g->run, (double)done / (double)total, (double)(done + count) / (double)total);
    size_t chunks = (first + count - 1) / g->tile - first / g->tile + 1;
    if ((st = ks_blas_enter(run.threads, err))) return st;
    st = ks_parallel_for(&run, chunks, make_tile, &b, err);
    ks_blas_exit();
    return st;
}

kspec_status kspec_generate(size_t rows, size_t cols, const kspec_generate_opts *opts, double *out,
                            kspec_error *err) {
    kspec_generator *g;
    kspec_status st = kspec_generate_open(rows, cols, opts, &g, err);
    for (size_t t = 0; !st && t < g->o.trials; t++)
        st = kspec_generate_rows(g, t, 0, rows, out ? out + t * rows * cols : NULL, err);
    kspec_generate_close(g);
    return st;
}
