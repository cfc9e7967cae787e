/* Computes the kernel matrices K_cos and K_sin of the rows of a prediction. */
#pragma once

#include "ridge/plan.h"

/* Fills r->K, r->Kt and their traces from r->X and r->Xt. */
kspec_status ks_ridge_kernels(kspec_ridge *r, const ks_run *run, kspec_error *err);
