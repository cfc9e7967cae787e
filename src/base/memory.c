/* Allocates memory, in single blocks or in arenas, and asks the system how much is free. */
#define _DEFAULT_SOURCE /* madvise */
#include "base/memory.h"

#include "base/limits.h"
#include "kspec/base.h"
#include "kspec/host.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Large blocks use pages of 2 MB if the system has them, because fewer page faults then occur. */
enum { PAGE = 2 << 20, LARGE = 2 * PAGE };

static void *default_alloc(void *ctx, size_t size, size_t align) {
    (void)ctx;
    if (size >= LARGE && align < PAGE) align = PAGE;
    if (size > SIZE_MAX - align) return NULL;
    void *p = aligned_alloc(align, (size + align - 1) / align * align); /* multiple of align */
#ifdef MADV_HUGEPAGE
    if (p && size >= LARGE) madvise(p, size / PAGE * PAGE, MADV_HUGEPAGE); /* advice only */
#endif
    return p;
}

static void default_release(void *ctx, void *ptr) {
    (void)ctx;
    free(ptr);
}

static kspec_allocator current = {default_alloc, default_release, NULL};

void kspec_set_allocator(const kspec_allocator *allocator) {
    current = allocator ? *allocator : (kspec_allocator){default_alloc, default_release, NULL};
}

void *ks_alloc(size_t count, size_t size) {
    size_t bytes = ks_size(count, size);
    if (bytes > PTRDIFF_MAX) return NULL;
    return current.alloc(current.ctx, bytes ? bytes : 1, KS_ALIGN);
}

void *ks_zalloc(size_t count, size_t size) {
    void *p = ks_alloc(count, size);
    if (p) memset(p, 0, count * size);
    return p;
}

void ks_free(void *ptr) {
    if (ptr) current.release(current.ctx, ptr);
}

size_t ks_memory_available(void) { return ks_limits_available(""); }

size_t ks_memory_for(size_t bytes) { return bytes <= (size_t)4 << 20 ? SIZE_MAX : ks_memory_available(); }

/* Each arena allocation is a separate block with a header in front, because the blocks are few and large. */
struct ks_arena_block {
    ks_arena_block *next;
    char pad[KS_ALIGN - sizeof(void *)];
};

void *ks_arena_alloc(ks_arena *a, size_t count, size_t size) {
    size_t bytes = ks_size_add(ks_size(count, size), sizeof(ks_arena_block));
    ks_arena_block *b = a->failed ? NULL : ks_alloc(bytes, 1);
    if (!b) {
        if (!a->failed) a->failed = bytes;
        return NULL;
    }
    b->next = a->blocks;
    a->blocks = b;
    a->bytes += ks_size_add(bytes, KS_ALIGN - 1) / KS_ALIGN * KS_ALIGN;
    return b + 1;
}

void *ks_arena_zalloc(ks_arena *a, size_t count, size_t size) {
    void *p = ks_arena_alloc(a, count, size);
    if (p) memset(p, 0, count * size);
    return p;
}

void ks_arena_free(ks_arena *a) {
    for (ks_arena_block *b = a->blocks, *next; b; b = next) {
        next = b->next;
        ks_free(b);
    }
    *a = (ks_arena){0};
}
