/* Finds how many random features rff-power needs for a wanted relative error. */
#pragma once

#include "norm/methods.h"

/*
 * Chooses q. On entry, q is the number of features of the first pilot run; on return, it is enough for
 * j->o.error. expected receives the expected error.
 */
kspec_status ks_norm_pilot(const ks_norm_job *j, const ks_run *run, size_t *q, double *expected,
                           kspec_error *err);
