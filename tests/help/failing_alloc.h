/*
 * An allocator that can be told to fail, and that counts what it has given out:
 *
 *     failing_alloc_install();
 *     for (long k = 0; k < 1000; k++) {
 *         failing_alloc_arm(k);                   // k allocations succeed, all later ones fail
 *         kspec_status st = the_call(...);
 *         if (st == KSPEC_OK) break;              // (free the result)
 *         CHECK(st == KSPEC_E_NOMEM && failing_alloc_live() == 0);
 *     }
 *     failing_alloc_uninstall();
 *
 * Call install() when the library holds no memory.
 */
#ifndef KSPEC_FAILING_ALLOC_H
#define KSPEC_FAILING_ALLOC_H

#include "kspec.h"
#include "kspec/host.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_long failing_alloc_left, failing_alloc_count;

static inline void *failing_alloc_take(void *ctx, size_t size, size_t align) {
    (void)ctx;
    if (size > SIZE_MAX - align || atomic_fetch_sub(&failing_alloc_left, 1) <= 0) return NULL;
    void *p = aligned_alloc(align, (size + align - 1) / align * align);
    if (p) atomic_fetch_add(&failing_alloc_count, 1);
    return p;
}

static inline void failing_alloc_give(void *ctx, void *p) {
    (void)ctx;
    atomic_fetch_sub(&failing_alloc_count, 1);
    free(p);
}

/* The next k allocations succeed, those after them fail. */
static inline void failing_alloc_arm(long k) { atomic_store(&failing_alloc_left, k); }

/* Nothing fails any more. */
static inline void failing_alloc_disarm(void) { failing_alloc_arm(LONG_MAX); }

/* How many allocations are out that have not come back? */
static inline long failing_alloc_live(void) { return atomic_load(&failing_alloc_count); }

static inline void failing_alloc_install(void) {
    kspec_allocator a = {failing_alloc_take, failing_alloc_give, NULL};
    atomic_store(&failing_alloc_count, 0);
    failing_alloc_disarm();
    kspec_set_allocator(&a);
}

static inline void failing_alloc_uninstall(void) { kspec_set_allocator(NULL); }

#endif
