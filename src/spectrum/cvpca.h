/*
 * Cross-validated eigenvalues (Stringer et al. 2019). One half A of the trials gives the directions. Only
 * variation that the other half B repeats in these directions counts. Noise that is new in each trial adds
 * nothing on average.
 */
#pragma once

#include "base/memory.h"
#include "kspec/base.h"

/* Scratch for matrices of up to P x Q: three squares of the shorter side, and a row. */
typedef struct {
    double *gram, *cross, *product, *values;
} ks_cvpca_room;
void ks_cvpca_alloc(ks_cvpca_room *room, size_t P, size_t Q, ks_arena *arena);

/*
 * Sets lambda[k] = (A v_k).(B v_k)/(PQ) for k < min(P,Q). v_k is the k-th right singular vector of A (P x Q,
 * row-major), the largest singular value first. The values may be negative, and are not sorted.
 */
kspec_status ks_cvpca(const double *A, const double *B, size_t P, size_t Q, ks_cvpca_room *room,
                      double *lambda, kspec_error *err);
