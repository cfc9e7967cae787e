/* Computes the hash of a block of bytes. */
#include "base/digest.h"

#include <string.h>

/*
 * Mixes one word into the hash by an odd factor and a shift. A change in one word reaches all bits within two
 * words.
 */
static uint64_t mix(uint64_t h, uint64_t w) {
    h = (h ^ w) * UINT64_C(0xd6e8feb86659fd93);
    return h ^ (h >> 32);
}

uint64_t ks_digest(uint64_t h, const void *bytes, size_t count) {
    const unsigned char *p = bytes;
    uint64_t lane[4] = {h, ~h, h + 1, ~h - 1}, w[4];
    size_t left = count;
    /* Four independent chains let the processor compute in parallel. */
    for (; left >= sizeof w; left -= sizeof w, p += sizeof w) {
        memcpy(w, p, sizeof w);
        for (int k = 0; k < 4; k++) lane[k] = mix(lane[k], w[k]);
    }
    memset(w, 0, sizeof w);
    memcpy(w, p, left);
    h = mix(h, count);
    for (int k = 0; k < 4; k++) h = mix(h, mix(lane[k], w[k]));
    return h;
}
