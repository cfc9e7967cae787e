/* Wall-clock seconds since some fixed point, for the `seconds` field of results. */
#ifndef KS_BASE_CLOCK_H
#define KS_BASE_CLOCK_H

#include <time.h>

static inline double ks_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
