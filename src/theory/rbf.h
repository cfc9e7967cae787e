/* The eigenvalues of the RBF kernel in decreasing order, and the degrees of each. */
#pragma once

#include "kspec/theory.h"

kspec_status ks_rbf_check_eta(const double *eta, size_t dim, kspec_error *err);

/*
 * Eigenvalue k > 0 has the degrees of eigenvalue `base` < k, plus one in dimension `axis`. Following `base`
 * from k down to eigenvalue 0 takes all steps in one dimension before the steps of the next dimension.
 */
typedef struct {
    size_t base, axis;
} ks_rbf_step;

/* Like kspec_theory_rbf_eigenvalues(), and also writes `count` steps (NULL: none) */
kspec_status ks_rbf_enumerate(const double *eta, size_t dim, size_t count, double *eigenvalues, double *logs,
                              ks_rbf_step *steps, kspec_error *err);
