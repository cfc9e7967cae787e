/*
 * --method newton: computes eigenvalues of an operator of rank d from m(1) ... m(d) alone (paper 000,
 * Appendix A). Newton's identities give the elementary symmetric polynomials e_k of the eigenvalues:
 *
 *     k e_k = sum_{n=1..k} (-1)^(n-1) e_{k-n} m(n),
 *
 * The eigenvalues are the roots of f(x) = sum_k (-1)^k e_k x^(d-k). The moments determine f exactly. So an
 * error of a moment reaches the roots in full, multiplied by
 *
 *     d lambda_j / d m(n) = [x^(n-1)] L_j(x) / n,
 *     L_j(x) = prod_{k != j} (x - lambda_k)/(lambda_j - lambda_k).
 */
#include "base/error.h"
#include "spectrum/methods.h"

#include <complex.h>
#include <math.h>

typedef long double _Complex root;

/* Finds all roots of x^d + c[1] x^(d-1) + ... + c[d] at once by Durand and Kerner's iteration. */
static void find_roots(size_t d, const long double *c, root *z) {
    enum { STEPS = 2000 };
    long double size = 0;
    for (size_t k = 1; k <= d; k++) size = fmaxl(size, powl(fabsl(c[k]), 1 / (long double)k));
    for (size_t j = 0; j < d; j++) z[j] = size * cexpl(6.283185307179586L * I * (j + 0.3L) / d);
    for (int step = 0; step < STEPS && size > 0; step++) {
        long double moved = 0;
        for (size_t j = 0; j < d; j++) {
            root f = 1, apart = 1;
            for (size_t k = 1; k <= d; k++) f = f * z[j] + c[k];
            for (size_t k = 0; k < d; k++)
                if (k != j) apart *= z[j] - z[k];
            if (apart == 0) continue;
            z[j] -= f / apart;
            moved = fmaxl(moved, cabsl(f / apart));
        }
        if (moved < 1e-18L * size) break;
    }
}

/* Returns max_j sum_n |d lambda_j / d m(n)| |m(n)|, divided by the largest root */
static double condition(size_t d, const root *z, const double *m) {
    long double worst = 0, largest = 0;
    for (size_t j = 0; j < d; j++) {
        root L[KS_NEWTON_RANK] = {1}, apart = 1;
        size_t degree = 0;
        for (size_t k = 0; k < d; k++) {
            if (k == j) continue;
            degree++;
            for (size_t n = degree; n > 0; n--) L[n] = L[n - 1] - (n < degree ? z[k] * L[n] : 0);
            L[0] *= -z[k];
            apart *= z[j] - z[k];
        }
        long double sum = 0;
        for (size_t n = 0; n < d; n++) sum += cabsl(L[n]) / (n + 1) * fabsl(m[n]);
        worst = fmaxl(worst, apart == 0 ? INFINITY : sum / cabsl(apart));
        largest = fmaxl(largest, cabsl(z[j]));
    }
    return (double)(worst / largest);
}

static int before(root a, root b) {
    return creall(a) != creall(b) ? creall(a) > creall(b) : cimagl(a) > cimagl(b);
}

static kspec_status check(const ks_spectrum_job *j, kspec_error *err) {
    const size_t d = j->o.rank;
    kspec_status st = ks_spectrum_check_moments(j, err);
    if (st) return st;
    if (d < 1 || d > KS_NEWTON_RANK)
        return ks_refuse(err, KSPEC_E_ARG, "rank", NULL,
                         "the method newton takes a rank from 1 to %d, not %zu", KS_NEWTON_RANK, d);
    if (d > j->count)
        return ks_fail(err, KSPEC_E_ARG, "rank %zu exceeds the %zu moments that are there", d, j->count);
    return KSPEC_OK;
}

kspec_status ks_spectrum_by_newton(ks_spectrum_job *j, kspec_error *err) {
    const size_t d = j->o.rank;
    kspec_spectrum_result *r = j->r;
    kspec_status st = check(j, err);
    if (!st) st = ks_spectrum_given(j, err);
    if (st) return st;
    ks_arena *arena = ks_result_arena(r);
    double **arrays[] = {&r->eigenvalues, &r->std_error, &r->ci_low, &r->ci_high, &r->newton->imaginary};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        *arrays[k] = ks_arena_alloc(arena, d, sizeof(double));
    if (arena->failed) return ks_nomem(err, "the spectrum", arena->failed);
    long double e[KS_NEWTON_RANK + 1] = {1}, c[KS_NEWTON_RANK + 1] = {1};
    root z[KS_NEWTON_RANK];
    for (size_t k = 1; k <= d; k++) {
        for (size_t n = 1; n <= k; n++) e[k] += (n % 2 ? 1 : -1) * e[k - n] * j->m[n - 1] / k;
        c[k] = k % 2 ? -e[k] : e[k];
    }
    find_roots(d, c, z);
    for (size_t a = 1; a < d; a++) /* sorted by insertion */
        for (size_t b = a; b > 0 && before(z[b], z[b - 1]); b--) {
            root x = z[b];
            z[b] = z[b - 1], z[b - 1] = x;
        }
    r->rank = d;
    for (size_t k = 0; k < d; k++) {
        const int real = fabsl(cimagl(z[k])) <= 1e-12L * cabsl(z[k]);
        r->eigenvalues[k] = (double)creall(z[k]);
        r->newton->imaginary[k] = real ? 0 : (double)cimagl(z[k]);
        r->newton->complex_count += !real;
        r->std_error[k] = r->ci_low[k] = r->ci_high[k] = NAN;
    }
    r->newton->condition = condition(d, z, j->m);
    return KSPEC_OK;
}
