#include "linalg/core.h"
#include "test.h"
#include "kspec/host.h"

/* Every core that OpenBLAS 0.3 has for x86, and what to set on a processor with generic, avx2 and avx512. */
static const struct {
    const char *core, *advice[KS_ISA_COUNT];
} cases[] = {
    {"Katmai", {NULL, "Haswell", "SkylakeX"}},
    {"Coppermine", {NULL, "Haswell", "SkylakeX"}},
    {"Northwood", {NULL, "Haswell", "SkylakeX"}},
    {"Prescott", {NULL, "Haswell", "SkylakeX"}},
    {"Banias", {NULL, "Haswell", "SkylakeX"}},
    {"Atom", {NULL, "Haswell", "SkylakeX"}},
    {"Core2", {NULL, "Haswell", "SkylakeX"}},
    {"Penryn", {NULL, "Haswell", "SkylakeX"}},
    {"Dunnington", {NULL, "Haswell", "SkylakeX"}},
    {"Nehalem", {NULL, "Haswell", "SkylakeX"}},
    {"Athlon", {NULL, "Haswell", "SkylakeX"}},
    {"Opteron", {NULL, "Haswell", "SkylakeX"}},
    {"Opteron_SSE3", {NULL, "Haswell", "SkylakeX"}},
    {"Barcelona", {NULL, "Haswell", "SkylakeX"}},
    {"Nano", {NULL, "Haswell", "SkylakeX"}},
    {"Bobcat", {NULL, "Haswell", "SkylakeX"}},
    {"Sandybridge", {NULL, "Haswell", "SkylakeX"}},
    {"Bulldozer", {NULL, "Haswell", "SkylakeX"}},
    {"Piledriver", {NULL, "Haswell", "SkylakeX"}},
    {"Steamroller", {NULL, "Haswell", "SkylakeX"}},
    {"Generic", {NULL, "Haswell", "SkylakeX"}},
    {"Excavator", {NULL, NULL, "SkylakeX"}},
    {"Haswell", {NULL, NULL, "SkylakeX"}},
    {"Zen", {NULL, NULL, "SkylakeX"}},
    {"SkylakeX", {NULL, NULL, NULL}},
    {"Cooperlake", {NULL, NULL, NULL}},
    {"SapphireRapids", {NULL, NULL, NULL}},
    /* OpenBLAS compares names without regard to case; a library built for one core writes them in capitals */
    {"PRESCOTT", {NULL, "Haswell", "SkylakeX"}},
    {"SKYLAKEX", {NULL, NULL, NULL}},
    /* cores that we do not know are left alone */
    {"Unknown", {NULL, NULL, NULL}},
    {"DiamondRapids", {NULL, NULL, NULL}},
    {"NEOVERSEN1", {NULL, NULL, NULL}},
    {"Zen5", {NULL, NULL, NULL}},
    {"", {NULL, NULL, NULL}},
};

static int same(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

TEST(every_core_on_every_instruction_set) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int isa = 0; isa < KS_ISA_COUNT; isa++) {
            const char *core = cases[i].core, *want = cases[i].advice[isa], *got = ks_blas_core(isa, core, 0);
            CHECK_MSG(same(got, want), "%s on %s: %s, not %s", core, ks_isa_name(isa), got ? got : "fits",
                      want ? want : "fits");
            CHECK_MSG(!ks_blas_core(isa, core, 1), "%s is the user's choice", core);
        }
}

/* Whoever follows the advice gets no other. */
TEST(advice_is_final) {
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int isa = 0; isa < KS_ISA_COUNT; isa++) {
            const char *advice = ks_blas_core(isa, cases[i].core, 0);
            CHECK(!advice || !ks_blas_core(isa, advice, 0));
        }
}

/* The library's own answer: that of its core, unless the variable is set; KSPEC_ISA changes nothing. */
TEST(of_this_process) {
    const char *core = strrchr(kspec_blas(), ' ') + 1;
    unsetenv("OPENBLAS_CORETYPE");
    const char *advice = kspec_blas_advice();
    CHECK_MSG(!advice || same(advice, ks_blas_core(ks_isa_best(), core, 0)), "%s for %s", advice, core);
    setenv("KSPEC_ISA", "generic", 1);
    CHECK(same(kspec_blas_advice(), advice));
    unsetenv("KSPEC_ISA");
    setenv("OPENBLAS_CORETYPE", "Prescott", 1);
    CHECK(!kspec_blas_advice());
    setenv("OPENBLAS_CORETYPE", "", 1);
    CHECK(!kspec_blas_advice());
}

int main(void) {
    RUN(every_core_on_every_instruction_set);
    RUN(advice_is_final);
    RUN(of_this_process);
    return test_done();
}
