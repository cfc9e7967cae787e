/* 64 random bits, other ones at each call and the same ones in each run. */
#ifndef KSPEC_RANDOM_BITS_H
#define KSPEC_RANDOM_BITS_H

#include "kspec.h"

static inline uint64_t random_bits(void) {
    static uint64_t index;
    double u[2];
    kspec_random_uniform(7, 0, index, 2, u);
    index += 2;
    return (uint64_t)(u[0] * 0x1p32) << 32 | (uint64_t)(u[1] * 0x1p32);
}

#endif
