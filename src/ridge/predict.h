/* One point of a prediction, for the calls that make lists of them and those that search. */
#ifndef KS_RIDGE_PREDICT_H
#define KS_RIDGE_PREDICT_H

#include "ridge/solve.h"

/*
 * Predicts at (N, lambda >= 0), started from `*count` points solved before for the same N; one with lambda >
 * 0 is added to them. `columns` is 2 x m (training, test).
 */
kspec_status ks_ridge_point(kspec_ridge *r, const ks_run *run, size_t N, double lambda,
                            ks_ridge_solved *solved, size_t *count, kspec_ridge_point *point, double *columns,
                            kspec_error *err);

/* Is it a number of features, or a lambda, that there can be? */
kspec_status ks_ridge_check_features(size_t features, kspec_error *err);
kspec_status ks_ridge_check_lambda(double lambda, kspec_error *err);

/* How far the call has come, without a part of its own that grows. */
ks_run ks_ridge_still(const ks_run *run, double fraction);

#endif
