/* A hash that tells two blocks of bytes apart. It protects against accidents, not against malice. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The hash of `count` bytes, continued from h; begin with KS_DIGEST. It reads as fast as memory delivers. */
#define KS_DIGEST UINT64_C(0x9e3779b97f4a7c15)
uint64_t ks_digest(uint64_t h, const void *bytes, size_t count);
