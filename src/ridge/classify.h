/* Computes how often the largest output, or the sign of a single output, names the wrong class. */
#pragma once

#include "ridge/plan.h"

enum { CLASS_PARTS = 12 };

/*
 * Computes the mean probability of a wrong class over the test rows. Over draws of W, the outputs for test
 * row t are normal. Their mean is fit_t + the means of the targets; their covariance is sum_h scale[h][t]
 * form[h], where each form is m x m and h < parts <= CLASS_PARTS. For one output, the probability is
 * exact: Phi(-y g/s). Several outputs are sampled with at least 1e5 draws in all.
 */
kspec_status ks_ridge_class_error(const kspec_ridge *r, const double *fit, int parts,
                                  const double *const *scale, double *const *form, double *wrong,
                                  kspec_error *err);

/* Returns the share of test rows whose outputs yt - rest name the wrong class. */
double ks_ridge_wrong_share(const kspec_ridge *r, const double *rest);

/* Returns KSPEC_E_DATA if there are more classes than training rows, or only one class. */
kspec_status ks_ridge_check_classes(const kspec_ridge *r, kspec_error *err);
