/* Reads from the options which kernel to use, and its bandwidth. */
#pragma once

#include "features/inputs.h"

/* A kernel, and the way to draw its frequencies */
typedef struct {
    kspec_kernel kind;
    double nu; /* the smoothness of MATERN */
    kspec_frequencies frequencies;
    int paired; /* 1: each independent frequency has a cosine and a sine, one after the other */
} ks_kernel;

/* KSPEC_E_ARG, "unknown kernel 7", for an unknown kernel; sets the default of nu. */
kspec_status ks_kernel_check(ks_kernel *kernel, kspec_error *err);

/*
 * Checks that the options give at most one of the three: sigma or gamma above 0, or median = 1. None: sigma =
 * 1.
 */
typedef struct {
    double sigma, gamma;
    int median;
} ks_bandwidth;

kspec_status ks_bandwidth_check(const ks_bandwidth *b, kspec_error *err);

/* The requested sigma, after the check; for the median distance, it is computed from the rows. */
kspec_status ks_bandwidth_sigma(const ks_bandwidth *b, kspec_kernel kernel, const ks_inputs *rows,
                                uint64_t seed, double *sigma, kspec_error *err);

/* gamma of a kernel with this sigma: 1/(2 sigma^2), Laplace and Matern 1/sigma, Cauchy 1/sigma^2. */
double ks_gamma(kspec_kernel kernel, double sigma);
