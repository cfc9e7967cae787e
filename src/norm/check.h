/* What kspec_norm() accepts. */
#pragma once

#include "features/kernel.h"
#include "kspec/norm.h"

/* The methods that use random features, and those that sample rows. */
enum {
    KS_NORM_RFF =
        KSPEC_NORM_METHOD_RFF_POWER | KSPEC_NORM_METHOD_RFF_NYSTROM | KSPEC_NORM_METHOD_RFF_DEBIASED,
    KS_NORM_SAMPLED = KSPEC_NORM_METHOD_NYSTROM | KSPEC_NORM_METHOD_RFF_NYSTROM
};

/* The methods that AUTO stands for, of n x p inputs */
unsigned ks_norm_auto(const kspec_norm_opts *o, size_t n, size_t p);

/* Checks the options for n rows and fills in the defaults, but for sigma, and the kernel. */
kspec_status ks_norm_check_options(kspec_norm_opts *o, size_t n, ks_kernel *kernel, kspec_error *err);

/*
 * KSPEC_E_DATA unless K may be a Gram matrix, as far as two rows at a time can tell. *unit becomes a power of
 * two near its largest entry.
 */
kspec_status ks_norm_check_gram(const kspec_matrix *K, double *unit, kspec_error *err);
