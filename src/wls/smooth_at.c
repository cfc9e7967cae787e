/* Evaluates the curve and its standard deviation, at any points and on the grid of the data. */
#include "base/error.h"
#include "wls/smooth.h"

#include <math.h>
#include <string.h>

typedef struct {
    const ks_posterior *post;
    /* functions that count */
    size_t K;
    const double *x;
    size_t count;
    ks_cplx *curve;
    double *deviation;
} at_job;

enum { POINTS = 64 };

/*
 * Coefficients after this one are below 1e-13 of the largest coefficient, and together below 1e-8 of the
 * variance.
 */
static size_t significant(const ks_posterior *p) {
    const size_t K = p->data->K;
    if (p->full) return K;
    double most = 0, all = 0, tail = 0;
    for (size_t k = 0; k < K; k++) most = fmax(most, fabs(p->theta[k])), all += p->diagonal[k];
    for (size_t k = K; k > 1; k--) {
        tail += p->diagonal[k - 1];
        int counts = tail > 1e-8 * all || fabs(p->theta[k - 1]) > 1e-13 * most;
        for (size_t i = 0; i < p->spread && !counts; i++)
            counts = fabs(p->vectors[i * K + k - 1]) > 1e-13 * most;
        if (counts) return k;
    }
    return 1;
}

static double variance_at(const ks_posterior *p, size_t K, const double *phi) {
    double sum = 0;
    if (p->full) {
        for (size_t i = 0; i < K; i++) {
            double row = 0;
            for (size_t k = 0; k < i; k++) row += p->full[i * K + k] * phi[k];
            sum += phi[i] * (2 * row + p->full[i * K + i] * phi[i]);
        }
        return sum;
    }
    for (size_t k = 0; k < K; k++) sum += p->diagonal[k] * phi[k] * phi[k];
    for (size_t i = 0; i < p->spread; i++) {
        double dot = 0;
        for (size_t k = 0; k < K; k++) dot += p->vectors[i * p->data->K + k] * phi[k];
        sum += dot * dot;
    }
    return sum;
}

static kspec_status some(void *ctx, size_t chunk, const ks_worker *worker) {
    const at_job *j = ctx;
    ks_basis b = j->post->data->basis;
    const size_t parts = ks_basis_parts(&b),
                 end = (chunk + 1) * POINTS < j->count ? (chunk + 1) * POINTS : j->count;
    b.K = j->K;
    double *phi = ks_alloc(ks_size(parts, b.K), sizeof *phi);
    if (!phi) return ks_nomem(worker->err, "functions", ks_size(parts, b.K) * sizeof *phi);
    for (size_t i = chunk * POINTS; i < end; i++) {
        double value[2] = {0, 0}, most = 0;
        ks_basis_values(&b, j->x[i], phi);
        for (size_t c = 0; c < parts; c++) {
            for (size_t k = 0; k < b.K; k++) value[c] += j->post->theta[k] * phi[c * b.K + k];
            most = fmax(most, variance_at(j->post, b.K, phi + c * b.K));
        }
        j->curve[i] = (ks_cplx){value[0], value[1]};
        j->deviation[i] = sqrt(most);
    }
    ks_free(phi);
    return KSPEC_OK;
}

kspec_status ks_smooth_at(const ks_run *run, const ks_posterior *post, const double *x, size_t count,
                          ks_cplx *curve, double *deviation, kspec_error *err) {
    at_job j = {post, significant(post), x, count, curve, deviation};
    return ks_parallel_for(run, (count + POINTS - 1) / POINTS, some, &j, err);
}

kspec_status ks_smooth_at_grid(const ks_posterior *post, ks_cplx *curve, double *deviation,
                               kspec_error *err) {
    const ks_reduced *r = post->data;
    ks_cplx *one = ks_alloc(r->N, sizeof *one);
    if (!one) return ks_nomem(err, "the curve", ks_size(r->N, sizeof *one));
    kspec_status st = ks_smooth_on_grid(r, post->theta, post->diagonal, curve, deviation, err);
    for (size_t i = 0; i < post->spread && !st; i++) {
        st = ks_smooth_on_grid(r, post->vectors + i * r->K, NULL, one, NULL, err);
        for (size_t j = 0; j < r->N && !st; j++)
            deviation[j] += fmax(one[j].re * one[j].re, one[j].im * one[j].im);
    }
    for (size_t j = 0; j < r->N; j++) deviation[j] = sqrt(fmax(deviation[j], 0));
    ks_free(one);
    return st;
}
