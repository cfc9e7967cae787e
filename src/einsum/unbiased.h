/* Computes several expressions by one call of kspec_unbiased(), for use within the library. */
#pragma once

#include "kspec/unbiased.h"

enum { KS_UNBIASED_PARTS = 2 };

/*
 * Computes `parts` expressions, separated by ";". All expressions share a plan, which computes common graphs
 * once. out[p] must be NULL before the call, and receives the result of expression p.
 */
kspec_status ks_unbiased(const char *expressions, int parts, const kspec_operand *operands, size_t count,
                         const kspec_unbiased_opts *opts, kspec_unbiased_result **out, kspec_error *err);
