/* Averages over families of spectra, each a normal distribution with a weight. */
#pragma once

#include <stddef.h>

/* Sets the n weights to exp(log_weight - largest log_weight), scaled to the sum 1. */
void ks_mixture_weights(size_t n, const double *log_weight, double *weight);

/*
 * Returns the quantile q of a mixture of n normal distributions. Distribution k has the mean mean[k stride]
 * and the standard deviation sd[k stride].
 */
double ks_mixture_quantile(size_t n, const double *weight, const double *mean, const double *sd,
                           size_t stride, double q);
