/*
 * The estimates that follow from the sums of second order (pairs/sums.h), in twice the digits: for data
 * whose columns, rows or entries differ so much that sums in doubles lose what matters. One pair of columns
 * after the other, a column with itself only where it counts: then a large column is not in what is left
 * without it.
 */
#pragma once

#include "base/memory.h"
#include "base/parallel.h"
#include "base/twice.h"
#include "pairs/sums.h"

/* P rows, which are filled up with zeros to `stride`, and Q columns, one after the other */
typedef struct {
    size_t P, Q, stride;
    double *hi, *lo;
} ks_twice_matrix;

kspec_status ks_twice_matrix_make(size_t P, size_t Q, ks_twice_matrix *m, ks_arena *arena, kspec_error *err);

/* As ks_two: of the first matrix X and Z are the trials, of the second Y and W, in the opposite order. */
typedef struct {
    const ks_twice_matrix *X, *Z, *Y, *W;
    int same, centered;
    double rows, columns; /* populations; columns as in ks_two: 0 is infinite */
} ks_twice_two;

/*
 * Estimates from all, without each row, without each column of the first, without each of the second (those
 * only where not `same`): 1 + P + Q (+ R). trace and square may be NULL. They are added to, times weight.
 */
typedef struct {
    double weight, *trace, *square, *cross;
    ks_lost *of_trace, *of_square, *of_cross;
} ks_twice_out;

/* Time: about 300 P Q R operations. ks_twice_work() is P Q R, or half of that for one matrix. */
kspec_status ks_twice_make(const ks_run *run, const ks_twice_two *t, const ks_twice_out *out,
                           kspec_error *err);
double ks_twice_work(size_t P, size_t Q, size_t R, int same);
