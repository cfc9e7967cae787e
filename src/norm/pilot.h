/* How many random features rff-power needs for a wanted relative error. */
#pragma once

#include "norm/methods.h"

/* *q, at first that of the first pilot run, for j->o.error; and the relative error to expect with it. */
kspec_status ks_norm_pilot(const ks_norm_job *j, const ks_run *run, size_t *q, double *expected,
                           kspec_error *err);
