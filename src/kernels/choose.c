#include "kernels/kernels.h"

extern const ks_kernels ks_kernels_generic;
#if defined(__x86_64__)
extern const ks_kernels ks_kernels_avx2, ks_kernels_avx512;
static const ks_kernels *const tables[KS_ISA_COUNT] = {&ks_kernels_generic, &ks_kernels_avx2,
                                                       &ks_kernels_avx512};
#else
static const ks_kernels *const tables[KS_ISA_COUNT] = {&ks_kernels_generic};
#endif

const ks_kernels *ks_kernels_of(ks_isa isa) { return tables[isa]; }

kspec_status ks_kernels_choose(const ks_kernels **out, kspec_error *err) {
    ks_isa isa;
    kspec_status st = ks_isa_choose(&isa, err);
    *out = tables[st ? KS_ISA_GENERIC : isa];
    return st;
}
