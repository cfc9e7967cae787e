/* Arguments of the training loops in simd.h. */
#pragma once

#include <stddef.h>

/* the numbers of rows and columns are multiples of these two */
enum { KS_TRAIN_ROWS = 8, KS_TRAIN_COLS = 16 };

/* A rows x depth matrix a times a depth x cols matrix b, all row-major. */
typedef struct {
    size_t rows, cols, depth;
    const float *a;
    size_t lda;
    const float *b;
    size_t ldb;
} ks_train_product;

/*
 * One step of Adam, with the bias corrections folded in:
 *
 *     m = b1 m + c1 g,   v = b2 v + c2 g^2,   w -= rate m / (sqrt(v) + eps),
 *
 * with c1 = 1-b1, c2 = 1-b2 (computed before rounding b2, which would keep only four digits of c2), eps =
 * 1e-8 sqrt(1-b2^t) and rate = step sqrt(1-b2^t)/(1-b1^t).
 */
typedef struct {
    float b1, c1, b2, c2, rate, eps;
} ks_adam;
