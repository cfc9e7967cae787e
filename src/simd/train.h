/* Declares the arguments of the training loops in simd.h. */
#pragma once

#include <stddef.h>

/* The numbers of rows and columns must be multiples of these two. */
enum { KS_TRAIN_ROWS = 8, KS_TRAIN_COLS = 16 };

/* The arguments of a product: a has rows x depth entries, b has depth x cols, and both are row-major. */
typedef struct {
    size_t rows, cols, depth;
    const float *a;
    size_t lda;
    const float *b;
    size_t ldb;
} ks_train_product;

/*
 * The numbers of one step of Adam, which include the bias corrections:
 *
 *    m = b1 m + c1 g,   v = b2 v + c2 g^2,   w -= rate m / (sqrt(v) + eps).
 *
 * The caller computes c1 = 1-b1 and c2 = 1-b2 before rounding b2 to single precision, since a rounded b2
 * would leave only four digits of c2. At step t, eps = 1e-8 sqrt(1-b2^t) and rate = step
 * sqrt(1-b2^t)/(1-b1^t).
 */
typedef struct {
    float b1, c1, b2, c2, rate, eps;
} ks_adam;
