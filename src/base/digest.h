/* A number that tells two blocks of bytes apart, by accident never equal: not against malice. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Of `count` bytes, continued from h; begin with KS_DIGEST. Reads as fast as memory gives. */
#define KS_DIGEST UINT64_C(0x9e3779b97f4a7c15)
uint64_t ks_digest(uint64_t h, const void *bytes, size_t count);
