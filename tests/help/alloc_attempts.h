/*
 * A public call that allocates, allowed 0, 1, 2, ... allocations until it succeeds: each time it fails with
 * KSPEC_E_NOMEM and one line, holds no memory afterwards, and leaves its result empty.
 */
#ifndef ALLOC_ATTEMPTS_H
#define ALLOC_ATTEMPTS_H

#include "help/failing_alloc.h"
#include "kspec.h"
#include "test.h"

/* One call: makes it, checks that a failure leaves the result empty, releases the result of a success. */
typedef kspec_status (*attempt)(const void *ctx, kspec_error *err);

static inline void until_it_succeeds(attempt call, const void *ctx, long least, const char *what) {
    failing_alloc_install();
    long k = 0;
    for (; k < 20000; k += SWEEP_STEP) {
        kspec_error err = {0};
        failing_alloc_arm(k);
        kspec_status st = call(ctx, &err);
        CHECK_MSG(failing_alloc_live() == 0, "%s: %ld leaked at %ld", what, failing_alloc_live(), k);
        CHECK_MSG(err.code == st, "%s: status %d, error %d", what, (int)st, (int)err.code);
        if (st == KSPEC_OK) break;
        CHECK_MSG(st == KSPEC_E_NOMEM && err.msg[0] && !strchr(err.msg, '\n'), "%s at %ld: status %d: %s",
                  what, k, (int)st, err.msg);
        if (failing_alloc_live() || st != KSPEC_E_NOMEM) break;
        failing_alloc_arm(k); /* without a place for the message */
        CHECK_MSG(call(ctx, NULL) == KSPEC_E_NOMEM, "%s at %ld without an error struct", what, k);
    }
    CHECK_MSG(k >= least && k < 20000, "%s: ends after %ld allocations", what, k);
    failing_alloc_uninstall();
}

static inline int empty(const void *p, size_t size) {
    const unsigned char *c = p;
    for (size_t i = 0; i < size; i++)
        if (c[i]) return 0;
    return 1;
}

/* Matrices to call it with */
enum { P = 9, Q = 8, TRIALS = 4 };
static double entries[TRIALS][P * Q];

static inline void alloc_fill_entries(void) {
    for (int t = 0; t < TRIALS; t++) kspec_random_normal(3, (uint64_t)t, 0, P * Q, entries[t]);
}

#endif
