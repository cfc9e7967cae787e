/*
 * Computes discrete Fourier transforms of any length n in O(n log n) operations. It uses Stockham's
 * algorithm with radices 4, 2, 3 and 5. For lengths with other prime factors it uses Bluestein's
 * algorithm.
 */
#pragma once

#include "linalg/complex.h"

typedef struct ks_fft ks_fft;

kspec_status ks_fft_make(size_t n, ks_fft **out, kspec_error *err);
void ks_fft_free(ks_fft *f); /* NULL is allowed */

/*
 * Returns how many numbers of scratch a transform needs. Threads may share a plan if each has separate
 * scratch.
 */
size_t ks_fft_scratch(const ks_fft *f);

/* Replaces z_k by sum_j z_j e^(sign 2 pi i jk/n), where sign is -1 or 1. */
void ks_fft_run(const ks_fft *f, int sign, ks_cplx *z, ks_cplx *scratch);
