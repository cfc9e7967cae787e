/*
 * Allocates memory. The whole library allocates through these calls, so that a test can make any allocation
 * fail. Sizes are products that may overflow. ks_size() multiplies them and saturates at SIZE_MAX, which no
 * allocation can satisfy.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define KS_ALIGN 64 /* A cache line and the widest vector register have KS_ALIGN bytes. */

static inline size_t ks_size(size_t a, size_t b) {
    size_t r;
    return __builtin_mul_overflow(a, b, &r) ? SIZE_MAX : r;
}

static inline size_t ks_size_add(size_t a, size_t b) {
    size_t r;
    return __builtin_add_overflow(a, b, &r) ? SIZE_MAX : r;
}

/*
 * Allocates count * size bytes aligned to KS_ALIGN. Returns NULL if memory is short or the product overflows,
 * but never for zero bytes. ks_zalloc() also zeroes the bytes.
 */
void *ks_alloc(size_t count, size_t size);
void *ks_zalloc(size_t count, size_t size);
void ks_free(void *ptr); /* NULL is allowed */

/*
 * Returns the bytes of free memory that the system can give without swapping or dropping anything. Returns
 * SIZE_MAX if unknown. A larger allocation may well succeed, and the system may then kill the process later.
 * So a computation that knows its need checks before it starts.
 */
size_t ks_memory_available(void);

/*
 * Returns ks_memory_available() for a caller who needs `bytes`. If `bytes` is at most 4 MB, it returns
 * SIZE_MAX without asking the system.
 */
size_t ks_memory_for(size_t bytes);

/*
 * An arena is the scratch memory of one computation, freed all at once. A new arena must be all zeros. After
 * an allocation fails, `failed` contains the bytes requested, and every later allocation fails as well, so
 * that a function can make all its allocations and check once.
 */
typedef struct ks_arena_block ks_arena_block;
typedef struct {
    ks_arena_block *blocks;
    size_t failed;
    size_t bytes;
} ks_arena;

void *ks_arena_alloc(ks_arena *a, size_t count, size_t size);
void *ks_arena_zalloc(ks_arena *a, size_t count, size_t size);
void ks_arena_free(ks_arena *a);
