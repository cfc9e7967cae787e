/* Generates counter-based random numbers, uniform and normal, and random permutations. */
#include "base/streams.h"
#include "kspec/base.h"
#include "simd/simd.h"

#include <Random123/philox.h>
#include <string.h>

/*
 * Philox block c of (seed, stream) gives the numbers 4c ... 4c+3. Normal numbers 4c and 4c+1 come from the
 * first two words of the block, and 4c+2 and 4c+3 from the last two, by Box-Muller.
 */
static philox4x64_ctr_t block(uint64_t seed, uint64_t stream, uint64_t c) {
    philox4x64_ctr_t ctr = {{c, 0, 0, 0}};
    philox4x64_key_t key = {{seed, stream}};
    return philox4x64(ctr, key);
}

static double unit(uint64_t x) { return ((double)(x >> 12) + 0.5) * 0x1p-52; }

/* This is how many numbers are drawn together: a multiple of 4 blocks that fits into the L1 cache. */
enum { BATCH = 512 };

/* Draws the numbers 4c ... 4c+BATCH-1, then copies the requested ones. */
static void fill(uint64_t seed, uint64_t stream, uint64_t first, size_t count, double *out, int normal) {
    const ks_simd *k;
    /* A bad KSPEC_ISA leaves the generic functions in place; they give the same bits. */
    ks_simd_choose(&k, NULL);
    double u[BATCH / 2], v[BATCH / 2], batch[BATCH];
    while (count) {
        size_t skip = first % 4;
        size_t n = count < BATCH - skip ? count : BATCH - skip;
        size_t blocks = (skip + n + 3) / 4;
        blocks = (blocks + 3) / 4 * 4; /* box_muller() takes multiples of 8 pairs of words. */
        for (size_t b = 0; b < blocks; b++) {
            philox4x64_ctr_t r = block(seed, stream, first / 4 + b);
            u[2 * b] = unit(r.v[0]), v[2 * b] = unit(r.v[1]);
            u[2 * b + 1] = unit(r.v[2]), v[2 * b + 1] = unit(r.v[3]);
        }
        if (normal) k->box_muller(u, v, 2 * blocks); /* 4 blocks hold 8 pairs of words. */
        for (size_t b = 0; b < 2 * blocks; b++) batch[2 * b] = u[b], batch[2 * b + 1] = v[b];
        memcpy(out, batch + skip, n * sizeof *out);
        out += n, first += n, count -= n;
    }
}

void kspec_random_uniform(uint64_t seed, uint64_t stream, uint64_t first, size_t count, double *out) {
    fill(seed, stream, first, count, out, 0);
}

void kspec_random_normal(uint64_t seed, uint64_t stream, uint64_t first, size_t count, double *out) {
    fill(seed, stream, first, count, out, 1);
}

/*
 * Draws a random permutation from unbiased words: it draws again if a word is at or above the largest
 * multiple of its bound.
 */
void ks_random_permutation(uint64_t seed, uint64_t stream, size_t count, size_t *out) {
    uint64_t next = 0;
    philox4x64_ctr_t r = {{0}};
    for (size_t i = 0; i < count; i++) out[i] = i;
    for (size_t i = count; i > 1; i--) {
        uint64_t bound = i, reject = (0 - bound) % bound, x; /* 2^64 mod bound */
        do {
            if (next % 4 == 0) r = block(seed, stream, next / 4);
            x = r.v[next++ % 4];
        } while (x < reject);
        size_t j = (size_t)(x % bound), t = out[i - 1];
        out[i - 1] = out[j];
        out[j] = t;
    }
}
