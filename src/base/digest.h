/*
 * Computes a hash that tells two blocks of bytes apart. The hash protects against accidents, but not against
 * malice.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Returns the hash of `count` bytes, continued from the hash h. A new hash begins with KS_DIGEST. The
 * function reads as fast as memory delivers.
 */
#define KS_DIGEST UINT64_C(0x9e3779b97f4a7c15)
uint64_t ks_digest(uint64_t h, const void *bytes, size_t count);
