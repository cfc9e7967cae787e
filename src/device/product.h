/* A product of matrices in the host's memory, computed where the run says. */
#pragma once

#include "base/parallel.h"
#include "device/plugin.h"

/*
 * A, B and C are dense, and beta is 0. A device gets copies of A and B, and its product is copied to C; the
 * processor multiplies in place. `what` is named where memory is short.
 */
kspec_status ks_product_of_host(const ks_run *run, const ks_matmul *p, const char *what, kspec_error *err);

/* G = alpha M M^T or, where M (P x Q) has more rows than columns, alpha M^T M */
kspec_status ks_gram_of_host(const ks_run *run, size_t P, size_t Q, double alpha, const double *M, double *G,
                             const char *what, kspec_error *err);
