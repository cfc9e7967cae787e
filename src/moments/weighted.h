/* What centring and finite populations ask of the other options, and allow. */
#pragma once

#include "exact/exact.h"

/*
 * `sampled` and the populations say one thing in two ways: a complete side is a population of its own size.
 * Brings both to one form in *o and *e (whose P and Q are set): `sampled` where nothing is centred and one
 * side is complete, the other infinite; the populations otherwise.
 */
kspec_status ks_weighted_resolve(kspec_moments_opts *o, ks_exact_plan *e, kspec_error *err);

/* Refuses what does not go with them, by name, and chooses the order where none is asked for. */
kspec_status ks_weighted_check(kspec_moments_opts *o, const ks_exact_plan *e, kspec_error *err);
