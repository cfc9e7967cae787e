/*
 * Chooses the instruction set of the fast loops. The library detects the best one once, and KSPEC_ISA can
 * lower it.
 */
#pragma once

#include "kspec/base.h"

/*
 * The instruction sets from the plainest to the widest. A processor has all sets up to its best. On ARM, NEON
 * replaces AVX2.
 */
typedef enum { KS_ISA_GENERIC, KS_ISA_AVX2, KS_ISA_NEON = KS_ISA_AVX2, KS_ISA_AVX512, KS_ISA_COUNT } ks_isa;

/* Returns the best instruction set of this processor. */
ks_isa ks_isa_best(void);

/*
 * Returns the instruction set to use. The first call chooses the set, and later calls return the same set. If
 * KSPEC_ISA is impossible, every call fails with a message that names its value and the choices.
 */
kspec_status ks_isa_choose(ks_isa *isa, kspec_error *err);

/*
 * Makes the library behave as if KSPEC_ISA had this value, or as if it were not set if `want` is NULL. Only
 * tests call this function, while nothing else runs.
 */
void ks_isa_override(const char *want);

const char *ks_isa_name(ks_isa isa);
