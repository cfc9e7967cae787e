/* The core that OpenBLAS detected. */
#pragma once

#include "base/cpu.h"

/*
 * The value that OPENBLAS_CORETYPE should have on a processor with `isa` where OpenBLAS runs its routines for
 * `core`, a name that openblas_get_corename() gives. NULL where they use all of `isa`, where the user has set
 * the variable (`set`), and where the name is unknown: a library newer than our list knows its processors.
 */
const char *ks_blas_core(ks_isa isa, const char *core, int set);

/* Is `core` one of those whose routines use `isa`? */
int ks_blas_is_of(const char *core, ks_isa isa);
