/*
 * Turns the caller's trials into the pair of matrices that the estimators use. The functions scale, normalise
 * and centre the trials, and split them into halves.
 */
#pragma once

#include "kspec/moments.h"
#include "device/backend.h"
#include "device/pair.h"

typedef struct {
    const kspec_matrix *phi;
    size_t count, P, Q;
    /*
     * row_trials[i] is the number of trials of row i. row_trials is NULL if all rows have equally many
     * trials.
     */
    const size_t *row_trials;
    kspec_center center;
    int normalize;
    /*
     * If keep_means is 1, the trials keep their means. The estimator then centres the data itself, because
     * groups differ in size.
     */
    int keep_means;
    /*
     * If pairwise is 1, NaN is a missing entry. ks_trials_missing() sets pairwise to 0 if no entry is
     * missing.
     */
    int pairwise;
    /*
     * If on_device is 1, one or two trials are on the run's device, dense by rows or by columns
     * (moments/trials_device.h). The device copies trials that need scaling or transposing.
     */
    int on_device;
    ks_mat *held[2];
    /*
     * ks_trials_init() sets `split` to 1 if it must divide the trials into random halves. Two trials with
     * equal counts are already the two halves.
     */
    int split;
    /*
     * ks_trials_scale() divides the matrix by 2^exponent, and the estimator multiplies the result
     * accordingly. When normalising, the matrix is divided by 2^normal_exponent and multiplied by `factor`.
     */
    int exponent, normal_exponent;
    double factor;
    int threads; /* 0 means one thread */
} ks_trials;

/* Returns views of the transposes of all trials, in the arena. Returns NULL if memory is short. */
kspec_matrix *ks_trials_turned(const kspec_matrix *phi, size_t count, ks_arena *arena);

/* Collects the trials with these options. Call ks_trials_init() next. */
ks_trials ks_trials_of(const kspec_matrix *phi, size_t ntrials, const kspec_moments_opts *how);

/*
 * Checks the shapes of the trials and the number of trials of each row. If all rows have equally many trials,
 * sets row_trials to NULL.
 */
kspec_status ks_trials_init(ks_trials *t, kspec_error *err);

/* Counts missing entries if t->pairwise is set. Fails if an entry is infinite or all entries are missing. */
kspec_status ks_trials_missing(ks_trials *t, size_t *missing, kspec_error *err);

/*
 * Checks that all entries are finite or missing, and chooses the scale for orders up to nmax. Uses t->threads
 * threads.
 */
kspec_status ks_trials_scale(ks_trials *t, int nmax, kspec_error *err);
/* Does the same as ks_trials_scale() on all threads of the run, or on the run's device. */
kspec_status ks_trials_scale_by(const ks_run *run, ks_trials *t, int nmax, kspec_error *err);

/* Returns the number of splits, which is 1 if the trials are not split at random. */
size_t ks_trials_splits(const ks_trials *t, int splits);

/* Contains the memory for one pair of halves. A trial that needs no change needs no memory. */
typedef struct {
    double *a, *b, *mean;
    size_t *order;
    /*
     * If entries are missing, seen_a is 1 where a has an entry and 0 where it is missing, and seen_b does the
     * same for b. If a = b, both pointers are equal. Without missing entries, both are NULL.
     */
    double *seen_a, *seen_b;
} ks_halves;
kspec_status ks_trials_alloc(const ks_trials *t, ks_arena *arena, ks_halves *h, kspec_error *err);

/*
 * Computes the pair of matrices A and B of split r. A single trial is both A and B. Two trials are A and B.
 * More trials are split at random into halves, whose means are A and B (both orders are unbiased). All rows
 * share the same split. With a different split for each row, a trial would be in A for one row and in B for
 * another. Noise common to a column in that trial would then not cancel. Ragged rows need separate splits,
 * because their repeats are separate occasions. With t->pairwise, a missing entry is 0, and the mean of a
 * half includes only the trials that contain the entry.
 */
void ks_trials_split(const ks_trials *t, uint64_t seed, size_t r, ks_halves *h, ks_pair *p);

/*
 * Estimates the fraction of the mean square that centring removes, which is the sum over columns of (E
 * Phi_a)^2 divided by the sum of E Phi_a^2. The mean of Phi_ia Phi_ja over i != j estimates (E Phi_a)^2
 * without the column's own variance. sum is scratch of 3 Q numbers. The fraction is NaN if unknown.
 */
kspec_status ks_mean_share(const ks_run *run, const ks_pair *p, const ks_halves *h, double *sum,
                           double *share, kspec_error *err);

/* Writes trial k alone, scaled and if requested centred, to the P x Q matrix out. */
void ks_trials_copy(const ks_trials *t, size_t k, ks_halves *h, double *out);

/*
 * Writes the mean of all trials, scaled and if requested centred, to the P x Q matrix out. mean is scratch of
 * Q numbers.
 */
void ks_trials_mean(const ks_trials *t, double *mean, double *out);
