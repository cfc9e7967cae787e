/* Computes the Kong-Valiant estimator of the moments. */
#pragma once

#include "device/pair.h"

/*
 * Computes Kong-Valiant over rows: the mean over i_1 < ... < i_n of prod_l K[i_l, i_{l+1}], where K = A
 * B^T / Q and nmax <= P. For kv-col pass the transposed pair. Memory: 5 matrices of P x P; with error
 * bars, 8 and one of P x Q.
 */
kspec_status ks_kv_row(const ks_run *run, const ks_pair *p, const ks_moments_out *out, kspec_error *err);
