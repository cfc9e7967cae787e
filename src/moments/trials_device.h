/* Trials in the caller's GPU memory, which the estimators use without copying to the host. */
#pragma once

#include "moments/trials.h"

/* An internal status, never returned to callers: repeat the work on copies in host memory. */
#define KS_RETRY_ON_HOST ((kspec_status)1000)

/* Can the device use these trials in place? Yes, if at most two are given and no option needs the host. */
int ks_trials_device_suit(size_t ntrials, const kspec_moments_opts *o);

/*
 * Computes the root mean square. Returns KS_RETRY_ON_HOST unless the root mean square is between 1e-100 and
 * 1e100. This range also excludes entries that are not finite.
 */
kspec_status ks_trials_device_measure(const ks_run *run, ks_trials *t, double *rms, kspec_error *err);

/* Registers the trials on the device, or copies that are scaled, centred over rows and row-major. */
kspec_status ks_trials_device_scale(const ks_run *run, ks_trials *t, kspec_error *err);

/* Sets *out to the mean of both trials, on the device. The caller releases *out */
kspec_status ks_trials_device_mean(const ks_run *run, const ks_trials *t, ks_mat **out, kspec_error *err);

/* Releases everything held on the device; t may be all zeros. */
void ks_trials_device_end(const ks_run *run, ks_trials *t);
