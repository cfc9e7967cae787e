#include "spectrum/mode.h"

#include "linalg/cholesky.h"
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

/* Added to the prior's variances, so that it has a Cholesky factor; theta stays within e^35 of its top. */
static const double jitter = 1e-7, depth = 35;

void ks_mode_alloc(const ks_problem *p, ks_arena *arena, size_t count, ks_mode *m) {
    double *x = ks_arena_alloc(arena, ks_size(count, 2 * p->N), sizeof *x);
    ks_cplx *k = ks_arena_alloc(arena, ks_size(count, p->o->K), sizeof *k);
    for (size_t i = 0; i < count && !arena->failed; i++) {
        m[i].theta = x + 2 * i * p->N;
        m[i].variance = m[i].theta + p->N;
        m[i].log_kappa = k + i * p->o->K;
    }
}

void ks_mode_work_alloc(const ks_problem *p, ks_arena *arena, ks_mode_work *w) {
    size_t N = p->N, m = p->o->m, K = p->o->K, square = ks_size(N, N), wide = ks_size(m, N), used = 0;
    struct {
        double **at;
        size_t n;
    } arrays[] = {{&w->prior, square}, {&w->hessian, square},
                  {&w->root, square},  {&w->jacobian, wide},
                  {&w->design, wide},  {&w->mean, 2 * N},
                  {&w->xi, N},         {&w->xi_next, N},
                  {&w->theta, N},      {&w->theta_next, N},
                  {&w->step, N},       {&w->lambda, ks_padded(p->n)},
                  {&w->value, m},      {&w->z, m},
                  {&w->z_next, m},     {&w->log_x, m},
                  {&w->x_rho, m}};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) used = ks_size_add(used, arrays[k].n);
    double *x = ks_arena_alloc(arena, used, sizeof *x);
    w->log_kappa = ks_arena_alloc(arena, 2 * K, sizeof *w->log_kappa);
    if (arena->failed) return;
    w->log_kappa_next = w->log_kappa + K;
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        *arrays[k].at = x;
        x += arrays[k].n;
    }
}

/* w->value (m) and w->jacobian (m x N) at theta: log eigenvalues of the sample, and the share beyond. */
static void model(const ks_problem *p, ks_mode_work *w, const double *theta, ks_cplx *log_kappa) {
    const ks_observed *o = p->o;
    size_t K = o->K, N = p->N;
    ks_spectrum s = ks_problem_spectrum(p, theta, w->lambda);
    ks_forward(&s, K, o->level, log_kappa, w->log_x, w->x_rho);
    ks_elasticity(&s, K, log_kappa, w->jacobian, N);
    memcpy(w->value, w->log_x, K * sizeof *w->value);
    if (!o->tail) return;
    /* all that there is, less the mean of what the K eigenvalues of the sample hold */
    double beyond = s.dust, *row = w->jacobian + K * N;
    for (size_t l = 0; l < p->n; l++) beyond += row[l] = s.weight[l] * s.lambda[l];
    if (p->dust) row[p->n] = s.dust;
    for (size_t i = 0; i < K; i++) {
        double q = exp(w->log_x[i] + o->shift[i] + o->half[i]);
        const double *from = w->jacobian + i * N;
        beyond -= q;
        for (size_t l = 0; l < N; l++) row[l] -= q * from[l];
    }
    w->value[K] = beyond / o->trace;
    for (size_t l = 0; l < N; l++) row[l] /= o->trace;
}

/* z = L^-1 (y - value); returns |z|^2 */
static double residual(const ks_observed *o, const double *value, double *z) {
    for (size_t i = 0; i < o->m; i++) z[i] = o->y[i] - value[i];
    ks_trsm(o->m, 1, o->L, o->m, z, 1);
    return ks_dot(o->m, z, z);
}

/* The prior's mean, and its factor with zeros above the diagonal. 0 where it is not definite. */
static int prepare_prior(const ks_problem *p, const ks_family *f, ks_mode_work *w) {
    size_t N = p->N;
    ks_family_prior(p, f, w->prior, w->mean);
    for (size_t k = 0; k < N; k++) w->prior[k * N + k] += jitter;
    if (ks_potrf(N, w->prior, N)) return 0;
    for (size_t k = 0; k < N; k++)
        for (size_t l = k + 1; l < N; l++) w->prior[k * N + l] = 0;
    return 1;
}

/* design = L^-1 J A, hessian = the factor of design^T design + 1. 0 where it fails. */
static int linearise(const ks_problem *p, ks_mode_work *w) {
    size_t N = p->N, m = p->o->m;
    ks_gemm(0, 0, m, N, N, 1, w->jacobian, N, w->prior, N, 0, w->design, N);
    ks_trsm(m, N, p->o->L, m, w->design, N);
    ks_syrk(1, N, m, 1, w->design, N, w->hessian, N);
    for (size_t k = 0; k < N; k++) w->hessian[k * N + k] += 1;
    return ks_potrf(N, w->hessian, N) == 0;
}

/* theta = mean + A xi, cut at the depth */
static void unwhiten(const ks_problem *p, const ks_mode_work *w, const double *xi, double *theta) {
    size_t N = p->N;
    for (size_t k = 0; k < N; k++) theta[k] = w->mean[k] + ks_dot(k + 1, w->prior + k * N, xi);
    double top = -INFINITY;
    for (size_t k = 0; k < p->o->K; k++) top = fmax(top, theta[k]);
    for (size_t k = 0; k < N; k++) theta[k] = fmax(theta[k], top - depth);
}

static double largest(size_t n, const double *x) {
    double top = -INFINITY;
    for (size_t k = 0; k < n; k++) top = fmax(top, x[k]);
    return top;
}

/* The Gauss-Newton step of xi; returns the largest change of a log eigenvalue at the levels. */
static double propose(const ks_problem *p, ks_mode_work *w) {
    size_t N = p->N, m = p->o->m;
    for (size_t k = 0; k < N; k++) w->step[k] = -w->xi[k];
    for (size_t i = 0; i < m; i++)
        for (size_t k = 0; k < N; k++) w->step[k] += w->design[i * N + k] * w->z[i];
    ks_potrs(N, 1, w->hessian, N, w->step, 1);
    double most = 0;
    for (size_t k = 0; k < p->o->K; k++) most = fmax(most, fabs(ks_dot(k + 1, w->prior + k * N, w->step)));
    return most;
}

static int finite(size_t n, const double *x) {
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i])) return 0;
    return 1;
}

/* One iteration: 1 goes on, 0 has converged, -1 found nothing better and was far from it. */
static int iterate(const ks_problem *p, ks_mode_work *w, double *objective) {
    size_t N = p->N, K = p->o->K, m = p->o->m;
    if (!linearise(p, w)) return -1;
    double most = propose(p, w), share = fmin(1, 2 / fmax(most, 1e-12));
    for (int half = 0; half < 8; half++, share *= 0.35) {
        for (size_t k = 0; k < N; k++) w->xi_next[k] = w->xi[k] + share * w->step[k];
        unwhiten(p, w, w->xi_next, w->theta_next);
        if (!(largest(p->n, w->theta_next) < largest(p->n, w->theta) + 6)) continue;
        memcpy(w->log_kappa_next, w->log_kappa, K * sizeof *w->log_kappa);
        model(p, w, w->theta_next, w->log_kappa_next);
        if (!finite(m, w->value)) continue;
        double next = residual(p->o, w->value, w->z_next) + ks_dot(N, w->xi_next, w->xi_next);
        if (!(next < *objective + 1e-6)) continue;
        double fall = *objective - next;
        memcpy(w->xi, w->xi_next, N * sizeof *w->xi);
        memcpy(w->theta, w->theta_next, N * sizeof *w->theta);
        memcpy(w->z, w->z_next, m * sizeof *w->z);
        memcpy(w->log_kappa, w->log_kappa_next, K * sizeof *w->log_kappa);
        *objective = next;
        return fall < 5e-3 || most * share < 5e-3 ? 0 : 1;
    }
    model(p, w, w->theta, w->log_kappa); /* its Jacobian, which the candidates have overwritten */
    return most < 0.1 ? 0 : -1;
}

/* Steps up between neighbouring nodes that a spectrum in decreasing order does not have. */
static int nearly_decreasing(size_t n, const double *theta) {
    for (size_t k = 1; k < n; k++)
        if (theta[k] - theta[k - 1] > 0.5) return 0;
    return 1;
}

/* The root of the posterior covariance, from the Hessian's factor: C^-1 A^T. */
static void posterior_root(const ks_problem *p, ks_mode_work *w) {
    size_t N = p->N;
    for (size_t k = 0; k < N; k++)
        for (size_t l = 0; l < N; l++) w->root[k * N + l] = w->prior[l * N + k];
    ks_trsm(N, N, w->hessian, N, w->root, N);
}

void ks_mode_find(const ks_problem *p, ks_mode_work *w, const double *theta, const ks_cplx *log_kappa,
                  ks_mode *m) {
    size_t N = p->N, K = p->o->K;
    m->found = 0;
    if (!prepare_prior(p, &m->family, w)) return;
    memcpy(w->theta, theta, N * sizeof *theta);
    memcpy(w->log_kappa, log_kappa, K * sizeof *log_kappa);
    for (size_t k = 0; k < N; k++) w->xi[k] = theta[k] - w->mean[k];
    ks_trsm(N, 1, w->prior, N, w->xi, 1);
    model(p, w, w->theta, w->log_kappa);
    if (!finite(p->o->m, w->value)) return;
    double objective = residual(p->o, w->value, w->z) + ks_dot(N, w->xi, w->xi);
    int state = 1;
    for (int k = 0; k < 25 && state == 1; k++) state = iterate(p, w, &objective);
    if (!linearise(p, w)) return;
    m->chi2 = ks_dot(p->o->m, w->z, w->z);
    /* Laplace: -objective/2 - log det C - log det L */
    m->evidence = -0.5 * objective;
    for (size_t k = 0; k < N; k++) m->evidence -= log(w->hessian[k * N + k]);
    for (size_t k = 0; k < p->o->m; k++) m->evidence -= log(p->o->L[k * p->o->m + k]);
    if (!isfinite(m->evidence)) return;
    m->log_weight = m->evidence + m->family.log_weight;
    memcpy(m->theta, w->theta, N * sizeof *m->theta);
    memcpy(m->log_kappa, w->log_kappa, K * sizeof *m->log_kappa);
    m->found = state == 0 && nearly_decreasing(p->n, w->theta) ? 2 : 1;
    posterior_root(p, w);
    memset(m->variance, 0, N * sizeof *m->variance);
    for (size_t k = 0; k < N; k++)
        for (size_t l = 0; l < N; l++) m->variance[l] += w->root[k * N + l] * w->root[k * N + l];
}

int ks_mode_root(const ks_problem *p, ks_mode_work *w, const ks_mode *m) {
    if (!prepare_prior(p, &m->family, w)) return 0;
    memcpy(w->log_kappa, m->log_kappa, p->o->K * sizeof *w->log_kappa);
    model(p, w, m->theta, w->log_kappa);
    if (!finite(p->o->m, w->value) || !linearise(p, w)) return 0;
    posterior_root(p, w);
    return 1;
}
