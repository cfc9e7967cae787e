/* Adds noise to the generators' matrices: independent, or shared by the entries of a row or a column. */
#pragma once

#include "kspec/generate.h"

/*
 * Holds the standard deviations of three parts of the noise: one part for each entry, one common to a row,
 * one common to a column.
 */
typedef struct {
    double own, row, col;
} ks_noise;

/*
 * Splits the noise as S (sqrt(1-rho) e + sqrt(rho) r), or similar. The variance of an entry is S^2 in
 * every case.
 */
ks_noise ks_noise_of(double S, kspec_noise correlation, double rho);

/*
 * Adds trial t's noise to rows first ... first+count-1 (out: count x cols); scratch has room for 2 cols
 * numbers.
 */
void ks_noise_add(const ks_noise *n, uint64_t seed, size_t trial, size_t first, size_t count, size_t cols,
                  double *out, double *scratch);
