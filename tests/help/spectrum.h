/*
 * kspec_spectrum() and kspec_spectrum_from_moments() with what the tests vary as arguments: how moments are
 * estimated, and the rank. Nothing is centred unless `how` says so.
 */
#ifndef TEST_SPECTRUM_H
#define TEST_SPECTRUM_H

#include "kspec.h"

static inline kspec_status spectrum_of(const kspec_matrix *phi, size_t trials, const kspec_moments_opts *how,
                                       const kspec_spectrum_opts *o, kspec_spectrum_result **out,
                                       kspec_error *err) {
    kspec_spectrum_opts opts = o ? *o : (kspec_spectrum_opts){.size = sizeof opts};
    kspec_moments_opts moments = how ? *how : (kspec_moments_opts){.size = sizeof moments};
    if (!opts.center) opts.center = moments.center ? moments.center : KSPEC_CENTER_NONE;
    moments.center = (kspec_center)0;
    opts.moments = &moments;
    return kspec_spectrum(phi, trials, &opts, out, err);
}

static inline kspec_status spectrum_from(const double *m, const double *std_error, const double *correlation,
                                         size_t count, size_t rank, const kspec_spectrum_opts *o,
                                         kspec_spectrum_result **out, kspec_error *err) {
    kspec_spectrum_opts opts = o ? *o : (kspec_spectrum_opts){.size = sizeof opts};
    if (rank) opts.rank = rank;
    return kspec_spectrum_from_moments(m, std_error, correlation, count, &opts, out, err);
}

#endif
