/*
 * The Gram matrix of a kernel as an operator: y = K x from tiles of its upper triangle, each used twice.
 * Tiles are recomputed from the rows for every product, or computed once and held. Both give the same bits,
 * at any number of threads.
 */
#pragma once

#include "base/parallel.h"
#include "features/kernel.h"
#include "features/matern.h"
#include "simd/simd.h"

typedef struct {
    const ks_simd *simd;
    ks_metric metric;
    ks_matern matern;      /* with KS_METRIC_SQUARE: the kernel as a function of it */
    size_t n, p, T, bands; /* tiles are T x T, bands have T rows */
    const double *x;       /* n x p */
    double *xt;            /* for differences: bands of p x T, transposed; otherwise NULL */
    double *h;             /* |x_i|^2/2, padded with zeros to whole tiles */
    double *held;          /* the tiles of the upper triangle, row by row of tiles; or NULL */
    size_t rank, ranks;    /* tiles held: chunks rank, rank + ranks, ... */
    double **tile;         /* per worker: a tile */
    double *partial;       /* per chunk: a padded vector */
    double *in;            /* a padded vector */
    int workers;
} ks_gram;

/*
 * Opens K for rows in units of sigma, centred. Holds K if it takes at most `memory` bytes. Borrows x. In a
 * team each rank holds the tiles that it multiplies with.
 */
kspec_status ks_gram_open(ks_gram *g, const ks_run *run, const ks_inputs *x, const ks_kernel *kernel,
                          size_t memory, ks_arena *arena, kspec_error *err);

/* A copy of K/unit, with K given: its n rows and columns `rows`, or the first n if `rows` is NULL */
kspec_status ks_gram_take(ks_gram *g, const ks_run *run, const kspec_matrix *K, double unit,
                          const size_t *rows, size_t n, ks_arena *arena, kspec_error *err);

/* The function of the difference of two rows that a kernel depends on */
ks_metric ks_gram_metric(kspec_kernel kernel);

/*
 * h = |x|^2/2 of each row. Returns 1 if products, x.y - h_x - h_y, give the exponent accurately: for a
 * Gaussian with small enough h.
 */
int ks_gram_by_products(const ks_inputs *x, kspec_kernel kernel, double *h);

/* y = K x, n numbers each; a ks_operator (norm/iterate.h) */
kspec_status ks_gram_apply(void *gram, const ks_run *run, const double *x, double *y, kspec_error *err);

/* All of K, n x n, row-major. Not for a team, in which no rank has all of K. */
kspec_status ks_gram_matrix(ks_gram *g, const ks_run *run, double *K, kspec_error *err);

/* One tile (I, J). Benchmarks measure the stages separately: 1 products, 2 exponentials, 3 both. */
void ks_gram_tile(const ks_gram *g, int stages, size_t I, size_t J, double *tile);
