/*
 * Computes eigenfunctions of the RBF kernel under a Gaussian input (paper 000, Appendix F). In coordinates
 * x ~ N(0, I) the kernel is exp(-sum eta_i (x_i - y_i)^2 / 2), and with s = (1 + 4 eta)^(1/4) one
 * dimension has
 *
 *     phi_u(x) = sqrt(s) exp(-(s^2 - 1) x^2 / 4) h_u(s x),      E phi_u phi_v = 1 if u = v, else 0,
 *
 * h_u = He_u / sqrt(u!) the normalised Hermite polynomial (probabilists'):
 *
 *     h_0 = 1,  h_1(t) = t,  h_{u+1}(t) = (t h_u - sqrt(u) h_{u-1}) / sqrt(u+1).
 *
 * In several dimensions the eigenfunctions are products of one-dimensional ones. Far from the origin the
 * polynomial overflows and the exponential underflows, so the code stores each function as a sign and a
 * logarithm.
 */
#include "base/error.h"
#include "base/matrix.h"
#include "base/memory.h"
#include "theory/rbf.h"

#include <math.h>

typedef struct {
    long double log;
    int sign;
} number;

/* Computes phi_0(x) ... phi_top(x) of one dimension. */
static void hermite_functions(double eta, double x, size_t top, number *phi) {
    const long double root = sqrtl(1 + 4 * (long double)eta), t = sqrtl(root) * x;
    long double unit = logl(root) / 4 - (root - 1) * (long double)x * x / 4, a = 0, b = 1;
    for (size_t u = 0; u <= top; u++) {
        phi[u] = (number){b == 0 ? -INFINITY : unit + logl(fabsl(b)), b < 0 ? -1 : 1};
        const long double c = (t * b - sqrtl(u) * a) / sqrtl(u + 1);
        a = b, b = c;
        const long double size = fmaxl(fabsl(a), fabsl(b));
        if (size > 1e100L) a /= size, b /= size, unit += logl(size);
    }
}

/* Returns the highest degree of any of the eigenvalues in one dimension. */
static size_t highest_degree(const ks_rbf_step *steps, size_t count) {
    size_t top = 0;
    for (size_t k = 1; k < count; k++) {
        size_t run = 0, at = 0;
        for (size_t l = k; l > 0; l = steps[l].base) {
            run = run && steps[l].axis == at ? run + 1 : 1;
            at = steps[l].axis;
            if (run > top) top = run;
        }
    }
    return top;
}

/*
 * Computes the product over dimensions for eigenvalue k: phi_0 of every dimension, times a ratio for each
 * run of steps.
 */
static double product(const ks_rbf_step *steps, size_t k, const number *phi, size_t width, long double rest) {
    int sign = 1;
    while (k > 0) {
        const size_t at = steps[k].axis;
        size_t degree = 0;
        for (; k > 0 && steps[k].axis == at; k = steps[k].base) degree++;
        rest += phi[at * width + degree].log - phi[at * width].log;
        sign *= phi[at * width + degree].sign;
    }
    return sign * (double)expl(rest);
}

kspec_status kspec_theory_rbf_eigenfunctions(const double *eta, size_t dim, const kspec_matrix *points,
                                             size_t count, double *values, kspec_error *err) {
    ks_clear(err);
    kspec_status st = ks_rbf_check_eta(eta, dim, err);
    if (!st) st = ks_matrix_check(points, "the points", err);
    if (!st) st = ks_check_pointer(err, values, "values");
    if (!st) st = ks_matrix_finite(points, "the points", err);
    if (st) return st;
    if (points->cols != dim)
        return ks_fail(err, KSPEC_E_ARG, "points in %zu dimension%s, but eta has %zu", points->cols,
                       points->cols == 1 ? "" : "s", dim);
    ks_arena arena = {0};
    number *phi = NULL;
    size_t width = 0;
    ks_rbf_step *steps = ks_arena_alloc(&arena, count, sizeof *steps);
    if (!arena.failed && (st = ks_rbf_enumerate(eta, dim, count, NULL, NULL, steps, err))) goto done;
    if (!arena.failed) {
        width = highest_degree(steps, count) + 1;
        phi = ks_arena_alloc(&arena, ks_size(dim, width), sizeof *phi);
    }
    if (arena.failed) {
        st = ks_nomem(err, "the eigenfunctions", arena.failed);
        goto done;
    }
    for (size_t i = 0; i < points->rows; i++) {
        long double lowest = 0;
        for (size_t l = 0; l < dim; l++) {
            hermite_functions(eta[l], ks_at(points, i, l), width - 1, phi + l * width);
            lowest += phi[l * width].log;
        }
        for (size_t k = 0; k < count; k++) values[i * count + k] = product(steps, k, phi, width, lowest);
    }
done:
    ks_arena_free(&arena);
    return st;
}
