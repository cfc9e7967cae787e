/* Allocates the results of predictions: points with room for the errors of each column. */
#pragma once

#include "ridge/plan.h"

/*
 * Allocates `count` consecutive points, zero except for their columns. The columns follow each other as
 * well: first the training columns, then the test columns, then the columns of the next point.
 * kspec_free() frees them.
 */
kspec_status ks_ridge_result(const kspec_ridge *r, size_t count, kspec_ridge_result **out, kspec_error *err);

/* Allocates `count` measured points, zeroed; kspec_free() frees them. */
kspec_status ks_ridge_empirical_result(size_t count, kspec_ridge_empirical_result **out, kspec_error *err);

/* Makes points that were copied from another result use the columns of this result again. */
void ks_ridge_own_columns(kspec_ridge_result *result, double *columns);
