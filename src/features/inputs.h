/* Prepares the rows of a data table for a kernel: dense, scaled by column, centred, in units of sigma. */
#pragma once

#include "base/memory.h"
#include "kspec/kernel.h"

typedef struct {
    double *x; /* the rows, n x p, row-major, dense */
    size_t n, p;
    size_t constant_columns; /* the number of columns that became 0 */
} ks_inputs;

/* Returns a dense copy of x, which must be a finite matrix, with the columns scaled. */
kspec_status ks_inputs_copy(const kspec_matrix *x, kspec_scaling scaling, ks_inputs *in, ks_arena *arena,
                            kspec_error *err);

/*
 * Subtracts each column's mean. Distances do not change, and inner products lose fewer digits to a common
 * offset.
 */
void ks_inputs_center(ks_inputs *in);

/* This is the largest entry allowed for random features, in units of sigma: see ks_rows_divide(). */
#define KS_LARGEST_PHASE 1e12

/*
 * Divides `count` dense rows by sigma; `first` is the number of the first row, for the message. It returns
 * KSPEC_E_ARG if an entry exceeds 1e150 sigma, because its square would overflow. For random features the
 * limit is 1e12 sigma, because the phases w.x have a relative rounding error of 1e-16.
 */
kspec_status ks_rows_divide(double *x, size_t first, size_t count, size_t p, double sigma, int features,
                            kspec_error *err);

/* Divides all rows by sigma. */
kspec_status ks_inputs_divide(ks_inputs *in, double sigma, int features, kspec_error *err);

/*
 * Computes the median distance of two rows (L1 for the Laplace kernel), over all pairs of at most 2048
 * rows that the seed draws.
 */
kspec_status ks_inputs_median(const ks_inputs *in, kspec_kernel kernel, uint64_t seed, double *median,
                              kspec_error *err);

/*
 * Writes r row numbers to rows: the first r, or r different random numbers drawn by (seed, stream). rows
 * has room for n numbers.
 */
void ks_sample_rows(size_t n, size_t r, int first, uint64_t seed, uint64_t stream, size_t *rows);
