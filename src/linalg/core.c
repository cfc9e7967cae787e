/* Recommends the core that OpenBLAS should use. */
#include "linalg/core.h"
#include "kspec/host.h"
#include "linalg/blas.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/*
 * The x86 cores of OpenBLAS 0.3, grouped by the instruction set of their routines. kspec recommends the first
 * core of a group. Every OpenBLAS with routines for AVX-512 knows the name SkylakeX. Debian 12's 0.3.21 knows
 * neither SapphireRapids nor, as a value of the variable, Cooperlake; DGEMM is as fast with SkylakeX.
 * Excavator's routines use 128 bits, but OpenBLAS chooses them only on an Excavator, which has no wider
 * registers.
 */
static const char *const cores[KS_ISA_COUNT][24] = {
    [KS_ISA_GENERIC] = {"Generic",   "Katmai",       "Coppermine", "Northwood",  "Prescott", "Banias",
                        "Atom",      "Core2",        "Penryn",     "Dunnington", "Nehalem",  "Athlon",
                        "Opteron",   "Opteron_SSE3", "Barcelona",  "Nano",       "Bobcat",   "Sandybridge",
                        "Bulldozer", "Piledriver",   "Steamroller"},
    [KS_ISA_AVX2] = {"Haswell", "Zen", "Excavator"},
    [KS_ISA_AVX512] = {"SkylakeX", "Cooperlake", "SapphireRapids"},
};

int ks_blas_is_of(const char *core, ks_isa isa) {
    for (const char *const *name = cores[isa]; *name; name++)
        if (strcasecmp(core, *name) == 0) return 1;
    return 0;
}

const char *ks_blas_core(ks_isa isa, const char *core, int set) {
    if (set) return NULL;
    for (int below = 0; below < (int)isa; below++)
        if (ks_blas_is_of(core, (ks_isa)below)) return cores[isa][0];
    return NULL;
}

const char *kspec_blas_advice(void) {
    /* a library built for one core ignores the variable */
    if (!strstr(ks_blas_config(), "DYNAMIC_ARCH")) return NULL;
    return ks_blas_core(ks_isa_best(), ks_blas_core_name(), getenv("OPENBLAS_CORETYPE") != NULL);
}
