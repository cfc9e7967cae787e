/* Additive noise of the generators: independent, or shared by the entries of a row or a column. */
#pragma once

#include "kspec/generate.h"

/* Standard deviations of three parts: one for each entry, one common to a row, one common to a column. */
typedef struct {
    double own, row, col;
} ks_noise;

/* S (sqrt(1-rho) e + sqrt(rho) r), or similar: the variance of an entry is S^2 in every case. */
ks_noise ks_noise_of(double S, kspec_noise correlation, double rho);

/* Adds trial t's noise to rows first ... first+count-1 (out: count x cols); scratch has room for 2 cols. */
void ks_noise_add(const ks_noise *n, uint64_t seed, size_t trial, size_t first, size_t count, size_t cols,
                  double *out, double *scratch);
