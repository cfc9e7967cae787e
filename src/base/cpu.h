/* Which instruction set the kernels use: detected once, lowered by KSPEC_ISA. */
#pragma once

#include "kspec/base.h"

/* From the plainest to the widest: a processor has all up to its best. ARM has NEON in the place of AVX2. */
typedef enum { KS_ISA_GENERIC, KS_ISA_AVX2, KS_ISA_NEON = KS_ISA_AVX2, KS_ISA_AVX512, KS_ISA_COUNT } ks_isa;

/* The best instruction set this processor has. */
ks_isa ks_isa_best(void);

/*
 * The one to use, chosen at the first call and kept. Where KSPEC_ISA cannot be followed, every call fails
 * with a message that names it and the choices.
 */
kspec_status ks_isa_choose(ks_isa *isa, kspec_error *err);

/* For tests alone, while nothing runs: as if KSPEC_ISA were this; NULL: not set */
void ks_isa_override(const char *want);

const char *ks_isa_name(ks_isa isa);
