/* Reads from the options which kernel to use, and its bandwidth. */
#pragma once

#include "features/inputs.h"

/* Holds a kernel, and the way to draw its frequencies. */
typedef struct {
    kspec_kernel kind;
    double nu; /* the smoothness nu of the Matern kernel */
    kspec_frequencies frequencies;
    int paired; /* 1 if each frequency gives two neighbouring features, a cosine and a sine */
} ks_kernel;

/*
 * Returns KSPEC_E_ARG with a message such as "unknown kernel 7" for an unknown kernel; sets the default of
 * nu.
 */
kspec_status ks_kernel_check(ks_kernel *kernel, kspec_error *err);

/*
 * Checks that the options set at most one of three fields: sigma above 0, gamma above 0, or median = 1. If
 * the options set none of them, sigma is 1.
 */
typedef struct {
    double sigma, gamma;
    int median;
} ks_bandwidth;

kspec_status ks_bandwidth_check(const ks_bandwidth *b, kspec_error *err);

/* Sets sigma as the options request, after the check. A median distance is computed from the rows. */
kspec_status ks_bandwidth_sigma(const ks_bandwidth *b, kspec_kernel kernel, const ks_inputs *rows,
                                uint64_t seed, double *sigma, kspec_error *err);

/*
 * Returns gamma for this sigma: 1/(2 sigma^2) for the Gaussian kernel, 1/sigma for Laplace and Matern,
 * 1/sigma^2 for Cauchy.
 */
double ks_gamma(kspec_kernel kernel, double sigma);
