/*
 * Which instruction set the kernels use: the library detects the best one once, and KSPEC_ISA can lower it.
 */
#pragma once

#include "kspec/base.h"

/* From the plainest to the widest: a processor has all sets up to its best. On ARM, NEON replaces AVX2. */
typedef enum { KS_ISA_GENERIC, KS_ISA_AVX2, KS_ISA_NEON = KS_ISA_AVX2, KS_ISA_AVX512, KS_ISA_COUNT } ks_isa;

/* The best instruction set of this processor. */
ks_isa ks_isa_best(void);

/*
 * The instruction set to use; the first call chooses it, later calls return the same. If KSPEC_ISA cannot be
 * followed, every call fails with a message that names its value and the choices.
 */
kspec_status ks_isa_choose(ks_isa *isa, kspec_error *err);

/* For tests only, while nothing else runs: behaves as if KSPEC_ISA had this value; NULL: not set */
void ks_isa_override(const char *want);

const char *ks_isa_name(ks_isa isa);
