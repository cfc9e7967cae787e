/* Trials that the caller has on a GPU, and that are used on it. */
#pragma once

#include "moments/trials.h"

/* No failure, and never a caller's: what was asked for is to be done on copies in the host's memory. */
#define KS_RETRY_ON_HOST ((kspec_status)1000)

/* Can they be used where they are? One or two, and nothing asked for that needs entries on the host */
int ks_trials_device_suit(size_t ntrials, const kspec_moments_opts *o);

/*
 * The root mean square, by a sum of squares, which shows entries that are not finite. Those, and squares near
 * the ends of what a double holds, are for the host to deal with: KS_RETRY_ON_HOST.
 */
kspec_status ks_trials_device_measure(const ks_run *run, ks_trials *t, double *rms, kspec_error *err);

/* Has the device know the trials, or copies of them that are scaled, centred over rows and row-major. */
kspec_status ks_trials_device_scale(const ks_run *run, ks_trials *t, kspec_error *err);

/* out = the mean of both trials, on the device; to be dropped by the caller */
kspec_status ks_trials_device_mean(const ks_run *run, const ks_trials *t, ks_mat **out, kspec_error *err);

/* The end of all that was held; t may be all zeros. */
void ks_trials_device_end(const ks_run *run, ks_trials *t);
