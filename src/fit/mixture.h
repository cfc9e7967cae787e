/* Averages over families of spectra, each a normal distribution with a weight. */
#pragma once

#include <stddef.h>

/* Sets weight (n) to exp(log_weight - largest log_weight), scaled to sum 1. */
void ks_mixture_weights(size_t n, const double *log_weight, double *weight);

/* The quantile of level q of normals with means mean[k stride] and deviations sd[k stride], k < n. */
double ks_mixture_quantile(size_t n, const double *weight, const double *mean, const double *sd,
                           size_t stride, double q);
