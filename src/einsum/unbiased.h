/* kspec_unbiased() of several expressions, for the rooms above. */
#pragma once

#include "kspec/unbiased.h"

enum { KS_UNBIASED_PARTS = 2 };

/*
 * As many expressions as `parts`, with ; between them, in one call: they share their plan, and what all of
 * them need is computed once. out[p], which is NULL before: the result of each.
 */
kspec_status ks_unbiased(const char *expressions, int parts, const kspec_operand *operands, size_t count,
                         const kspec_unbiased_opts *opts, kspec_unbiased_result **out, kspec_error *err);
