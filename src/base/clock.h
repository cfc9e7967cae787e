/*
 * Returns seconds since some fixed point. The wall clock fills the `seconds` field of results, and the CPU
 * time of the calling thread gives rates.
 */
#pragma once

#include <time.h>

static inline double ks_seconds_of(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double ks_now(void) { return ks_seconds_of(CLOCK_MONOTONIC); }
static inline double ks_thread_seconds(void) { return ks_seconds_of(CLOCK_THREAD_CPUTIME_ID); }
