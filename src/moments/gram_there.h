/* naive and Kong-Valiant by the operations of a backend, for a GPU: naive.c and kv.c have the mathematics. */
#ifndef KS_MOMENTS_GRAM_THERE_H
#define KS_MOMENTS_GRAM_THERE_H

#include "moments/estimators.h"

/* P <= Q: that of naive.c on the shorter side */
kspec_status ks_naive_there(const ks_run *run, const ks_pair *p, const ks_moments_out *out, kspec_error *err);
/* (sum of eigenvalues)^2 / sum of squares of the smaller of X X^T and X^T X */
kspec_status ks_ratio_there(const ks_run *run, const double *X, size_t P, size_t Q, double *ratio,
                            kspec_error *err);
kspec_status ks_kv_there(const ks_run *run, const ks_pair *p, const ks_moments_out *out, kspec_error *err);

#endif
