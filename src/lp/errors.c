/* Weights moments by their errors, and draws random moments. */
#include "lp/errors.h"

#include "base/error.h"
#include "base/streams.h"
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

/*
 * The errors of neighbouring moments have a correlation of 0.99 and more, which the jackknife estimates only
 * roughly. This number is therefore added to the diagonal before the inversion. Values between 1e-4 and 1e-2
 * change no result (docs/measurements/spectrum.md).
 */
static const double ridge = 1e-3;

double ks_to_units(double x, double d, double b, size_t n) {
    for (size_t k = 0; k < n; k++) x /= b;
    return x / d;
}

double ks_from_units(double mu, double d, double b, size_t n) {
    for (size_t k = 0; k < n; k++) mu *= b;
    return mu * d;
}

static int known(size_t K, const double *m, const double *std_error) {
    for (size_t n = 0; n < K && std_error; n++)
        if (!(std_error[n] > 1e-12 * fabs(m[n]) && isfinite(std_error[n]))) return 0;
    return std_error != NULL;
}

kspec_status ks_errors_init(ks_errors *e, size_t K, const double *m, const double *std_error,
                            const double *correlation, double d, double b, ks_arena *arena,
                            kspec_error *err) {
    *e = (ks_errors){.K = K};
    if (!known(K, m, std_error)) return KSPEC_OK;
    e->se = ks_arena_alloc(arena, K, sizeof *e->se);
    e->L = ks_arena_alloc(arena, ks_size(K, K), sizeof *e->L);
    if (arena->failed) return ks_nomem(err, "the errors of the moments", arena->failed);
    for (size_t n = 0; n < K; n++)
        for (size_t l = 0; l < K; l++)
            e->L[n * K + l] = (correlation ? correlation[n * K + l] : n == l) + (n == l) * ridge;
    for (size_t n = 0; n < K; n++) e->se[n] = ks_to_units(std_error[n], d, b, n + 1);
    kspec_status st = ks_blas_enter(1, err);
    if (st) return st;
    size_t bad = ks_potrf(K, e->L, K);
    ks_blas_exit();
    if (bad)
        return ks_fail(err, KSPEC_E_DATA,
                       "the correlation of the moments is not positive definite: order %zu of %zu", bad, K);
    return KSPEC_OK;
}

void ks_errors_weights(const ks_errors *e, size_t K, kspec_weights weights, double *W) {
    memset(W, 0, K * K * sizeof *W);
    for (size_t j = 0; j < K; j++) {
        if (weights != KSPEC_WEIGHTS_COVARIANCE) {
            W[j * K + j] = weights == KSPEC_WEIGHTS_STDERR ? 1 / e->se[j] : 1;
            continue;
        }
        /* column j of L^-1 diag(1/se), by forward substitution */
        for (size_t i = j; i < K; i++) {
            double x = i == j;
            for (size_t k = j; k < i; k++) x -= e->L[i * K + k] * W[k * K + j];
            W[i * K + j] = x / e->L[i * K + i];
        }
    }
    for (size_t k = 0; k < K * K && weights == KSPEC_WEIGHTS_COVARIANCE; k++) W[k] /= e->se[k % K];
}

void ks_errors_draw(const ks_errors *e, const double *mu, uint64_t seed, uint64_t k, double *z,
                    double *drawn) {
    kspec_random_normal(seed, ks_stream(KS_STREAM_DRAWS, 0), k * e->K, e->K, z);
    for (size_t n = 0; n < e->K; n++) {
        double x = 0;
        for (size_t l = 0; l <= n; l++) x += e->L[n * e->K + l] * z[l];
        drawn[n] = mu[n] + e->se[n] * x;
    }
}
