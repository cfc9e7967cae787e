/*
 * Computes the eigenvalues of zonal kernels on the sphere, degree by degree. In all three families the
 * eigenvalues' ratios are rational in the degree, or a Bessel function. Products of these ratios are sums
 * of logarithms, in which nothing cancels.
 */
#include "base/error.h"
#include "base/gamma.h"
#include "base/memory.h"
#include "theory/bessel.h"
#include "kspec/theory.h"

#include <math.h>

enum { MAX_DIM = 1000, MAX_DEGREE = 1000, MAX_POWER = 100000, SUM_DEGREES = 100000 };

static const long double pi = 3.14159265358979323846264338327950288L;

/* Holds the state of a walk through the degrees. */
typedef struct {
    kspec_sphere kernel;
    long double D, z, q; /* dimension; gaussian: z = 2/s^2; polynomial: the power */
    long double k;       /* the degree */
    /* the multiplicity of degree k, a whole number up to 10^2500, hence a long double */
    long double N;
    long double log_lambda; /* log of the eigenvalue of degree k */
    long double log_sigma;  /* for ntk: log of the eigenvalue of kappa_0 at the odd degree below k */
    ks_debye debye;
} walk;

/*
 * gaussian:    lambda_k = e^-z (2/z)^(D/2-1) Gamma(D/2) I_{k+D/2-1}(z),  z = 2/s^2
 */
static long double gaussian(const walk *w) { return ks_log_bessel(&w->debye, w->D / 2 - 1, w->k, w->z); }

/*
 * polynomial:  lambda_0 = E(1+t)^q = prod_{j<q} (2j+D-1)/(j+D-1),  lambda_{k+1} / lambda_k = (q-k)/(q+k+D-1)
 */
static long double polynomial_mean(long double q, long double D) {
    long double sum = 0;
    for (long double j = 0; j < q; j++) sum += log1pl(j / (j + D - 1));
    return sum;
}

/*
 * ntk: let s_k and r_k be the coefficients of the step function and of the ReLU. kappa_0 has the eigenvalues
 * sigma_k = 2 s_k^2, and kappa_1 has 2 D r_k^2. By Rodrigues' formula
 *     s_0 = 1/2,  s_1 = Gamma(D/2) / (2 sqrt(pi) Gamma((D+1)/2)),  |s_{k+2}| = |s_k| k/(k+D)  (k odd),
 *     r_0 = s_1,  r_1 = 1/(2D),  |r_k| = |s_{k-1}| / (k+D-1)  (k > 0 even),
 * and the others are 0. t kappa_0 has (k sigma_{k-1} + (k+D-2) sigma_{k+1}) / (2k+D-2). Together
 *     lambda_0 = (D+1) sigma_1,  lambda_1 = 1/D,  lambda_k = 0 for odd k > 1, and for even k > 0
 *     lambda_k = sigma_{k-1} ((k-1)(k+D-1) + 2D) / (k+D-1)^2.
 */
static long double ntk(walk *w) {
    long double k = w->k, D = w->D, a = k + D - 1;
    if (k == 0) return logl(D + 1) + w->log_sigma;
    if (k == 1) return -logl(D);
    if (fmodl(k, 2) == 1) return -INFINITY;
    if (k > 2) w->log_sigma += 2 * logl((k - 3) / (k - 3 + D));
    return w->log_sigma + logl(((k - 1) * a + 2 * D) / (a * a));
}

static void start(walk *w, kspec_sphere kernel, double parameter, size_t dim) {
    *w = (walk){.kernel = kernel, .D = (long double)dim, .N = 1};
    if (kernel == KSPEC_SPHERE_GAUSSIAN) {
        ks_debye_init(&w->debye);
        w->z = 2 / ((long double)parameter * parameter);
        w->log_lambda = gaussian(w);
    } else if (kernel == KSPEC_SPHERE_POLYNOMIAL) {
        w->q = parameter;
        w->log_lambda = polynomial_mean(w->q, w->D);
    } else {
        w->log_sigma =
            logl(2) + 2 * (ks_lgammal(w->D / 2) - ks_lgammal((w->D + 1) / 2) - logl(2) - logl(pi) / 2);
        w->log_lambda = ntk(w);
    }
}

/* N(D,0) = 1, N(D,1) = D, N(D,k+1) / N(D,k) = (2k+D)(k+D-2) / ((2k+D-2)(k+1)) */
static void step(walk *w) {
    long double k = w->k, D = w->D;
    w->N = k == 0 ? D : nearbyintl(w->N * ((2 * k + D) * (k + D - 2)) / ((2 * k + D - 2) * (k + 1)));
    w->k++;
    if (w->kernel == KSPEC_SPHERE_GAUSSIAN)
        w->log_lambda = gaussian(w);
    else if (w->kernel == KSPEC_SPHERE_POLYNOMIAL)
        w->log_lambda += k < w->q ? logl((w->q - k) / (w->q + k + D - 1)) : -INFINITY;
    else
        w->log_lambda = ntk(w);
}

static kspec_status check(kspec_sphere kernel, double parameter, size_t dim, kspec_error *err) {
    if (kernel < KSPEC_SPHERE_GAUSSIAN || kernel > KSPEC_SPHERE_NTK)
        return ks_fail(err, KSPEC_E_ARG, "unknown kernel %d", (int)kernel);
    if (dim < 2 || dim > MAX_DIM)
        return ks_fail(err, KSPEC_E_ARG, "sphere: dimension %zu is not between 2 and %d", dim, MAX_DIM);
    if (kernel == KSPEC_SPHERE_GAUSSIAN && !(parameter >= 1e-100 && parameter <= 1e100))
        return ks_fail(err, KSPEC_E_ARG, "gaussian: scale %g is not between 1e-100 and 1e100", parameter);
    if (kernel == KSPEC_SPHERE_POLYNOMIAL &&
        !(parameter >= 0 && parameter <= MAX_POWER && parameter == floor(parameter)))
        return ks_fail(err, KSPEC_E_ARG, "polynomial: power %g is not a whole number between 0 and %d",
                       parameter, MAX_POWER);
    return KSPEC_OK;
}

kspec_status kspec_theory_sphere_eigenvalues(kspec_sphere kernel, double parameter, size_t dim, size_t degree,
                                             double *eigenvalues, double *logs, double *multiplicities,
                                             double *log_multiplicities, kspec_error *err) {
    ks_clear(err);
    kspec_status st = check(kernel, parameter, dim, err);
    if (st) return st;
    if (degree > MAX_DEGREE)
        return ks_fail(err, KSPEC_E_ARG, "sphere: degree %zu exceeds %d", degree, MAX_DEGREE);
    walk w;
    start(&w, kernel, parameter, dim);
    for (size_t k = 0; k <= degree; k++) {
        if (eigenvalues) eigenvalues[k] = (double)expl(w.log_lambda);
        if (logs) logs[k] = (double)w.log_lambda;
        if (multiplicities) multiplicities[k] = (double)w.N;
        if (log_multiplicities) log_multiplicities[k] = (double)logl(w.N);
        if (k < degree) step(&w);
    }
    return KSPEC_OK;
}

/* ---- moments ---- */

/* log m(1) = log f(1) */
static long double log_m1(const walk *w) {
    return w->kernel == KSPEC_SPHERE_POLYNOMIAL ? w->q * logl(2)
           : w->kernel == KSPEC_SPHERE_NTK      ? logl(2)
                                                : 0;
}

/*
 * log m(2) = log E f(t)^2. The square of a Gaussian kernel is the Gaussian kernel of 2z, and the square of a
 * polynomial kernel is the polynomial kernel of 2q. For the NTK, with t = cos theta, pi f = 2 (pi - theta)
 * cos theta + sin theta under the density sin^(D-2) theta:
 *     pi^2 E f^2 = 4 (e/D + 2(D-1)/D^3) + 4 (D-1)/D^2 + (D-1)/D,
 * e = e_{D-2} being the mean of theta^2 under sin^(D-2):
 *     e_0 = pi^2/3,  e_1 = (pi^2 - 4)/2,  e_n = e_{n-2} - 2/n^2.
 */
static long double log_m2(const walk *w) {
    long double D = w->D;
    if (w->kernel == KSPEC_SPHERE_GAUSSIAN) return ks_log_bessel(&w->debye, D / 2 - 1, 0, 2 * w->z);
    if (w->kernel == KSPEC_SPHERE_POLYNOMIAL) return polynomial_mean(2 * w->q, D);
    long double n = fmodl(D, 2), e = n == 0 ? pi * pi / 3 : (pi * pi - 4) / 2;
    for (n += 2; n <= D - 2; n += 2) e -= 2 / (n * n);
    return logl((4 * (e / D + 2 * (D - 1) / (D * D * D)) + 4 * (D - 1) / (D * D) + (D - 1) / D) / (pi * pi));
}

/* The degrees walked so far: as many as the moments have needed. */
typedef struct {
    walk at;
    size_t count;
    long double *log_lambda, *log_N; /* SUM_DEGREES each */
} degrees;

static void extend(degrees *g) {
    if (g->count) step(&g->at);
    g->log_lambda[g->count] = g->at.log_lambda;
    g->log_N[g->count++] = logl(g->at.N);
}

/*
 * Returns log sum_k N(D,k) lambda_k^n, in units of the largest term so far. The terms rise to a peak and then
 * fall. For n >= 3 they fall at least as fast as k^-6 (the NTK in two dimensions). So once k falling terms
 * are below rounding, their sum to infinity is also below rounding.
 */
static long double log_sum(degrees *g, int n) {
    long double unit = -INFINITY, sum = 0, before = INFINITY;
    for (size_t k = 0; k < SUM_DEGREES; k++) {
        if (k == g->count) extend(g);
        long double term = n * g->log_lambda[k] + g->log_N[k];
        if (isinf(term)) {
            if (g->at.kernel == KSPEC_SPHERE_POLYNOMIAL)
                return unit + logl(sum); /* beyond the power all terms are 0 */
            continue;
        }
        if (term > unit) {
            sum *= expl(unit - term);
            unit = term;
        }
        sum += expl(term - unit);
        if (term < before && term + logl(1 + (long double)k) < unit + logl(sum) - 44) return unit + logl(sum);
        before = term;
    }
    return NAN;
}

kspec_status kspec_theory_sphere_moments(kspec_sphere kernel, double parameter, size_t dim, int nmax,
                                         double *moments, double *logs, kspec_error *err) {
    ks_clear(err);
    kspec_status st = check(kernel, parameter, dim, err);
    if (st) return st;
    if (nmax < 1) return ks_fail(err, KSPEC_E_ARG, "order %d is below 1", nmax);
    ks_arena arena = {0};
    degrees g = {.log_lambda = ks_arena_alloc(&arena, SUM_DEGREES, sizeof(long double)),
                 .log_N = ks_arena_alloc(&arena, SUM_DEGREES, sizeof(long double))};
    if (arena.failed) {
        st = ks_nomem(err, "the degrees of a sphere", arena.failed);
        ks_arena_free(&arena);
        return st;
    }
    start(&g.at, kernel, parameter, dim);
    for (int n = 1; n <= nmax; n++) {
        long double log_m = n == 1 ? log_m1(&g.at) : n == 2 ? log_m2(&g.at) : log_sum(&g, n);
        if (moments) moments[n - 1] = (double)expl(log_m);
        if (logs) logs[n - 1] = (double)log_m;
    }
    ks_arena_free(&arena);
    return KSPEC_OK;
}
