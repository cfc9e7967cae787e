/*
 * Runs tests on every instruction set: KSPEC_ISA is read once, so that the library is told of each change.
 */
#ifndef KSPEC_TEST_ISA_H
#define KSPEC_TEST_ISA_H

#include "base/cpu.h"

#include <stdlib.h>

/* Uses the instruction set `name` from now on; NULL: the processor's best. */
static inline void use_isa(const char *name) {
    if (name)
        setenv("KSPEC_ISA", name, 1);
    else
        unsetenv("KSPEC_ISA");
    ks_isa_override(name);
}

/* Runs the statement once for each instruction set that this processor has. */
#define EACH_ISA(...)                                            \
    do {                                                         \
        for (int isa_ = 0; isa_ <= (int)ks_isa_best(); isa_++) { \
            use_isa(ks_isa_name((ks_isa)isa_));                  \
            __VA_ARGS__;                                         \
        }                                                        \
        use_isa(NULL);                                           \
    } while (0)

#endif
