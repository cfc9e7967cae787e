/* Runs each method of kspec_norm() once: eigenproblem, Lanczos, samples of rows, random features. */
#include "norm/methods.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/streams.h"
#include "device/gpu.h"
#include "linalg/linalg.h"
#include "linalg/top.h"
#include "norm/gram.h"
#include "norm/rff.h"
#include "team/team.h"

#include <math.h>
#include <string.h>

static ks_iteration iteration(const ks_norm_job *j, uint64_t draw) {
    return (ks_iteration){j->o.updates, j->o.stop, j->o.seed, draw};
}

/*
 * Copies all rows or a sample of the rows. rows receives the row numbers (or NULL for all rows), and *in
 * receives the rows unless K is given.
 */
static kspec_status take_rows(const ks_norm_job *j, int sampled, uint64_t draw, ks_inputs *in, size_t **rows,
                              ks_arena *arena, kspec_error *err) {
    *in = j->in;
    *rows = NULL;
    if (!sampled) return KSPEC_OK;
    *rows = ks_arena_alloc(arena, j->n, sizeof **rows);
    if (!j->K) in->x = ks_arena_alloc(arena, ks_size(j->r, in->p), sizeof *in->x);
    if (arena->failed) return ks_nomem(err, "a sample of the rows", arena->failed);
    in->n = j->r;
    ks_sample_rows(j->n, j->r, j->o.sample_first, j->o.seed, ks_stream(KS_STREAM_SAMPLE, draw), *rows);
    for (size_t i = 0; i < j->r && !j->K; i++)
        memcpy(in->x + i * in->p, j->in.x + (*rows)[i] * in->p, in->p * sizeof *in->x);
    return KSPEC_OK;
}

static kspec_status open_gram(const ks_norm_job *j, const ks_run *run, int sampled, uint64_t draw,
                              size_t memory, ks_gram *g, ks_arena *arena, kspec_error *err) {
    ks_inputs in;
    size_t *rows;
    kspec_status st = take_rows(j, sampled, draw, &in, &rows, arena, err);
    if (st) return st;
    if (j->K) return ks_gram_take(g, run, j->K, j->unit, rows, sampled ? j->r : j->n, arena, err);
    return ks_gram_open(g, run, &in, &j->kernel, memory, arena, err);
}

/*
 * These methods find the largest eigenvalue of the matrix. That eigenvalue is not the norm if a negative
 * eigenvalue is larger in absolute value. Lanczos iteration detects negative eigenvalues that are too
 * large. Negative eigenvalues that come from rounding to single precision are accepted.
 */
static kspec_status check_definite(const ks_norm_job *j, const ks_run *run, ks_gram *g, kspec_error *err) {
    if (!j->K) return KSPEC_OK;
    ks_operator A = {g->n, ks_gram_apply, g};
    ks_iteration o = {100, 1e-3, j->o.seed, 0};
    ks_run part = ks_run_part(run, 1, 1);
    ks_top top;
    kspec_status st = ks_lanczos(&part, &A, &o, &top, err);
    if (!st && top.lowest < -1e-3 * top.value)
        st = ks_fail(err, KSPEC_E_DATA,
                     "not a Gram matrix: it has an eigenvalue of %g or below, and its largest is about %g",
                     top.lowest * j->unit, top.value * j->unit);
    return st;
}

/* Computes the residual of LAPACK's eigenpair with kspec's product, which checks LAPACK and kspec. */
static kspec_status eigen(const ks_norm_job *j, const ks_run *run, uint64_t draw, ks_norm_draw *out,
                          kspec_error *err) {
    size_t n = j->n;
    if (n > 32000) return ks_fail(err, KSPEC_E_ARG, "eigen: %zu rows exceed 32000; use lanczos", n);
    kspec_status st =
        ks_check_memory(err, ks_size(ks_size(n, n), sizeof(double)), "eigen: the Gram matrix of %zu rows", n);
    if (st) return st;
    double start = ks_now();
    ks_arena arena = {0};
    ks_gram g;
    /*
     * LAPACK takes nearly all of the time, on one CPU, so every rank of a team repeats the whole computation.
     */
    const ks_run alone = ks_run_alone(run);
    ks_run first = ks_run_part(&alone, 0, 0.1), second = ks_run_part(&alone, 0.9, 1);
    double *K = ks_arena_alloc(&arena, ks_size(n, n), sizeof *K), *v = ks_arena_alloc(&arena, n, sizeof *v),
           *w = ks_arena_alloc(&arena, n, sizeof *w);
    if (arena.failed) st = ks_nomem(err, "the Gram matrix", arena.failed);
    if (!st) st = open_gram(j, &first, 0, draw, 0, &g, &arena, err);
    if (!st) st = ks_gram_matrix(&g, &first, K, err);
    if (!st) st = ks_top_eigenpair(n, K, &out->top.value, v, err);
    out->seconds = ks_now() - start;
    if (!st) st = ks_gram_apply(&g, &second, v, w, err);
    double square = 0;
    for (size_t i = 0; i < n && !st; i++) square += pow(w[i] - out->top.value * v[i], 2);
    out->top.residual = out->top.value > 0 ? sqrt(square) / out->top.value : 0;
    out->top.converged = 1;
    out->top.value *= j->unit;
    if (!st) st = check_definite(j, &alone, &g, err);
    ks_arena_free(&arena);
    return st;
}

typedef kspec_status (*iterate_fn)(const ks_run *, const ks_operator *, const ks_iteration *, ks_top *,
                                   kspec_error *);

/* Computes y = K x on a device that stores the rows. Entries of K are computed as needed and never stored. */
static kspec_status apply_on_device(void *ctx, const ks_run *run, const double *x, double *y,
                                    kspec_error *err) {
    return ks_device_gram_times(run, ctx, x, y, err);
}

static kspec_status on_device(const ks_norm_job *j, const ks_run *run, uint64_t draw, int sampled,
                              iterate_fn iterate, ks_norm_draw *out, kspec_error *err) {
    double start = ks_now();
    ks_arena arena = {0};
    ks_inputs in;
    size_t *rows;
    const ks_backend *at = ks_backend_of(run);
    const ks_mat *X = NULL;
    ks_gram_job gram = {.metric = (int)ks_gram_metric(j->o.kernel)};
    kspec_status st = take_rows(j, sampled, draw, &in, &rows, &arena, err);
    double *h = st ? NULL : ks_arena_alloc(&arena, in.n, sizeof *h);
    if (!st && !h) st = ks_nomem(err, "the norms of the rows", arena.failed);
    if (!st) st = at->copy_in(run, in.x, in.n, in.p, "the rows", &X, err);
    if (!st) {
        gram.X = ks_mat_address(X), gram.n = in.n, gram.p = in.p;
        gram.h = ks_gram_by_products(&in, j->o.kernel, h) ? h : NULL;
        ks_operator A = {gram.n, apply_on_device, &gram};
        ks_iteration o = iteration(j, draw);
        st = iterate(run, &A, &o, &out->top, err);
        at->release(run, X);
    }
    if (sampled) out->top.value *= (double)j->n / (double)j->r;
    out->seconds = ks_now() - start;
    ks_arena_free(&arena);
    return st;
}

static kspec_status on_gram(const ks_norm_job *j, const ks_run *run, uint64_t draw, int sampled,
                            iterate_fn iterate, ks_norm_draw *out, kspec_error *err) {
    if (run->device && !j->K) return on_device(j, run, draw, sampled, iterate, out, err);
    double start = ks_now();
    ks_arena arena = {0};
    ks_gram g;
    ks_run first = ks_run_part(run, 0, 0.1), second = ks_run_part(run, 0.1, 1);
    kspec_status st = open_gram(j, &first, sampled, draw, j->o.memory, &g, &arena, err);
    if (!st) {
        ks_operator A = {g.n, ks_gram_apply, &g};
        ks_iteration o = iteration(j, draw);
        st = iterate(&second, &A, &o, &out->top, err);
    }
    out->top.value *= sampled ? j->unit * ((double)j->n / (double)j->r) : j->unit;
    out->seconds = ks_now() - start;
    if (!st) st = check_definite(j, run, &g, err);
    ks_arena_free(&arena);
    return st;
}

static kspec_status power(const ks_norm_job *j, const ks_run *run, uint64_t draw, ks_norm_draw *out,
                          kspec_error *err) {
    return on_gram(j, run, draw, 0, ks_power, out, err);
}

static kspec_status lanczos(const ks_norm_job *j, const ks_run *run, uint64_t draw, ks_norm_draw *out,
                            kspec_error *err) {
    return on_gram(j, run, draw, 0, ks_lanczos, out, err);
}

static kspec_status nystrom(const ks_norm_job *j, const ks_run *run, uint64_t draw, ks_norm_draw *out,
                            kspec_error *err) {
    return on_gram(j, run, draw, 1, ks_lanczos, out, err);
}

typedef struct {
    ks_rff *z;
    double *G;
} gram_step;

static kspec_status make_gram(void *ctx, const ks_run *run, kspec_error *err) {
    const gram_step *s = ctx;
    return ks_rff_gram(s->z, run, s->G, err);
}

static kspec_status debias(const ks_norm_job *j, const ks_run *run, ks_rff *z, int paired, int orders,
                           uint64_t draw, ks_debiased *out, ks_arena *arena, kspec_error *err) {
    size_t q = z->f.q;
    ks_run first = ks_run_part(run, 0, 0.5), second = ks_run_part(run, 0.5, 1);
    double *G = ks_arena_alloc(arena, ks_size(q, q), sizeof *G);
    if (!G) return ks_nomem(err, "the Gram matrix of the features", arena->failed);
    const ks_share stored = {G, q * sizeof *G, q, q};
    kspec_status st = ks_team_step(&first, "featuregram", make_gram, &(gram_step){z, G}, &stored, 1, err);
    return st ? st : ks_debias(&second, G, q, paired, z->n, orders, j->o.seed, draw, out, err);
}

/* Runs power iteration on Z, together with the debiased estimate from low orders. */
static kspec_status on_features(const ks_norm_job *j, const ks_run *run, uint64_t draw, int sampled,
                                ks_norm_draw *out, kspec_error *err) {
    double start = ks_now();
    ks_arena arena = {0};
    ks_inputs in;
    size_t *rows;
    ks_rff z = {0};
    ks_run first = ks_run_part(run, 0, 0.3), second = ks_run_part(run, 0.3, 0.7),
           third = ks_run_part(run, 0.7, 1);
    kspec_status st = take_rows(j, sampled, draw, &in, &rows, &arena, err);
    if (!st)
        st = ks_rff_open(&z, &first, &in, &j->kernel, j->o.features, j->o.seed, draw, j->o.memory, &arena,
                         err);
    if (!st) {
        ks_operator A = {z.f.q, ks_rff_apply, &z};
        ks_iteration o = iteration(j, draw);
        st = ks_power(&second, &A, &o, &out->top, err);
    }
    out->seconds = ks_now() - start;
    const int independent = j->o.frequencies == KSPEC_FREQUENCIES_IID;
    if (!st && j->o.features <= KS_DEBIASED_CHECK && independent && !j->pilot)
        st = debias(j, &third, &z, 0, KS_DEBIASED_EXACT, draw, &out->debiased, &arena, err);
    ks_rff_close(&z, run);
    double c = sampled ? (double)j->n / (double)j->r : 1;
    out->top.value *= c;
    out->debiased.value *= c, out->debiased.low *= c, out->debiased.high *= c;
    ks_arena_free(&arena);
    return st;
}

kspec_status ks_norm_features_value(const ks_norm_job *j, const ks_run *run, size_t q, uint64_t draw,
                                    double *value, kspec_error *err) {
    ks_norm_job pilot = *j;
    ks_norm_draw d = {0};
    pilot.pilot = 1, pilot.o.features = q;
    kspec_status st = on_features(&pilot, run, draw, 0, &d, err);
    *value = d.top.value;
    return st;
}

static kspec_status rff_power(const ks_norm_job *j, const ks_run *run, uint64_t draw, ks_norm_draw *out,
                              kspec_error *err) {
    return on_features(j, run, draw, 0, out, err);
}

static kspec_status rff_nystrom(const ks_norm_job *j, const ks_run *run, uint64_t draw, ks_norm_draw *out,
                                kspec_error *err) {
    return on_features(j, run, draw, 1, out, err);
}

/* This method uses Z only once, so it does not store Z. */
static kspec_status rff_debiased(const ks_norm_job *j, const ks_run *run, uint64_t draw, ks_norm_draw *out,
                                 kspec_error *err) {
    double start = ks_now();
    ks_arena arena = {0};
    ks_rff z = {0};
    ks_kernel kernel = j->kernel;
    kernel.paired = ks_norm_paired(j);
    kspec_status st = ks_rff_open(&z, run, &j->in, &kernel, j->o.features, j->o.seed, draw, 0, &arena, err);
    if (!st) st = debias(j, run, &z, kernel.paired, KS_DEBIASED_ORDERS, draw, &out->debiased, &arena, err);
    ks_rff_close(&z, run);
    out->top = (ks_top){out->debiased.value, NAN, 0, 1, 0};
    out->seconds = ks_now() - start;
    ks_arena_free(&arena);
    return st;
}

const ks_norm_method ks_norm_methods[] = {
    {KSPEC_NORM_METHOD_EIGEN, "eigen", eigen, 0, 0},
    {KSPEC_NORM_METHOD_POWER, "power", power, 0, 0},
    {KSPEC_NORM_METHOD_LANCZOS, "lanczos", lanczos, 0, 0},
    {KSPEC_NORM_METHOD_RFF_POWER, "rff-power", rff_power, 1, 0},
    {KSPEC_NORM_METHOD_NYSTROM, "nystrom", nystrom, 0, 1},
    {KSPEC_NORM_METHOD_RFF_NYSTROM, "rff-nystrom", rff_nystrom, 1, 1},
    {KSPEC_NORM_METHOD_RFF_DEBIASED, "rff-debiased", rff_debiased, 1, 0},
    {0},
};
