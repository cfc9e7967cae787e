#ifndef KS_MOMENTS_NAIVE_H
#define KS_MOMENTS_NAIVE_H

#include "moments/estimators.h"

/*
 * tr((A B^T / PQ)^n): all cycles, repeated rows and columns too. Memory: ceil(nmax/2) matrices of min(P,Q)^2,
 * and two of P x Q for error bars.
 */
kspec_status ks_naive(const ks_run *run, const ks_pair *p, const ks_moments_out *out, kspec_error *err);

#endif
