/* Estimates |K|, with an interval, from the Gram matrix of q random features (see kspec/norm.h). */
#pragma once

#include "base/parallel.h"

enum {
    KS_DEBIASED_ORDERS = 16,
    KS_DEBIASED_EXACT = 5,
    /*
     * This is the largest number of features for a check of other methods, which takes half a second of
     * one core.
     */
    KS_DEBIASED_CHECK = 1024
};
/* This is the largest number of features for the method rff-debiased: 4096; tests set a smaller number. */
extern size_t ks_debiased_features;

typedef struct {
    double value, low, high; /* If order is 0, these fields are n, 1 and n. */
    int order;
} ks_debiased;

/*
 * G is Phi^T Phi / n (q x q, overwritten), where Phi = sqrt(2) cos(...) has n rows. paired requires an
 * even q: columns 2k and 2k+1 are the cosine and the sine of one frequency. Computes moments up to
 * `orders`. Orders above KS_DEBIASED_EXACT (3 for pairs) are averages over random orders of the features,
 * drawn by (seed, draw).
 */
kspec_status ks_debias(const ks_run *run, double *G, size_t q, int paired, size_t n, int orders,
                       uint64_t seed, uint64_t draw, ks_debiased *out, kspec_error *err);

/*
 * Computes the estimate from given moments of orders k up to `orders`. m[k-1] is a moment, and loo[(k-1)*q
 * + a] the same moment without feature a of q.
 */
ks_debiased ks_debiased_read(const double *m, const double *loo, int orders, size_t q, size_t n);
