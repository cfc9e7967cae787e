/*
 * From the trials that the caller gave to the pair of matrices that the estimators take: scaling,
 * normalising, centring, and splitting trials into halves.
 */
#ifndef KS_MOMENTS_TRIALS_H
#define KS_MOMENTS_TRIALS_H

#include "moments/estimators.h"

typedef struct {
    const kspec_matrix *phi; /* count matrices, all P x Q */
    size_t count, P, Q;
    const size_t *row_trials; /* or NULL */
    int center, normalize;
    int split; /* set by ks_trials_init(): more than two trials, or ragged ones: halves are drawn at random */
    /* set by ks_trials_scale(): */
    int exponent, normal_exponent; /* Phi is divided by 2^exponent (the result is multiplied back), or, when
                                      normalising, by 2^normal_exponent and multiplied by factor */
    double factor;
} ks_trials;

/* Shapes agree, and ragged counts are in range; counts that are all the same are not ragged. */
kspec_status ks_trials_init(ks_trials *t, kspec_error *err);

/* Entries are finite; chooses the scale for orders up to nmax. */
kspec_status ks_trials_scale(ks_trials *t, int nmax, kspec_error *err);

/* How many splits there are: `splits` where trials are split at random, otherwise 1. */
size_t ks_trials_splits(const ks_trials *t, int splits);

/* Room for one pair; a trial that can be used where it is takes none. */
typedef struct {
    double *a, *b, *mean;
    size_t *order;
} ks_halves;
kspec_status ks_trials_alloc(const ks_trials *t, ks_arena *arena, ks_halves *h, kspec_error *err);

/*
 * Pair number r: with one trial A = B; with two, the first and the second; with more, the trials are split at random
 * into halves whose means are A and B (both orders are unbiased). All rows have the same split: were each row's drawn
 * by itself, a trial would stand in A for one row and in B for another, and noise that is common to a column in that
 * trial would not cancel. Ragged rows have to have splits of their own; their repeats are separate occasions.
 */
void ks_trials_split(const ks_trials *t, uint64_t seed, size_t r, ks_halves *h, ks_pair *p);

/* Trial k alone, scaled (and centred), to out: P x Q. */
void ks_trials_copy(const ks_trials *t, size_t k, ks_halves *h, double *out);

/* The mean of all trials, scaled (and centred; `mean` is Q numbers of scratch), to out: P x Q. */
void ks_trials_mean(const ks_trials *t, double *mean, double *out);

#endif
