/* Takes Phi from the hidden layer and estimates its moments. */
#include "base/error.h"
#include "base/matrix.h"
#include "base/result.h"
#include "base/streams.h"
#include "learn/run.h"
#include "linalg/linalg.h"

#include <math.h>

/* Computes Phi (probe x N) = max(x.w, 0) in double precision. */
static void activations(const ks_network *net, const kspec_learn_data *data, double *W, double *phi) {
    for (size_t i = 0; i < net->N; i++)
        for (size_t k = 0; k < net->d; k++) W[i * net->d + k] = net->W[i * net->cols + k];
    ks_gemm(0, 1, data->shape.probe, net->N, net->d, 1, data->probe, net->d, W, net->d, 0, phi, net->N);
    for (size_t k = 0; k < data->shape.probe * net->N; k++) phi[k] = phi[k] < 0 ? 0 : phi[k];
}

/* Divides by the root mean square, and returns 0 if the root mean square is 0 or not finite. */
static int normalize(double *phi, size_t count) {
    double sum = 0;
    for (size_t k = 0; k < count; k++) sum += phi[k] * phi[k];
    double rms = sqrt(sum / (double)count);
    if (!(rms > 0 && isfinite(rms))) return 0;
    for (size_t k = 0; k < count; k++) phi[k] /= rms;
    return 1;
}

typedef struct {
    ks_learning *l;
    int worker;
} listener;

static int listen(void *ctx, double fraction) {
    (void)fraction;
    listener *s = ctx;
    return s->l->poll(s->l->ctx, s->worker);
}

/*
 * The standard error of m(n)/m(1)^n at m(1) = 1, to first order: Var = s_n^2 - 2 n m(n) rho s_n s_1 +
 * n^2 m(n)^2 s_1^2, with s the errors of m(n) and m(1) and rho their correlation, all from the jackknife.
 */
static double ratio_error(const kspec_moments_result *r, size_t k) {
    const kspec_estimate *e = r->estimates[k];
    size_t one = 0; /* the position of m(1), which is equal for all estimators */
    while (one < r->count && r->estimates[one]->n != 1) one++;
    if (!r->correlation || one == r->count) return NAN;
    double s = e->std_error, t = e->n * e->value * r->estimates[one]->std_error;
    double rho = r->correlation[k * r->count + one];
    if (e->n == 1 || isnan(s)) return e->n == 1 ? 0 : NAN;
    return sqrt(fmax(0, s * s - 2 * rho * s * t + t * t));
}

kspec_learn_moments *ks_learn_moments_new(ks_arena *arena, size_t count) {
    kspec_learn_moments *m = ks_arena_zalloc(arena, 1, sizeof *m);
    kspec_estimate **estimates = ks_arena_list(arena, count, sizeof **estimates);
    double *ratio_error = ks_arena_alloc(arena, count, sizeof *ratio_error);
    if (arena->failed) return NULL;
    *m = (kspec_learn_moments){count, estimates, ratio_error};
    return m;
}

static kspec_status estimate(listener *s, uint64_t seed, const double *phi, size_t Q, ks_arena *arena,
                             kspec_learn_moments **out, kspec_error *err) {
    const kspec_learn_opts *o = &s->l->o;
    size_t P = s->l->data->shape.probe;
    kspec_moments_opts m = {.size = sizeof m,
                            .nmax = o->nmax,
                            .estimators = o->estimators,
                            .seed = seed,
                            .threads = 1,
                            .progress = {listen, s},
                            .permutations = o->permutations,
                            .side = o->side,
                            .no_stderr = o->no_stderr,
                            .correlation = !o->no_stderr};
    kspec_matrix view = ks_matrix_of(phi, P, Q);
    kspec_moments_result *r;
    kspec_status st = kspec_moments(&view, 1, &m, &r, err);
    if (st) return st;
    *out = ks_learn_moments_new(arena, r->count);
    if (!*out) st = ks_nomem(err, "the estimates", arena->failed);
    for (size_t k = 0; k < r->count && !st; k++) {
        *(*out)->estimates[k] = *r->estimates[k];
        (*out)->ratio_error[k] = ratio_error(r, k);
    }
    kspec_free(r);
    return st;
}

static kspec_status silent(const ks_network *net, const kspec_learn_epoch *e, const char *which,
                           kspec_error *err) {
    return ks_fail(err, KSPEC_E_NUMERIC,
                   "width %zu, seed %llu: at epoch %zu %s is active on the probe images", net->N,
                   (unsigned long long)net->seed, e->epoch, which);
}

/* Copies the columns of the subsample, drawn once for a run, from phi to sub */
static void pick(const ks_network *net, size_t P, const double *phi, size_t Q, size_t *order, double *sub) {
    ks_random_permutation(net->seed, ks_learn_stream(net->N, KS_LEARN_SUBSAMPLE), net->N, order);
    for (size_t i = 0; i < P; i++)
        for (size_t a = 0; a < Q; a++) sub[i * Q + a] = phi[i * net->N + order[a]];
}

/* Writes Phi to the store. */
static kspec_status store_activations(ks_learning *l, const ks_network *net, size_t epoch, const double *phi,
                                      kspec_error *err) {
    if (!l->store.activations) return KSPEC_OK;
    kspec_matrix view = ks_matrix_of(phi, l->data->shape.probe, net->N);
    pthread_mutex_lock(&l->lock);
    kspec_status st = l->store.activations(l->store.ctx, net->N, net->seed, epoch, &view, err);
    pthread_mutex_unlock(&l->lock);
    return st;
}

kspec_status ks_learn_measure(ks_learning *l, const ks_network *net, int worker, ks_arena *kept,
                              kspec_learn_epoch *e, kspec_error *err) {
    size_t P = l->data->shape.probe, N = net->N, Q = l->o.subsample <= N ? l->o.subsample : 0;
    ks_arena arena = {0};
    double *phi = ks_arena_alloc(&arena, ks_size(P, N), sizeof *phi);
    double *W = ks_arena_alloc(&arena, ks_size(N, net->d), sizeof *W);
    double *sub = ks_arena_alloc(&arena, ks_size(P, Q), sizeof *sub);
    size_t *order = ks_arena_alloc(&arena, N, sizeof *order);
    listener s = {l, worker};
    kspec_status st = KSPEC_OK;
    if (arena.failed)
        st = ks_nomem(err, "the activations", arena.failed);
    else
        activations(net, l->data, W, phi);
    if (!st && !normalize(phi, P * N)) st = silent(net, e, "no neuron", err);
    if (!st) st = store_activations(l, net, e->epoch, phi, err);
    if (!st) st = estimate(&s, net->seed, phi, N, kept, &e->moments, err);
    if (!st && Q) {
        pick(net, P, phi, Q, order, sub);
        if (!normalize(sub, P * Q)) st = silent(net, e, "no neuron of the subsample", err);
        if (!st) st = estimate(&s, net->seed, sub, Q, kept, &e->subsample, err);
    }
    ks_arena_free(&arena);
    return st;
}
