/* How often the largest output, or the sign of a single one, names the wrong class. */
#pragma once

#include "ridge/plan.h"

enum { CLASS_PARTS = 12 };

/*
 * Outputs for test row t over draws of W: normal, of mean fit_t + the targets' means and covariance sum_h
 * scale[h][t] form[h], form m x m and h < parts <= CLASS_PARTS. *wrong is the mean over test rows of the
 * probability of a wrong class: exact for one output, Phi(-y g/s); of more by as many draws as give
 * 1e5 in all, or more.
 */
kspec_status ks_ridge_class_error(const kspec_ridge *r, const double *fit, int parts,
                                  const double *const *scale, double *const *form, double *wrong,
                                  kspec_error *err);

/* The share of test rows for which outputs yt - rest name the wrong class */
double ks_ridge_wrong_share(const kspec_ridge *r, const double *rest);

/* KSPEC_E_DATA where there are more classes than training rows, or one class alone. */
kspec_status ks_ridge_check_classes(const kspec_ridge *r, kspec_error *err);
