/*
 * Computes elementwise products of several matrices on the CPU, tile by tile and without intermediate
 * matrices. The expression
 *
 *    X[i,j] = alpha row[i] col[j] prod_k F_k[i,j]^power_k
 *
 * is stored, added, or summed over one index. The code divides the work into fixed chunks, which gives the
 * same bits at any thread count.
 */
#pragma once

#include "base/parallel.h"
#include "device/plugin.h"

/*
 * Computes an expression. out has m x n, m or n numbers. A sum over rows adds the sums over strips of
 * KS_STRIP rows (linalg/linalg.h), so that ranks can divide the sum.
 */
kspec_status ks_tile_run(const ks_run *run, const ks_expression *x, ks_tile_result what, double *out,
                         kspec_error *err);

/* Writes the sums over each strip of rows to out[strip*n + j]. */
kspec_status ks_tile_strip_sums(const ks_run *run, const ks_expression *x, double *out, kspec_error *err);

/* Returns the number of doubles that ks_tile_run() needs while it runs. */
size_t ks_tile_room(const ks_run *run, const ks_expression *x, ks_tile_result what);

/* Adds X^T to the n x n matrix X. */
kspec_status ks_tile_symmetrise(const ks_run *run, size_t n, double *X, kspec_error *err);

/*
 * Returns `run` for an operation of `work` multiply-adds. A small operation gets one thread, because more
 * threads would cost more than they save.
 */
ks_run ks_tile_threads(const ks_run *run, double work);
