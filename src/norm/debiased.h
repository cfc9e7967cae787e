/* |K| and an interval for it from the Gram matrix of q random features, as kspec/norm.h explains. */
#pragma once

#include "base/parallel.h"

enum {
    KS_DEBIASED_ORDERS = 16,
    KS_DEBIASED_EXACT = 5,
    KS_DEBIASED_CHECK = 1024 /* the most features beside another method: half a second of one core */
};
extern size_t ks_debiased_features; /* the most features by itself: 4096; a test may take less */

typedef struct {
    double value, low, high; /* order 0: n, 1 and n */
    int order;
} ks_debiased;

/*
 * G = Phi^T Phi / n (q x q; destroyed), Phi = sqrt(2) cos(...) over n rows; paired: columns 2k and 2k+1 are
 * the cosine and the sine of one frequency, drawn together, and q is even. Moments up to `orders`, of which
 * those above KS_DEBIASED_EXACT (3 of pairs) are averaged over random orders of the draws by (seed, draw).
 */
kspec_status ks_debias(const ks_run *run, double *G, size_t q, int paired, size_t n, int orders,
                       uint64_t seed, uint64_t draw, ks_debiased *out, kspec_error *err);

/* The same from moments, for k up to `orders`: m[k-1], and loo[(k-1)*q + a] without draw a of q. */
ks_debiased ks_debiased_read(const double *m, const double *loo, int orders, size_t q, size_t n);
