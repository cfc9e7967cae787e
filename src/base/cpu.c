#include "base/cpu.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[KS_ISA_COUNT] = {"generic", "avx2", "avx512"};

const char *ks_isa_name(ks_isa isa) { return names[isa]; }

ks_isa ks_isa_best(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    int avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return KS_ISA_AVX512;
    if (avx2) return KS_ISA_AVX2;
#endif
    return KS_ISA_GENERIC;
}

kspec_status ks_isa_choose(ks_isa *isa, kspec_error *err) {
    ks_isa best = ks_isa_best();
    const char *want = getenv("KSPEC_ISA");
    *isa = best;
    if (!want || !*want) return KSPEC_OK;
    for (int i = 0; i < KS_ISA_COUNT; i++)
        if (strcmp(want, names[i]) == 0) {
            if ((ks_isa)i > best)
                return ks_fail(err, KSPEC_E_ARG, "KSPEC_ISA=%s: this processor has only %s", want,
                               names[best]);
            *isa = (ks_isa)i;
            return KSPEC_OK;
        }
    return ks_fail(err, KSPEC_E_ARG, "KSPEC_ISA=%s is none of generic, avx2, avx512", want);
}

const char *kspec_isa(void) {
    ks_isa isa;
    return ks_isa_choose(&isa, NULL) ? "invalid KSPEC_ISA" : names[isa];
}
