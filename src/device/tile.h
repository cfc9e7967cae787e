/*
 * The processor's elementwise products of several matrices, tile by tile, without matrices in between: the
 * expression
 *     X[i,j] = alpha row[i] col[j] prod_k F_k[i,j]^power_k
 * is stored, added, or summed over one index. Work is cut into fixed chunks: the same bits at any thread
 * count.
 */
#pragma once

#include "base/parallel.h"
#include "device/plugin.h"

/*
 * out is m x n, m or n numbers. A sum over rows is that of the sums over strips of KS_STRIP rows
 * (linalg/linalg.h), so that it can be shared out.
 */
kspec_status ks_tile_run(const ks_run *run, const ks_expression *x, ks_tile_result what, double *out,
                         kspec_error *err);

/* The sums over each strip of rows instead: out[strip*n + j] */
kspec_status ks_tile_strip_sums(const ks_run *run, const ks_expression *x, double *out, kspec_error *err);

/* How many doubles it holds meanwhile. */
size_t ks_tile_room(const ks_run *run, const ks_expression *x, ks_tile_result what);

/* X += X^T for an n x n matrix. */
kspec_status ks_tile_symmetrise(const ks_run *run, size_t n, double *X, kspec_error *err);

/* The run to use for an operation of this many multiply-adds: threads cost more than a small one saves. */
ks_run ks_tile_threads(const ks_run *run, double work);
