/*
 * Computes second-order estimates (pairs/sums.h) with twice the digits of a double, for data whose columns,
 * rows or entries differ so much in size that sums in doubles lose the result. The code sums over the pairs
 * of columns one by one, and includes a column paired with itself only if such pairs count. So the estimate
 * without a large column is free of the large column's rounding errors.
 */
#pragma once

#include "base/memory.h"
#include "base/parallel.h"
#include "base/twice.h"
#include "pairs/sums.h"

/*
 * Describes a matrix that is stored column by column. Each column has P rows, and is padded with zeros to
 * `stride`.
 */
typedef struct {
    size_t P, Q, stride;
    double *hi, *lo;
} ks_twice_matrix;

kspec_status ks_twice_matrix_make(size_t P, size_t Q, ks_twice_matrix *m, ks_arena *arena, kspec_error *err);

/* X and Z are the first matrix's trials. Y and W are the second matrix's trials in the opposite order. */
typedef struct {
    const ks_twice_matrix *X, *Z, *Y, *W;
    int same, centered;
    double rows, columns; /* The sizes of the populations. 0 means infinite. ks_two explains columns. */
} ks_twice_two;

/*
 * Lists of 1 + P + Q + R estimates: from all data, without each row, without each column of the first matrix,
 * and without each column of the second. With `same`, the last R are absent. trace and square may be NULL.
 * The function adds its estimates, times weight, to the lists.
 */
typedef struct {
    double weight, *trace, *square, *cross;
    ks_lost *of_trace, *of_square, *of_cross;
} ks_twice_out;

/*
 * Adds the estimates to `out`, in about 300 P Q R operations. ks_twice_work() returns P Q R, or half of it
 * for one matrix.
 */
kspec_status ks_twice_make(const ks_run *run, const ks_twice_two *t, const ks_twice_out *out,
                           kspec_error *err);
double ks_twice_work(size_t P, size_t Q, size_t R, int same);
