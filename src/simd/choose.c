/* Chooses the table of loops for the instruction set in use. */
#include "simd/simd.h"

extern const ks_simd ks_simd_generic;
#if defined(__x86_64__)
extern const ks_simd ks_simd_avx2, ks_simd_avx512;
static const ks_simd *const tables[KS_ISA_COUNT] = {&ks_simd_generic, &ks_simd_avx2, &ks_simd_avx512};
#elif defined(__aarch64__)
extern const ks_simd ks_simd_neon;
static const ks_simd *const tables[KS_ISA_COUNT] = {&ks_simd_generic, &ks_simd_neon};
#else
static const ks_simd *const tables[KS_ISA_COUNT] = {&ks_simd_generic};
#endif

const ks_simd *ks_simd_of(ks_isa isa) { return tables[isa]; }

kspec_status ks_simd_choose(const ks_simd **out, kspec_error *err) {
    ks_isa isa;
    kspec_status st = ks_isa_choose(&isa, err);
    *out = tables[st ? KS_ISA_GENERIC : isa];
    return st;
}
