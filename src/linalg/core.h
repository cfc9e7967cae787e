/* The core that OpenBLAS detected. */
#pragma once

#include "base/cpu.h"

/*
 * The recommended value of OPENBLAS_CORETYPE on a processor with `isa` if OpenBLAS runs its routines for
 * `core`, a name from openblas_get_corename(). NULL if these routines use all of `isa`, if the user has set
 * the variable (`set`), or if the name is unknown. An unknown name belongs to a newer library, which knows
 * its processors.
 */
const char *ks_blas_core(ks_isa isa, const char *core, int set);

/* Is `core` a core whose routines use `isa`? */
int ks_blas_is_of(const char *core, ks_isa isa);
