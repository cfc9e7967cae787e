/* Results of predictions: points with room for the errors of each column. */
#pragma once

#include "ridge/plan.h"

/*
 * `count` points, one behind the other, zeroed but for their columns, which follow each other, too: of
 * training, of testing, of the next point; freed by kspec_ridge_free().
 */
kspec_status ks_ridge_result(const kspec_ridge *r, size_t count, kspec_ridge_result **out, kspec_error *err);

/* `count` measured points, zeroed; freed by kspec_ridge_empirical_free(). */
kspec_status ks_ridge_empirical_result(size_t count, kspec_ridge_empirical_result **out, kspec_error *err);

/* Points copied from elsewhere have their columns in this result again. */
void ks_ridge_own_columns(kspec_ridge_result *result, double *columns);
