/* Products and eigenproblems of matrices in host memory, on the run's device or CPU. */
#pragma once

#include "base/parallel.h"
#include "device/plugin.h"

/*
 * Multiplies host matrices. A, B and C are dense, and beta is 0. On a device, A and B are copied to the
 * device, and the product is copied to C. The CPU multiplies in place. `what` names the data if memory is
 * short.
 */
kspec_status ks_product_of_host(const ks_run *run, const ks_matmul *p, const char *what, kspec_error *err);

/* Computes G = alpha M M^T for the P x Q matrix M, or G = alpha M^T M if M has more rows than columns. */
kspec_status ks_gram_of_host(const ks_run *run, size_t P, size_t Q, double alpha, const double *M, double *G,
                             const char *what, kspec_error *err);

/* The CPU solves smaller eigenproblems. Tests change the limit. */
extern size_t ks_eigen_least;

/*
 * Sets w to the eigenvalues of the symmetric G (n x n), in increasing order. Destroys G. With `vectors`, the
 * rows of Z become the unit eigenvectors of the last `top` eigenvalues, or, if Z is NULL, the rows of G those
 * of all.
 */
kspec_status ks_eigen_of_host(const ks_run *run, int vectors, size_t n, double *G, double *w, size_t top,
                              double *Z, kspec_error *err);
