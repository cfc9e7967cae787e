/* Averages over families of spectra, each a normal distribution with a weight. */
#pragma once

#include <stddef.h>

/* weight (n) = exp(log_weight - largest), scaled to sum 1. */
void ks_mixture_weights(size_t n, const double *log_weight, double *weight);

/* The quantile of level q of normals with means mean[k stride] and deviations sd[k stride], k < n. */
double ks_mixture_quantile(size_t n, const double *weight, const double *mean, const double *sd,
                           size_t stride, double q);
