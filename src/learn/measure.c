/* Phi from the hidden layer, and its moments. */
#include "base/error.h"
#include "learn/run.h"
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

/* Phi (probe x N) = max(x.w, 0) in double precision */
static void activations(const ks_network *net, const kspec_learn_data *data, double *W, double *phi) {
    for (size_t i = 0; i < net->N; i++)
        for (size_t k = 0; k < net->d; k++) W[i * net->d + k] = net->W[i * net->cols + k];
    ks_gemm(0, 1, data->shape.probe, net->N, net->d, 1, data->probe, net->d, W, net->d, 0, phi, net->N);
    for (size_t k = 0; k < data->shape.probe * net->N; k++) phi[k] = phi[k] < 0 ? 0 : phi[k];
}

/* Divides by the root mean square; 0 if there is none to divide by */
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
 * The standard error of m(n)/m(1)^n at m(1) = 1, to first order: Var = s_n^2 - 2 n m(n) rho s_n s_1 + n^2 m(n)^2 s_1^2, with
 * s the errors of m(n) and m(1) and rho their correlation, all of them the jackknife's.
 */
static double ratio_error(const kspec_moments_result *r, size_t k) {
    const kspec_estimate *e = r->estimates[k];
    size_t one = 0; /* m(1), which is the same for all estimators */
    while (one < r->count && r->estimates[one]->n != 1) one++;
    if (!r->correlation || one == r->count) return NAN;
    double s = e->std_error, t = e->n * e->value * r->estimates[one]->std_error;
    double rho = r->correlation[k * r->count + one];
    if (e->n == 1 || isnan(s)) return e->n == 1 ? 0 : NAN;
    return sqrt(fmax(0, s * s - 2 * rho * s * t + t * t));
}

static kspec_status estimate(listener *s, uint64_t seed, const double *phi, size_t Q,
                             kspec_learn_estimate **out, size_t *count, kspec_error *err) {
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
    kspec_moments_result *r;
    kspec_status st = kspec_moments(&(kspec_matrix){phi, P, Q, (ptrdiff_t)Q, 1}, 1, &m, &r, err);
    if (st) return st;
    *out = ks_alloc(r->count, sizeof **out);
    if (!*out) st = ks_nomem(err, "the estimates", ks_size(r->count, sizeof **out));
    for (size_t k = 0; k < r->count && !st; k++)
        (*out)[k] = (kspec_learn_estimate){*r->estimates[k], ratio_error(r, k)};
    if (!st) *count = r->count;
    kspec_moments_free(r);
    return st;
}

static kspec_status silent(const ks_network *net, const kspec_learn_epoch *e, const char *which,
                           kspec_error *err) {
    return ks_fail(err, KSPEC_E_NUMERIC,
                   "width %zu, seed %llu: at epoch %zu %s is active on the probe images", net->N,
                   (unsigned long long)net->seed, e->epoch, which);
}

/* The subsample is drawn once for a run: columns of phi go to sub */
static void pick(const ks_network *net, size_t P, const double *phi, size_t Q, size_t *order, double *sub) {
    kspec_random_permutation(net->seed, ks_learn_stream(net->N, KS_LEARN_SUBSAMPLE), net->N, order);
    for (size_t i = 0; i < P; i++)
        for (size_t a = 0; a < Q; a++) sub[i * Q + a] = phi[i * net->N + order[a]];
}

kspec_status ks_learn_measure(ks_learning *l, const ks_network *net, int worker, kspec_learn_epoch *e,
                              kspec_error *err) {
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
    if (!st && l->o.store.activations) {
        kspec_matrix view = {phi, P, N, (ptrdiff_t)N, 1};
        pthread_mutex_lock(&l->lock);
        st = l->o.store.activations(l->o.store.ctx, N, net->seed, e->epoch, &view, err);
        pthread_mutex_unlock(&l->lock);
    }
    if (!st) st = estimate(&s, net->seed, phi, N, &e->estimates, &e->count, err);
    if (!st && Q) {
        pick(net, P, phi, Q, order, sub);
        if (!normalize(sub, P * Q)) st = silent(net, e, "no neuron of the subsample", err);
        if (!st) st = estimate(&s, net->seed, sub, Q, &e->subsample, &e->subsample_count, err);
    }
    ks_arena_free(&arena);
    return st;
}
