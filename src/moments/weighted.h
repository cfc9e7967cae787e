/* Combines centring and finite populations with the other options. */
#pragma once

#include "exact/exact.h"

/*
 * `sampled` and the populations are two ways to say the same: a complete side is a population of the size of
 * the sample. Brings both to one form in *o and *e (whose P and Q are set): `sampled` if nothing is centred,
 * one side is complete and the other infinite; otherwise the populations.
 */
kspec_status ks_weighted_resolve(kspec_moments_opts *o, ks_exact_plan *e, kspec_error *err);

/* Rejects options that cannot be combined with them, by name, and chooses the order if not given. */
kspec_status ks_weighted_check(kspec_moments_opts *o, const ks_exact_plan *e, kspec_error *err);
