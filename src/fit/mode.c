/*
 * Finds a family's most likely spectrum by the Gauss-Newton method, and its evidence by Laplace's
 * approximation.
 */
#include "fit/mode.h"

#include "linalg/cholesky.h"
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

/*
 * The code adds `jitter` to the prior's variances, so that a Cholesky factor exists. theta may fall at most
 * `depth` below its largest value.
 */
static const double jitter = 1e-7, depth = 35;

void ks_mode_alloc(const ks_problem *p, ks_arena *arena, size_t count, ks_mode *m) {
    double *x = ks_arena_alloc(arena, ks_size(count, 2 * p->N), sizeof *x);
    ks_cplx *k = ks_arena_alloc(arena, ks_size(count, p->o->K), sizeof *k);
    for (size_t i = 0; i < count && !arena->failed; i++) {
        m[i].theta = x + 2 * i * p->N;
        m[i].variance = m[i].theta + p->N;
        m[i].log_c = k + i * p->o->K;
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
                  {&w->x_rho, m},      {&w->weight, ks_padded(p->n)}};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) used = ks_size_add(used, arrays[k].n);
    double *x = ks_arena_alloc(arena, used, sizeof *x);
    w->log_c = ks_arena_alloc(arena, 2 * K, sizeof *w->log_c);
    if (arena->failed) return;
    w->log_c_next = w->log_c + K;
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++) {
        *arrays[k].at = x;
        x += arrays[k].n;
    }
}

/*
 * Copies the family's nodes, which are the problem's first nodes. The family's last node may stand for fewer
 * eigenvalues.
 */
static void take_family(const ks_problem *p, const ks_family *f, ks_mode_work *w) {
    size_t n = w->n = ks_family_nodes(p, f);
    w->N = n + (size_t)p->dust;
    memset(w->weight, 0, ks_padded(n) * sizeof *w->weight);
    memcpy(w->weight, p->weight, n * sizeof *w->weight);
    w->weight[n - 1] = (double)(f->end - p->before[n - 1]);
    w->total = (double)f->end;
}

/* Copies the problem's unknowns to the family's, where the noise follows directly after the nodes. */
static void gather(const ks_problem *p, const ks_mode_work *w, const double *theta, double *own) {
    memcpy(own, theta, w->n * sizeof *own);
    if (p->dust) own[w->n] = theta[p->n];
}

/* Copies the family's unknowns back to the problem's, and writes `missing` beyond the end. */
static void spread(const ks_problem *p, const ks_mode_work *w, const double *own, double missing,
                   double *theta) {
    for (size_t l = 0; l < p->n; l++) theta[l] = l < w->n ? own[l] : missing;
    if (p->dust) theta[p->n] = own[w->n];
}

static size_t leading_ones(size_t n, const double *weight) {
    size_t k = 0;
    while (k < n && weight[k] == 1) k++;
    return k;
}

static ks_spectrum spectrum(const ks_problem *p, const ks_mode_work *w, const double *theta) {
    for (size_t l = 0; l < w->n; l++) w->lambda[l] = exp(theta[l]);
    for (size_t l = w->n; l < ks_padded(w->n); l++) w->lambda[l] = 1;
    return (ks_spectrum){.n = w->n,
                         .lambda = w->lambda,
                         .weight = w->weight,
                         .ones = leading_ones(w->n, w->weight),
                         .total = w->total,
                         .dust = p->dust ? exp(theta[w->n]) : 0,
                         .P = p->o->x->d.rows,
                         .Q = p->o->x->d.cols,
                         .simd = p->simd,
                         .columns = p->o->x->d.columns};
}

ks_spectrum ks_mode_spectrum(const ks_problem *p, ks_mode_work *w, const double *theta) {
    ks_family f = {.end = p->end};
    size_t n = p->n;
    while (n > 1 && !(theta[n - 1] > KS_NOTHING + 1)) n--;
    f.end = p->before[n];
    take_family(p, &f, w);
    gather(p, w, theta, w->theta);
    return spectrum(p, w, w->theta);
}

/*
 * Computes w->value, m numbers, and w->jacobian, m x N numbers, at theta. The values are the log eigenvalues
 * of the sample, and the share of the trace beyond the eigenvalues used.
 */
static void model(const ks_problem *p, ks_mode_work *w, const double *theta, ks_cplx *log_c) {
    const ks_observed *o = p->o;
    size_t K = o->K, N = w->N;
    ks_spectrum s = spectrum(p, w, theta);
    ks_forward(&s, K, o->level, log_c, w->log_x, w->x_rho);
    ks_elasticity(&s, K, log_c, w->jacobian, N);
    memcpy(w->value, w->log_x, K * sizeof *w->value);
    if (!o->tail) return;
    /* `beyond` is the total minus the expected sum of the sample eigenvalues used. */
    double beyond = s.dust, *row = w->jacobian + K * N;
    for (size_t l = 0; l < w->n; l++) beyond += row[l] = s.weight[l] * s.lambda[l];
    if (p->dust) row[w->n] = s.dust;
    for (size_t i = 0; i < K; i++) {
        double q = o->size[i] * exp(w->log_x[i] + o->shift[i] + o->half[i]);
        const double *from = w->jacobian + i * N;
        beyond -= q;
        for (size_t l = 0; l < N; l++) row[l] -= q * from[l];
    }
    w->value[K] = beyond / o->trace;
    for (size_t l = 0; l < N; l++) row[l] /= o->trace;
}

/* Sets z = L^-1 (y - value) and returns |z|^2. */
static double residual(const ks_observed *o, const double *value, double *z) {
    for (size_t i = 0; i < o->m; i++) z[i] = o->y[i] - value[i];
    ks_trsm(o->m, 1, o->L, o->m, z, 1);
    return ks_dot(o->m, z, z);
}

/*
 * Computes the prior's mean, and the Cholesky factor A of the prior's covariance, with zeros above the
 * diagonal. Returns 0 if the covariance is not definite.
 */
static int prepare_prior(const ks_problem *p, const ks_family *f, ks_mode_work *w) {
    take_family(p, f, w);
    size_t N = w->N;
    ks_family_prior(p, f, w->prior, w->mean);
    for (size_t k = 0; k < N; k++) w->prior[k * N + k] += jitter;
    if (ks_potrf(N, w->prior, N)) return 0;
    for (size_t k = 0; k < N; k++)
        for (size_t l = k + 1; l < N; l++) w->prior[k * N + l] = 0;
    return 1;
}

/*
 * Computes design = L^-1 J A, and the Cholesky factor of design^T design + 1, which replaces hessian. Returns
 * 0 on failure.
 */
static int linearise(const ks_problem *p, ks_mode_work *w) {
    size_t N = w->N, m = p->o->m;
    ks_gemm(0, 0, m, N, N, 1, w->jacobian, N, w->prior, N, 0, w->design, N);
    ks_trsm(m, N, p->o->L, m, w->design, N);
    ks_syrk(1, N, m, 1, w->design, N, w->hessian, N);
    for (size_t k = 0; k < N; k++) w->hessian[k * N + k] += 1;
    return ks_potrf(N, w->hessian, N) == 0;
}

static double largest(size_t n, const double *x) {
    double top = -INFINITY;
    for (size_t k = 0; k < n; k++) top = fmax(top, x[k]);
    return top;
}

/* Returns the number of observed nodes of the family. */
static size_t placed(const ks_problem *p, const ks_mode_work *w) { return w->n < p->o->K ? w->n : p->o->K; }

/* Sets theta = mean + A xi, and raises entries that are more than `depth` below the largest. */
static void unwhiten(const ks_problem *p, const ks_mode_work *w, const double *xi, double *theta) {
    size_t N = w->N;
    for (size_t k = 0; k < N; k++) theta[k] = w->mean[k] + ks_dot(k + 1, w->prior + k * N, xi);
    double top = largest(placed(p, w), theta);
    for (size_t k = 0; k < N; k++) theta[k] = fmax(theta[k], top - depth);
}

/* Computes the Gauss-Newton step of xi. Returns the largest change of a log eigenvalue at the levels. */
static double propose(const ks_problem *p, ks_mode_work *w) {
    size_t N = w->N, m = p->o->m;
    for (size_t k = 0; k < N; k++) w->step[k] = -w->xi[k];
    for (size_t i = 0; i < m; i++)
        for (size_t k = 0; k < N; k++) w->step[k] += w->design[i * N + k] * w->z[i];
    ks_potrs(N, 1, w->hessian, N, w->step, 1);
    double most = 0;
    for (size_t k = 0; k < placed(p, w); k++)
        most = fmax(most, fabs(ks_dot(k + 1, w->prior + k * N, w->step)));
    return most;
}

static int finite(size_t n, const double *x) {
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i])) return 0;
    return 1;
}

/*
 * Runs one iteration. Returns 1 to continue, 0 if converged, and -1 if far from convergence no step improves
 * the fit.
 */
static int iterate(const ks_problem *p, ks_mode_work *w, double *objective) {
    size_t N = w->N, K = p->o->K, m = p->o->m;
    if (!linearise(p, w)) return -1;
    double most = propose(p, w), share = fmin(1, 2 / fmax(most, 1e-12));
    for (int half = 0; half < 8; half++, share *= 0.35) {
        for (size_t k = 0; k < N; k++) w->xi_next[k] = w->xi[k] + share * w->step[k];
        unwhiten(p, w, w->xi_next, w->theta_next);
        if (!(largest(w->n, w->theta_next) < largest(w->n, w->theta) + 6)) continue;
        memcpy(w->log_c_next, w->log_c, K * sizeof *w->log_c);
        model(p, w, w->theta_next, w->log_c_next);
        if (!finite(m, w->value)) continue;
        double next = residual(p->o, w->value, w->z_next) + ks_dot(N, w->xi_next, w->xi_next);
        if (!(next < *objective + 1e-6)) continue;
        double fall = *objective - next;
        memcpy(w->xi, w->xi_next, N * sizeof *w->xi);
        memcpy(w->theta, w->theta_next, N * sizeof *w->theta);
        memcpy(w->z, w->z_next, m * sizeof *w->z);
        memcpy(w->log_c, w->log_c_next, K * sizeof *w->log_c);
        *objective = next;
        return fall < 5e-3 || most * share < 5e-3 ? 0 : 1;
    }
    model(p, w, w->theta, w->log_c); /* restores the Jacobian */
    return most < 0.1 ? 0 : -1;
}

/* Does the spectrum decrease, apart from small steps up between neighbouring nodes? */
static int nearly_decreasing(size_t n, const double *theta) {
    for (size_t k = 1; k < n; k++)
        if (theta[k] - theta[k - 1] > 0.5) return 0;
    return 1;
}

/* Computes a root of the posterior covariance, C^-1 A^T, where C is the Cholesky factor of the Hessian. */
static void posterior_root(ks_mode_work *w) {
    size_t N = w->N;
    for (size_t k = 0; k < N; k++)
        for (size_t l = 0; l < N; l++) w->root[k * N + l] = w->prior[l * N + k];
    ks_trsm(N, N, w->hessian, N, w->root, N);
}

/*
 * Returns the starting value of the logarithm of the noise. If the spectrum ends below the rank, noise
 * explains the rest of the sample's spectrum.
 */
static double dust_beside(const ks_problem *p, size_t end, double dust) {
    const ks_decomposition *d = &p->o->x->d;
    double r = (double)end, rest = 0;
    if (p->given || r >= 0.9 * fmin(d->rows, d->cols)) return dust;
    for (size_t k = end; k < d->n; k++) rest += d->s[k];
    return log(fmax(rest, 1e-12) / ((1 - r / d->rows) * (1 - r / d->cols)));
}

void ks_mode_find(const ks_problem *p, ks_mode_work *w, const double *theta, const ks_cplx *log_c,
                  ks_mode *m) {
    m->found = 0;
    if (!prepare_prior(p, &m->family, w)) return;
    size_t N = w->N, K = p->o->K, data = p->o->m;
    gather(p, w, theta, w->theta);
    if (p->dust) w->theta[w->n] = dust_beside(p, m->family.end, w->theta[w->n]);
    memcpy(w->log_c, log_c, K * sizeof *log_c);
    for (size_t k = 0; k < N; k++) w->xi[k] = w->theta[k] - w->mean[k];
    ks_trsm(N, 1, w->prior, N, w->xi, 1);
    model(p, w, w->theta, w->log_c);
    if (!finite(data, w->value)) return;
    double objective = residual(p->o, w->value, w->z) + ks_dot(N, w->xi, w->xi);
    int state = 1;
    for (int k = 0; k < 25 && state == 1; k++) state = iterate(p, w, &objective);
    if (!linearise(p, w)) return;
    m->chi2 = ks_dot(data, w->z, w->z);
    /* Laplace's approximation is -objective/2 - log det C - log det L. */
    m->evidence = -0.5 * objective;
    for (size_t k = 0; k < N; k++) m->evidence -= log(w->hessian[k * N + k]);
    for (size_t k = 0; k < data; k++) m->evidence -= log(p->o->L[k * data + k]);
    if (!isfinite(m->evidence)) return;
    m->log_weight = m->evidence + ks_family_weight(p, &m->family);
    m->found = state == 0 && nearly_decreasing(w->n, w->theta) ? 2 : 1;
    spread(p, w, w->theta, KS_NOTHING, m->theta);
    memcpy(m->log_c, w->log_c, K * sizeof *m->log_c);
    posterior_root(w);
    memset(w->step, 0, N * sizeof *w->step);
    for (size_t k = 0; k < N; k++)
        for (size_t l = 0; l < N; l++) w->step[l] += w->root[k * N + l] * w->root[k * N + l];
    spread(p, w, w->step, 1e-6, m->variance);
}

int ks_mode_root(const ks_problem *p, ks_mode_work *w, const ks_mode *m) {
    if (!prepare_prior(p, &m->family, w)) return 0;
    gather(p, w, m->theta, w->theta);
    memcpy(w->log_c, m->log_c, p->o->K * sizeof *w->log_c);
    model(p, w, w->theta, w->log_c);
    if (!finite(p->o->m, w->value) || !linearise(p, w)) return 0;
    posterior_root(w);
    return 1;
}
