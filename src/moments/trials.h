/*
 * Turns the caller's trials into the pair of matrices that the estimators use: scales, normalises and centres
 * the trials, and splits them into halves.
 */
#pragma once

#include "kspec/moments.h"
#include "device/backend.h"
#include "device/pair.h"

typedef struct {
    /* `count` matrices, all P x Q */
    const kspec_matrix *phi;
    size_t count, P, Q;
    /* the number of trials of each row, or NULL */
    const size_t *row_trials;
    kspec_center center;
    int normalize;
    /*
     * 1: the estimator centres the data itself, because groups differ in size, so the trials keep their means
     */
    int keep_means;
    /* NaN is a missing entry; ks_trials_missing() sets this to 0 if no entry is missing */
    int pairwise;
    /*
     * one or two trials are on the run's device, dense by rows or by columns (moments/trials_device.h).
     * Trials that need scaling or turning are copied on the device
     */
    int on_device;
    ks_mat *held[2];
    /*
     * ks_trials_init() sets this to 1 if it must draw halves at random. Two trials that are not ragged are
     * the two halves themselves
     */
    int split;
    /*
     * ks_trials_scale() divides Phi by 2^exponent, and the estimator multiplies the result accordingly. When
     * normalising, Phi is divided by 2^normal_exponent and multiplied by factor
     */
    int exponent, normal_exponent;
    double factor;
    int threads; /* threads that read the trials; 0: one */
} ks_trials;

/* Views of the transposes of all trials, in the arena; NULL: out of memory */
kspec_matrix *ks_trials_turned(const kspec_matrix *phi, size_t count, ks_arena *arena);

/* The trials with these options; call ks_trials_init() next. */
ks_trials ks_trials_of(const kspec_matrix *phi, size_t ntrials, const kspec_moments_opts *how);

/* Checks the shapes and the ragged counts; equal counts are not ragged. */
kspec_status ks_trials_init(ks_trials *t, kspec_error *err);

/* If t->pairwise is set, counts missing entries. Fails if an entry is infinite or all entries are missing. */
kspec_status ks_trials_missing(ks_trials *t, size_t *missing, kspec_error *err);

/*
 * Checks that all entries are finite (or missing), and chooses the scale for orders up to nmax, on
 * t->threads.
 */
kspec_status ks_trials_scale(ks_trials *t, int nmax, kspec_error *err);
/* Like ks_trials_scale(), using all threads of the run or the run's device. */
kspec_status ks_trials_scale_by(const ks_run *run, ks_trials *t, int nmax, kspec_error *err);

/* The number of splits: `splits` if trials are split at random, otherwise 1 */
size_t ks_trials_splits(const ks_trials *t, int splits);

/* The memory for one pair. A trial that needs no change needs no memory. */
typedef struct {
    double *a, *b, *mean;
    size_t *order;
    /*
     * if entries are missing: 1 for each entry that a (b) contains, 0 for a missing entry; the same pointer
     * if a = b. Otherwise NULL
     */
    double *seen_a, *seen_b;
} ks_halves;
kspec_status ks_trials_alloc(const ks_trials *t, ks_arena *arena, ks_halves *h, kspec_error *err);

/*
 * Computes pair number r. One trial gives A = B. Two trials are A and B. More trials are split at random into
 * halves, whose means are A and B (both orders are unbiased). All rows share the same split. With a different
 * split for each row, a trial would be in A for one row and in B for another, and noise common to a column in
 * that trial would not cancel. Ragged rows need separate splits, because their repeats are separate
 * occasions. With t->pairwise, a missing entry is 0, and the mean of a half includes only the trials that
 * contain the entry.
 */
void ks_trials_split(const ks_trials *t, uint64_t seed, size_t r, ks_halves *h, ks_pair *p);

/*
 * The fraction that centring removes: sum_a (E Phi_a)^2 over sum_a E Phi_a^2. The square of the expectation
 * is the mean of Phi_ia Phi_ja over i != j, which excludes the column's own variance. sum: scratch of 3 Q
 * numbers. NaN if unknown.
 */
kspec_status ks_mean_share(const ks_run *run, const ks_pair *p, const ks_halves *h, double *sum,
                           double *share, kspec_error *err);

/* Sets out (P x Q) to trial k alone, scaled and, if requested, centred. */
void ks_trials_copy(const ks_trials *t, size_t k, ks_halves *h, double *out);

/*
 * Sets out (P x Q) to the mean of all trials, scaled and, if requested, centred. mean: scratch of Q numbers.
 */
void ks_trials_mean(const ks_trials *t, double *mean, double *out);
