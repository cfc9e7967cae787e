/* Options of comparisons, which kspec_compare() and kspec_compare_batch() share. */
#pragma once

#include "kspec/dimension.h"

/* Checks the options that do not depend on the matrices, and sets defaults. */
kspec_status ks_compare_check(kspec_compare_opts *o, kspec_error *err);
