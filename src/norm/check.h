/* Checks the options and the matrix of kspec_norm(). */
#pragma once

#include "features/kernel.h"
#include "kspec/norm.h"

/* These lists name the methods that use random features, and the methods that sample rows. */
enum {
    KS_NORM_RFF =
        KSPEC_NORM_METHOD_RFF_POWER | KSPEC_NORM_METHOD_RFF_NYSTROM | KSPEC_NORM_METHOD_RFF_DEBIASED,
    KS_NORM_SAMPLED = KSPEC_NORM_METHOD_NYSTROM | KSPEC_NORM_METHOD_RFF_NYSTROM
};

/* Returns the methods that AUTO chooses for n x p inputs. */
unsigned ks_norm_auto(const kspec_norm_opts *o, size_t n, size_t p);

/*
 * Checks the options for n rows and the kernel, and fills in all defaults except sigma. It sets left_out
 * to the methods that AUTO skipped.
 */
kspec_status ks_norm_check_options(kspec_norm_opts *o, size_t n, unsigned left_out, ks_kernel *kernel,
                                   kspec_error *err);

/*
 * Returns KSPEC_E_DATA if any two rows show that K is not a Gram matrix. It sets unit to a power of two
 * near the largest entry of K.
 */
kspec_status ks_norm_check_gram(const kspec_matrix *K, double *unit, kspec_error *err);
