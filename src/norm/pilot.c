/* Predicts from pilot runs how many random features reach a wanted error. */
#include "norm/pilot.h"

#include "base/error.h"

#include <math.h>

/*
 * If |K| clearly exceeds the other eigenvalues, perturbation theory gives sigma_1(Z)^2 a bias of B/q and a
 * variance of V/q. Draws with q features, and draws with 2q features that include the first q, determine
 * B, V and the limit N. Then
 *
 *     expected squared error at Q:   ((B/Q)^2 + V/Q) / N^2.
 *
 * If the bias at 2q is not small compared with N, q doubles, because the values are then near n/q and say
 * little about N.
 */
enum {
    DRAWS = 8,
    MOST = 1000000,
    FIRST_DRAW = 1 << 20 /* FIRST_DRAW is a number from which on no estimate uses the draws. */
};

typedef struct {
    double bias, variance, limit; /* B, V, N */
} behaviour;

static kspec_status measure(const ks_norm_job *j, const ks_run *run, size_t q, behaviour *b,
                            kspec_error *err) {
    double low[DRAWS], high[DRAWS], fewer = 0, more = 0, square = 0;
    for (int k = 0; k < DRAWS; k++)
        for (int twice = 0; twice < 2; twice++) {
            ks_run part = ks_run_part(run, (k + 0.5 * twice) / DRAWS, (k + 0.5 + 0.5 * twice) / DRAWS);
            kspec_status st = ks_norm_features_value(j, &part, twice ? 2 * q : q, FIRST_DRAW + (uint64_t)k,
                                                     twice ? &high[k] : &low[k], err);
            if (st) return st;
        }
    for (int k = 0; k < DRAWS; k++) fewer += low[k] / DRAWS, more += high[k] / DRAWS;
    for (int k = 0; k < DRAWS; k++) square += (high[k] - more) * (high[k] - more) / (DRAWS - 1);
    const double Q = 2 * (double)q;
    *b = (behaviour){fmax(0, fewer - more) * Q, square * Q, fmin(more, 2 * more - fewer)};
    return KSPEC_OK;
}

kspec_status ks_norm_pilot(const ks_norm_job *j, const ks_run *run, size_t *q, double *expected,
                           kspec_error *err) {
    const double SMALL = 0.25, wanted = j->o.error;
    behaviour b = {0};
    for (int k = 0;; k++, *q *= 2) {
        if (*q > MOST / 2)
            return ks_refuse(err, KSPEC_E_ARG, "error", NULL,
                             "error %g: rff-power needs more than %d features; use lanczos", wanted, MOST);
        ks_run part = ks_run_part(run, 1 - pow(0.5, k), 1 - pow(0.5, k + 1));
        kspec_status st = measure(j, &part, *q, &b, err);
        if (st) return st;
        if (b.bias <= SMALL * 2 * (double)*q * b.limit) break;
    }
    /* Q solves wanted^2 Q^2 - v Q - c^2 = 0. */
    const double v = b.variance / (b.limit * b.limit), c = b.bias / b.limit, e2 = wanted * wanted;
    const double least = (v + sqrt(v * v + 4 * e2 * c * c)) / (2 * e2);
    if (!(least <= MOST))
        return ks_refuse(err, KSPEC_E_ARG, "error", NULL,
                         "error %g: rff-power needs %.2g features, more than %d; "
                         "use lanczos",
                         wanted, least, MOST);
    *q = (size_t)fmax(1, ceil(least));
    const double Q = (double)*q;
    *expected = sqrt(c * c / (Q * Q) + v / Q);
    return KSPEC_OK;
}
