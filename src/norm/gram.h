/*
 * Multiplies vectors by the Gram matrix of a kernel: y = K x from tiles of the upper triangle, each used
 * twice. The tiles are computed again for every product, or computed once and stored. Both ways give the
 * same bits, at any number of threads.
 */
#pragma once

#include "base/parallel.h"
#include "features/kernel.h"
#include "features/matern.h"
#include "simd/simd.h"

typedef struct {
    const ks_simd *simd;
    ks_metric metric;
    ks_matern matern;      /* for KS_METRIC_SQUARE: the kernel as a function of the squared distance */
    size_t n, p, T, bands; /* T is the size of a tile, T x T; bands have T rows. */
    const double *x;       /* n x p */
    /* the rows in transposed bands of p x T if the tiles use differences; otherwise NULL */
    double *xt;
    double *h; /* half of the squared lengths, |x_i|^2/2, padded with zeros to whole tiles */
    /* the stored tiles of the upper triangle, by rows of tiles, or NULL if no tiles are stored */
    double *held;
    size_t rank, ranks; /* This rank stores the tiles of the chunks rank, rank + ranks, .... */
    double **tile;      /* room for one tile for each worker */
    double *partial;    /* room for one padded vector for each chunk */
    double *in;         /* a padded vector */
    int workers;
} ks_gram;

/*
 * Opens K for centred rows in units of sigma. It stores K if K takes at most `memory` bytes. Borrows x. In
 * a team each rank stores the tiles that it uses.
 */
kspec_status ks_gram_open(ks_gram *g, const ks_run *run, const ks_inputs *x, const ks_kernel *kernel,
                          size_t memory, ks_arena *arena, kspec_error *err);

/*
 * Copies a given K, divided by unit. It copies the n rows and columns with the numbers `rows`, or the
 * first n if `rows` is NULL.
 */
kspec_status ks_gram_take(ks_gram *g, const ks_run *run, const kspec_matrix *K, double unit,
                          const size_t *rows, size_t n, ks_arena *arena, kspec_error *err);

/* Returns the function of the difference of two rows on which the kernel depends. */
ks_metric ks_gram_metric(kspec_kernel kernel);

/*
 * Sets h to |x|^2/2 of each row. Returns 1 if x.y - h_x - h_y gives the exponent accurately, which needs a
 * Gaussian kernel and small h.
 */
int ks_gram_by_products(const ks_inputs *x, kspec_kernel kernel, double *h);

/* Computes y = K x, n numbers each; it is a ks_operator (norm/iterate.h) */
kspec_status ks_gram_apply(void *gram, const ks_run *run, const double *x, double *y, kspec_error *err);

/*
 * Writes the whole matrix K, n x n, row-major. A team cannot call it, because each rank stores only parts
 * of K.
 */
kspec_status ks_gram_matrix(ks_gram *g, const ks_run *run, double *K, kspec_error *err);

/*
 * Computes one tile (I, J). Benchmarks measure the stages separately: stage 1 computes products, 2
 * exponentials, 3 both.
 */
void ks_gram_tile(const ks_gram *g, int stages, size_t I, size_t J, double *tile);
