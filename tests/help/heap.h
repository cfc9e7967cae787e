/*
 * An allocator that counts what the library holds, and that can fail once: for code whose workers allocate
 * nothing, since it counts without locks.
 *
 *     heap_install();
 *     ...
 *     CHECK(heap.peak <= promised && heap.blocks == 0);
 *     heap_uninstall();
 */
#ifndef KSPEC_HEAP_H
#define KSPEC_HEAP_H

#include "kspec.h"
#include "kspec/host.h"

#include <stdlib.h>

static struct {
    /* bytes, now and at most; blocks that have not come back; allocations so far */
    size_t live, peak, blocks, count;
    /* allocations of at least `large` bytes */
    size_t large, large_count;
    /* the allocation that fails; 0: none */
    size_t fail_at;
} heap;

static inline void *heap_alloc(void *ctx, size_t size, size_t align) {
    (void)ctx;
    if (++heap.count == heap.fail_at) return NULL;
    size_t *p = aligned_alloc(align, (size + 2 * align - 1) / align * align);
    if (!p) return NULL;
    *p = size; /* in front, in a block of `align` bytes */
    heap.live += size;
    heap.blocks++;
    heap.large_count += size >= heap.large;
    if (heap.live > heap.peak) heap.peak = heap.live;
    return (char *)p + align;
}

static inline void heap_release(void *ctx, void *ptr) {
    (void)ctx;
    size_t *p = (size_t *)(void *)((char *)ptr - 64); /* KS_ALIGN */
    heap.live -= *p;
    heap.blocks--;
    free(p);
}

/* When the library holds nothing */
static inline void heap_install(void) {
    heap.live = heap.peak = heap.blocks = heap.count = heap.large_count = heap.fail_at = 0;
    kspec_set_allocator(&(kspec_allocator){heap_alloc, heap_release, NULL});
}

static inline void heap_uninstall(void) { kspec_set_allocator(NULL); }

#endif
