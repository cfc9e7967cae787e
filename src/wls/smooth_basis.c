/* Evaluates bases of functions of one variable, and chooses a basis for given points. */
#include "wls/smooth.h"

#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846, ROOT2 = 1.41421356237309504880;

size_t ks_basis_level(const ks_basis *b, size_t k) {
    switch (b->kind) {
    case KSPEC_WLS_BASIS_REAL: return (k + 1) / 2;
    case KSPEC_WLS_BASIS_FOURIER: return k / 2;
    default: return k;
    }
}

size_t ks_basis_upto(const ks_basis *b, size_t level) {
    size_t count = level + 1;
    if (b->kind == KSPEC_WLS_BASIS_REAL) count = 2 * level + 1;
    if (b->kind == KSPEC_WLS_BASIS_FOURIER) count = 2 * level + 2;
    return count < b->K ? count : b->K;
}

int ks_basis_is_periodic(const ks_basis *b) {
    return b->kind == KSPEC_WLS_BASIS_REAL || b->kind == KSPEC_WLS_BASIS_FOURIER;
}

/* Computes the cosines and sines of multiples of an angle, each from the previous multiple. */
typedef struct {
    double c, s;
} turn;

static turn turned(turn a, turn by) { return (turn){a.c * by.c - a.s * by.s, a.s * by.c + a.c * by.s}; }

void ks_basis_values(const ks_basis *b, double x, double *phi) {
    const size_t K = b->K;
    const double u = (x - b->low) / (b->high - b->low), v = 2 * u - 1;
    const double angle = ks_basis_is_periodic(b) ? 2 * PI * u : PI * u;
    const turn one = {cos(angle), sin(angle)};
    turn at = {1, 0};
    switch (b->kind) {
    case KSPEC_WLS_BASIS_FOURIER:
        /*
         * Computes 1 and i times e^{ilu}, with real parts in the first row and imaginary parts in the
         * second row.
         */
        for (size_t k = 0; k < K; k += 2, at = turned(at, one)) {
            phi[k] = at.c, phi[K + k] = at.s;
            if (k + 1 < K) phi[k + 1] = -at.s, phi[K + k + 1] = at.c;
        }
        return;
    case KSPEC_WLS_BASIS_REAL:
        phi[0] = 1;
        for (size_t k = 1; k < K; k += 2) {
            at = turned(at, one);
            phi[k] = ROOT2 * at.c;
            if (k + 1 < K) phi[k + 1] = ROOT2 * at.s;
        }
        return;
    case KSPEC_WLS_BASIS_COSINE:
        phi[0] = 1;
        for (size_t k = 1; k < K; k++) at = turned(at, one), phi[k] = ROOT2 * at.c;
        return;
    default: break;
    }
    /*
     * Computes polynomials of v in [-1,1] with mean square 1. They are Legendre's, or Chebyshev's with the
     * Chebyshev weight.
     */
    const int legendre = b->kind == KSPEC_WLS_BASIS_LEGENDRE;
    double before = 0, now = 1;
    for (size_t k = 0; k < K; k++) {
        const double l = (double)k;
        phi[k] = now * (legendre ? sqrt(2 * l + 1) : k ? ROOT2 : 1);
        const double next =
            legendre || k == 0 ? ((2 * l + 1) * v * now - l * before) / (l + 1) : 2 * v * now - before;
        before = now, now = next;
    }
}

int ks_basis_is_regular(const ks_basis *b, const ks_smooth_data *d) {
    if (d->step == 0 || b->K > d->N * ks_basis_parts(b)) return 0;
    const double length = d->step * (double)d->N, from = d->x[0];
    if (fabs(b->high - b->low - length) > 1e-6 * d->step) return 0;
    /* A shift of a periodic grid changes only the phases, which are counted from `low`. */
    if (ks_basis_is_periodic(b)) return 1;
    return b->kind == KSPEC_WLS_BASIS_COSINE && fabs(b->low + d->step / 2 - from) < 1e-6 * d->step;
}

/*
 * Returns a period for points that are not a grid. It is a usual period if the points cover at least four
 * fifths of that period. Otherwise it is the length that the points cover plus the mean distance of
 * neighbours.
 */
static double likely_period(const ks_smooth_data *d) {
    static const double usual[] = {1, 6.283185307179586, 360};
    const double first = d->x[0], last = d->x[d->N - 1];
    for (size_t k = 0; k < sizeof usual / sizeof *usual; k++) {
        const double T = usual[k];
        const int from_zero = first >= 0 && last <= T, around_zero = first >= -T / 2 && last <= T / 2;
        if ((from_zero || around_zero) && last - first >= 0.8 * T) return T;
    }
    return (last - first) * (double)d->distinct / (double)(d->distinct - 1);
}

/* If the basis needs QR, K is the number of functions that takes about a second, and at most 200. */
static size_t useful(const ks_smooth_data *d) {
    enum { LEAST = 48, MOST = 200 };
    const double by_time = sqrt(8e8 / (double)d->N);
    return by_time > MOST ? MOST : by_time < LEAST ? LEAST : (size_t)by_time;
}

ks_basis ks_basis_for(kspec_wls_basis kind, const ks_smooth_data *d, double period, size_t p) {
    ks_basis b = {.kind = kind, .low = d->x[0], .high = d->x[d->N - 1], .K = SIZE_MAX};
    b.K = p ? p * ks_basis_parts(&b) : d->N * ks_basis_parts(&b);
    if (ks_basis_is_periodic(&b))
        b.high = b.low + (period > 0 ? period : d->step > 0 ? d->step * (double)d->N : likely_period(d));
    if (kind == KSPEC_WLS_BASIS_COSINE && d->step > 0) b.low -= d->step / 2, b.high += d->step / 2;
    if (p || ks_basis_is_regular(&b, d)) return b;
    const size_t most = useful(d);
    b.K = (d->distinct < most ? d->distinct : most) * ks_basis_parts(&b);
    return b;
}
