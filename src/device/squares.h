/*
 * Runs the steps of a computation with the Gram matrix and other square matrices, on any backend
 * (device/backend.h). The naive and Kong-Valiant estimators and the second-order sums use these functions.
 * After a failure all further steps do nothing, and the end releases all matrices.
 */
#pragma once

#include "device/backend.h"
#include "device/pair.h"

typedef struct {
    const ks_run *run;
    const ks_backend *at;
    /* name in messages */
    const char *name;
    const ks_mat *A, *B;
    ks_mat **held;
    size_t count;
    /* for vectors */
    ks_arena arena;
    kspec_status status;
    kspec_error *err;
} ks_squares;

/* Begins a computation that stores at most `matrices` matrices at once. */
ks_squares ks_squares_begin(const ks_run *run, const ks_pair *p, size_t matrices, const char *name,
                            kspec_error *err);
kspec_status ks_squares_end(ks_squares *w);

ks_mat *ks_squares_matrix(ks_squares *w, size_t rows, size_t cols);
void ks_squares_drop_last(ks_squares *w);
double *ks_squares_vector(ks_squares *w, size_t count);

/*
 * Sets Z (m x n) to alpha X Y + beta Z, where X is m x k and Y is k x n. X or Y may be given as its
 * transpose.
 */
enum { KS_TURN_SECOND = 1, KS_TURN_FIRST = 2 };
void ks_squares_product(ks_squares *w, const ks_run *part, size_t m, size_t n, size_t k, double alpha,
                        const ks_mat *X, const ks_mat *Y, int turned, double beta, ks_mat *Z);
/*
 * Sets out to alpha X o Y, or to its sums over one index. If turned is 1, Y^T replaces Y. If Y is NULL, the
 * result is alpha X.
 */
void ks_squares_entries(ks_squares *w, size_t m, size_t n, double alpha, const ks_mat *X, const ks_mat *Y,
                        int turned, ks_mat *out);
void ks_squares_sums(ks_squares *w, size_t m, size_t n, double alpha, const ks_mat *X, const ks_mat *Y,
                     int turned, ks_tile_result what, double *out);
void ks_squares_diagonal(ks_squares *w, size_t n, const ks_mat *X, double *out);
double ks_squares_sum(const ks_squares *w, size_t n, const double *x);

/* Computes the trace and the sum of squares of X X^T, from the smaller of X X^T and X^T X. */
kspec_status ks_gram_sums_device(const ks_run *run, const double *X, size_t P, size_t Q, double *trace,
                                 double *square, kspec_error *err);
