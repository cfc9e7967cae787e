/* Detects the processor's instruction set, which KSPEC_ISA may lower. */
#include "base/cpu.h"

#include "base/error.h"
#include "kspec/host.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#if defined(__aarch64__)
static const char *const names[KS_ISA_COUNT] = {"generic", "neon", "none"};
#else
static const char *const names[KS_ISA_COUNT] = {"generic", "avx2", "avx512"};
#endif

const char *ks_isa_name(ks_isa isa) { return names[isa]; }

ks_isa ks_isa_best(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    int avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return KS_ISA_AVX512;
    if (avx2) return KS_ISA_AVX2;
#elif defined(__aarch64__)
    return KS_ISA_NEON; /* always present */
#endif
    return KS_ISA_GENERIC;
}

/*
 * The choice that KSPEC_ISA makes. If the choice is impossible, `refusal` contains the reason, and every
 * computation reports it.
 */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static ks_isa chosen;
static kspec_error refusal;

static void choose_by(const char *want) {
    chosen = ks_isa_best();
    ks_clear(&refusal);
    if (!want || !*want) return;
    for (int i = 0; i < KS_ISA_COUNT; i++)
        if (strcmp(want, names[i]) == 0) {
            if ((ks_isa)i > chosen)
                ks_fail(&refusal, KSPEC_E_ARG, "KSPEC_ISA=%s: this processor has only %s", want,
                        names[chosen]);
            else
                chosen = (ks_isa)i;
            return;
        }
    ks_fail(&refusal, KSPEC_E_ARG, "KSPEC_ISA=%s must be one of " KSPEC_ISA_NAMES, want);
}

static void choose(void) { choose_by(getenv("KSPEC_ISA")); }

kspec_status ks_isa_choose(ks_isa *isa, kspec_error *err) {
    pthread_once(&once, choose);
    *isa = chosen;
    return refusal.code ? ks_fail_again(err, &refusal) : KSPEC_OK;
}

void ks_isa_override(const char *want) {
    pthread_once(&once, choose);
    choose_by(want);
}

const char *kspec_isa(void) {
    ks_isa isa;
    return ks_isa_choose(&isa, NULL) ? "invalid KSPEC_ISA" : names[isa];
}
