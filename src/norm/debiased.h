/* Estimates |K|, with an interval, from the Gram matrix of q random features (see kspec/norm.h). */
#pragma once

#include "base/parallel.h"

enum {
    KS_DEBIASED_ORDERS = 16,
    KS_DEBIASED_EXACT = 5,
    KS_DEBIASED_CHECK = 1024 /* the most features as a check of other methods: half a second of one core */
};
extern size_t ks_debiased_features; /* the most features as the main method: 4096; tests may use fewer */

typedef struct {
    double value, low, high; /* order 0: n, 1 and n */
    int order;
} ks_debiased;

/*
 * G = Phi^T Phi / n (q x q; destroyed), Phi = sqrt(2) cos(...) over n rows. paired: q is even, and columns 2k
 * and 2k+1 are the cosine and the sine of one frequency, drawn together. Computes moments up to `orders`.
 * Orders above KS_DEBIASED_EXACT (3 for pairs) are averaged over random orders of the draws by (seed, draw).
 */
kspec_status ks_debias(const ks_run *run, double *G, size_t q, int paired, size_t n, int orders,
                       uint64_t seed, uint64_t draw, ks_debiased *out, kspec_error *err);

/* The same from given moments, k up to `orders`: m[k-1], and loo[(k-1)*q + a] without draw a of q */
ks_debiased ks_debiased_read(const double *m, const double *loo, int orders, size_t q, size_t n);
