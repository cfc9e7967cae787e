/* Prepares trials in the caller's GPU memory, so that the estimators use them without a copy to the host. */
#pragma once

#include "moments/trials.h"

/*
 * KS_RETRY_ON_HOST is an internal status, never returned to callers. The status asks the caller to repeat the
 * work on copies in host memory.
 */
#define KS_RETRY_ON_HOST ((kspec_status)1000)

/*
 * Can the device use these trials in place? Yes, if the caller gives at most two and no option needs the
 * host.
 */
int ks_trials_device_suit(size_t ntrials, const kspec_moments_opts *o);

/*
 * Computes the root mean square of the trials. Returns KS_RETRY_ON_HOST unless the result is between 1e-100
 * and 1e100, which also excludes entries that are not finite.
 */
kspec_status ks_trials_device_measure(const ks_run *run, ks_trials *t, double *rms, kspec_error *err);

/*
 * Registers the trials on the device. Trials that need scaling, centring over rows or another layout are
 * copied first.
 */
kspec_status ks_trials_device_scale(const ks_run *run, ks_trials *t, kspec_error *err);

/* Sets *out to the mean of both trials on the device. The caller releases *out. */
kspec_status ks_trials_device_mean(const ks_run *run, const ks_trials *t, ks_mat **out, kspec_error *err);

/* Releases everything that the trials hold on the device. t may be all zeros. */
void ks_trials_device_end(const ks_run *run, ks_trials *t);
