/* Combines centring and finite populations with the other options. */
#pragma once

#include "exact/exact.h"

/*
 * Converts `sampled` and the populations to one form in *o and *e (whose P and Q are set). Both describe a
 * complete side: the population has the size of the sample. The result uses `sampled` if nothing is centred,
 * one side is complete and the other infinite, and otherwise the populations.
 */
kspec_status ks_weighted_resolve(kspec_moments_opts *o, ks_exact_plan *e, kspec_error *err);

/*
 * Rejects options that cannot be combined with centring or finite populations, and chooses the order if not
 * given.
 */
kspec_status ks_weighted_check(kspec_moments_opts *o, const ks_exact_plan *e, kspec_error *err);
