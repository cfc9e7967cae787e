/* The eigenvalues of the RBF kernel in decreasing order, and the degrees of each. */
#pragma once

#include "kspec/theory.h"

kspec_status ks_rbf_check_eta(const double *eta, size_t dim, kspec_error *err);

/* Eigenvalue k > 0 has the degrees of eigenvalue `base` < k, and one more in dimension `axis`. Steps that
 * lead back to eigenvalue 0 visit each dimension in one run. */
typedef struct {
    size_t base, axis;
} ks_rbf_step;

/* kspec_theory_rbf_eigenvalues() with the steps (count of them, or NULL) */
kspec_status ks_rbf_enumerate(const double *eta, size_t dim, size_t count, double *eigenvalues, double *logs,
                              ks_rbf_step *steps, kspec_error *err);
