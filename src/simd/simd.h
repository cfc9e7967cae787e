/*
 * Lists the fastest loops of the library in a table of functions. The sources in this folder are compiled
 * once per instruction set, and the library chooses a table at run time. The loops work on plain arrays. The
 * loops allocate nothing, start no threads and report no errors.
 *
 * To add a loop, declare it here and write it in a .c file of this folder as KS_K(ks_NAME) using vec.h. Then
 * list it in table.c and in CMakeLists.txt.
 */
#pragma once

#include "base/cpu.h"
#include "simd/gram.h"
#include "simd/pairs.h"
#include "simd/path.h"
#include "simd/train.h"
#include "simd/twice.h"

#include <stddef.h>

typedef struct {
    /*
     * Turns uniform random numbers into normal ones by the method of Box and Muller. u[k] and v[k], uniform
     * on (0,1), become r cos(2 pi v) and r sin(2 pi v) with r = sqrt(-2 log u). n must be a multiple of 8.
     * Every instruction set gives the same bits.
     */
    void (*box_muller)(double *u, double *v, size_t n);

    /*
     * Replaces z[k] by sqrt(2) sin(z[k] + b[k]), which gives the random Fourier features of one row. n may be
     * any number.
     */
    void (*sin_features)(double *z, const double *b, size_t n);

    /*
     * Sets s[k] to sin(c[k]) and c[k] to cos(c[k]), which gives both halves of random Fourier features. n may
     * be any number.
     */
    void (*cos_sin)(double *c, double *s, size_t n);

    /*
     * On entry c[k] is g = x.x' and s[k] is z.z' with z = x - mean. With q0 = |z|^2/2 and q[k] = |z'|^2/2,
     * half the squared distance is d = |x-x'|^2/2 = q0 + q[k] - s[k]. On return c[k] is e^(-d-g) cosh(g) and
     * s[k] is e^(-d-g) sinh(g). No intermediate result exceeds 1, and s is as exact as g if g is small. n may
     * be any number.
     */
    void (*cosh_sinh)(double *c, double *s, double q0, const double *q, size_t n);

    /*
     * Sets z[j] to w col[j] times the product of x[k][j]^power[k] over k < count. If add is 1, the function
     * adds this product to z[j] instead. If col is NULL, col[j] = 1. n may be any number.
     */
    void (*hadamard)(double *z, size_t n, int add, double w, const double *col, int count,
                     const double *const *x, const int *power);

    /*
     * Replaces z[k] by scale cos(2 pi (z[k] + b[k])), which gives random Fourier features from phases in
     * turns. The error of the cosine is below 4e-16 for every phase. n may be any number.
     */
    void (*cos_turns)(double *z, const double *b, double scale, size_t n);

    /*
     * The following functions compute tiles of Gram matrices. Columns are counted in multiples of 8. The
     * caller rounds n and cols up, and the functions also read and write the memory beyond the last column.
     */

    /*
     * Replaces the inner products c[j] by exp(min(0, c[j] - hi - h[j])), a row of a Gaussian Gram matrix.
     * h[j] is |x|^2/2 for the point of column j.
     */
    void (*gram_exp)(double *c, const double *h, double hi, size_t n);

    /*
     * Sets out[j] to the kernel of x (p numbers) and point j, whose coordinates are Yt[l*ldy + j], from
     * differences of coordinates.
     */
    void (*gram_row)(ks_metric metric, const double *x, const double *Yt, size_t ldy, size_t p, double *out,
                     size_t n);

    /*
     * Adds sum_j K[i,j] x[j] to left[i] and sum_i K[i,j] y[i] to right[j], in one pass over a tile K (rows x
     * cols, stride ld). If right is NULL, only the first product is computed.
     */
    void (*tile_product)(const double *K, size_t ld, size_t rows, size_t cols, const double *x,
                         const double *y, double *left, double *right);

    /* Adds Z^T Z v to w in one pass over Z, which has `rows` rows of length and stride n. */
    void (*normal_product)(const double *Z, size_t rows, size_t n, const double *v, double *w);

    /*
     * Computes three sums over n nodes at k = re + i im, where im > 0 and r = 1/(lambda + k). The first two
     * sums are the complex sums of w lambda r and of w lambda r^2. The third is the sum of w times the angle
     * of lambda + k. The first `ones` weights w are 1. `ones` and n are multiples of 8.
     */
    void (*resolvent)(const double *lambda, const double *weight, size_t ones, size_t n, double re, double im,
                      double sums[5]);

    /* The path functions process `lanes` start rows at once. The sources call this number VL. */
    size_t lanes;

    /* Passes through a cell (see simd/path.h). */
    void (*path_sweep)(const ks_path_cell *c);

    /*
     * Passes forward through a cell with a separate matrix for each order. The update of A[n] uses x[n-1],
     * and the update of R[n] uses y[n-1]. All matrices point to the first row and column. The function
     * ignores the cell's own x and y.
     */
    void (*path_sweep_trials)(const ks_path_cell *c, const double *const *x, const double *const *y);

    /* Passes forward through a cell, and also sums the cycles through each row and column. */
    void (*path_loo)(const ks_path_loo_cell *c);

    /* Processes one row, for cycles that contain at most one member of each group of rows and columns. */
    void (*path_group_row)(const ks_path_group_row *r);

    /*
     * Adds to sum[n] the sum over columns of A[n] times `last`, for `orders` orders. `last` has one vector
     * per column.
     */
    void (*path_close)(size_t cols, int nmax, int orders, const double *A, const double *last, double *sum);

    /*
     * Processes pairs of columns (see simd/pairs.h). keep is 1 for each pair that counts, and 0 otherwise.
     * Each pair gets four outputs, in lists of KS_PAIRS_STRIP: the moment, the square and the weight from all
     * units, and the sum of the absolute values of the moment's terms. The function also computes the first
     * three without each unit g, sums them over the strip, and adds them to left[g], which has three vectors
     * of lanes. Without centring, the moment is the sum over pairs of different units, the square is not
     * computed, and the weight is keep.
     */
    void (*pairs_strip)(const ks_pairs_panel *p, const double *keep, double *each, double *left);

    /*
     * Processes a pair of columns in twice the digits (see simd/twice.h). twice_sums() gives the sums over
     * rows, as two parts each. twice_rows() adds each row's contribution, times `weight`, to KS_TWICE_LISTS
     * lists of n high and n low parts. In twice_rows(), the arguments s, v and v2 are the sums, and the sums
     * of p and q, times the weight.
     */
    void (*twice_sums)(const ks_twice_pair *c, double *sums);
    void (*twice_rows)(const ks_twice_pair *c, const double *s, const double *v, const double *v2,
                       double weight, double *lists);

    /*
     * The following functions train a layer in single precision. Row counts are multiples of KS_TRAIN_ROWS,
     * and column counts of KS_TRAIN_COLS. Any depth is possible.
     */

    /* Sets out to the product a b. */
    void (*train_product)(const ks_train_product *p, float *out, size_t ld);

    /* Makes Adam's step with the gradient a b. w, m and v are matrices of rows x cols with stride ld. */
    void (*train_adam)(const ks_train_product *p, const ks_adam *s, float *w, float *m, float *v, size_t ld);
} ks_simd;

/*
 * Declares the function behind a member of the table, for the instruction set that the current file is
 * compiled for.
 */
#define KS_DECLARE(name) extern __typeof__(*((ks_simd *)0)->name) KS_K(ks_##name)

/* Returns the table of the chosen instruction set. Fails if KSPEC_ISA names an unknown set. */
kspec_status ks_simd_choose(const ks_simd **out, kspec_error *err);

/*
 * Returns the table of a given instruction set, which the processor must support. Tests and benchmarks use
 * this function.
 */
const ks_simd *ks_simd_of(ks_isa isa);
