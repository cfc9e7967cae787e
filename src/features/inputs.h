/* The rows of a data matrix, made ready for a kernel: dense, scaled column by column, centred, in units of sigma. */
#ifndef KS_FEATURES_INPUTS_H
#define KS_FEATURES_INPUTS_H

#include "base/memory.h"
#include "kspec/kernel.h"

typedef struct {
    double *x; /* n x p, row-major, dense */
    size_t n, p;
    size_t constant_columns; /* left at 0 by scaling */
} ks_inputs;

/* A dense copy of x, which must be finite and not empty, with the columns scaled. */
kspec_status ks_inputs_copy(const kspec_matrix *x, kspec_scaling scaling, ks_inputs *in, ks_arena *arena,
                            kspec_error *err);

/* Subtracts each column's mean: no distance changes, and inner products lose less to a common offset. */
void ks_inputs_center(ks_inputs *in);

#define KS_LARGEST_PHASE 1e12

/*
 * Divides all entries by sigma; fails where one is more than 1e150 sigma away (squares must not overflow), or, for random
 * features, 1e12: their phases w.x are rounded to 1e-16 of themselves, and past 1e16 turns all cosines would be 1.
 */
kspec_status ks_inputs_divide(ks_inputs *in, double sigma, int features, kspec_error *err);

/* The median distance of two rows (L1 for the Laplace kernel), over all pairs of at most 2048 rows drawn by the seed. */
kspec_status ks_inputs_median(const ks_inputs *in, kspec_kernel kernel, uint64_t seed, double *median,
                              kspec_error *err);

/* rows[0 ... r-1] = sampled row numbers: the first r, or r different ones drawn by (seed, stream). rows has room for n. */
void ks_sample_rows(size_t n, size_t r, int first, uint64_t seed, uint64_t stream, size_t *rows);

#endif
