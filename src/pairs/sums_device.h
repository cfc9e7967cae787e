/*
 * Computes the products behind second-order sums (pairs/sums.h) of two trials on a GPU. For one trial,
 * lists.h serves the same purpose.
 */
#pragma once

#include "pairs/sums.h"

/*
 * Sums for each row i, over all pairs of columns, including pairs of a column with itself:
 *     qa[i] = sum (s_xy z_i w_i + s_zw x_i y_i),   qc[i] = sum (s_xw y_i z_i + s_yz x_i w_i).
 * For each column alpha of the first matrix, ca[alpha] is the sum over gamma of s_xy s_zw, and cc[alpha] is
 * the sum over gamma of s_xw s_yz. For each column gamma of the second matrix, oa and oc are the
 * corresponding sums over alpha.
 */
typedef struct {
    const ks_two *t;
    double *qa, *qc, *ca, *cc, *oa, *oc;
} ks_sums_work;

/* Are Q x R matrices cheaper than P x P matrices? Compares P Q R with P^2 (Q + R) / 2 multiply-adds. */
static inline int ks_sums_by_columns(size_t P, size_t Q, size_t R) {
    return (double)Q * (double)R <= (double)P * ((double)Q + (double)R) / 2;
}

/* Computes the lists of w on run->device, which stores the intermediate matrices. */
kspec_status ks_sums_on_device(const ks_run *run, const ks_sums_work *w, int columns, kspec_error *err);
