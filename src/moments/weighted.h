/* Checks how centring and finite populations combine with the other options. */
#pragma once

#include "exact/exact.h"

/*
 * A complete side has a population of the size of the sample, so `sampled` and the population sizes describe
 * it twice. The function converts both to one form in *o and *e, whose P and Q are set. If nothing is
 * centred, one side is complete and the other infinite, the result uses `sampled`. In all other cases the
 * result uses the population sizes.
 */
kspec_status ks_weighted_resolve(kspec_moments_opts *o, ks_exact_plan *e, kspec_error *err);

/*
 * Rejects options that cannot be combined with centring or finite populations. Chooses the order if the
 * caller gave none.
 */
kspec_status ks_weighted_check(kspec_moments_opts *o, const ks_exact_plan *e, kspec_error *err);
