/*
 * Matrices that are in the memory of a GPU: the plain plugin's, which counts what is copied to the host, and
 * CUDA's where there is a GPU.
 */
#pragma once

#include "device/device.h"
#include "help/failing_alloc.h"
#include "test.h"

#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <unistd.h>

enum { P = 40, Q = 30 };
static char plain[PATH_MAX + 32];
/* numbers that were copied from the device; NULL: CUDA, which does not count */
static size_t *copied;

static inline double *numbers(uint64_t seed, size_t count, double scale) {
    double *x = malloc(count * sizeof *x);
    for (size_t i = 0; i < count; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        x[i] = scale * (2 * ((double)(seed >> 11) * 0x1p-53) - 0.75);
    }
    return x;
}

/* A device of the test's own: what it gives out is in the memory of gpu:0 */
static ks_placement own;
static inline double *upload(const double *x, size_t count) {
    void *p = NULL;
    CHECK(own.device->plugin->alloc(own.device->gpu, count * sizeof *x, &p) == KS_PLUGIN_OK);
    CHECK(own.device->plugin->put(own.device->gpu, p, x, count) == KS_PLUGIN_OK);
    return p;
}
static inline void release(double *p) { own.device->plugin->release(own.device->gpu, p); }

/* What is the same for both: a P x Q view of `count` numbers */
typedef struct {
    ptrdiff_t row, col;
    size_t count;
    /* of entry (0, 0) */
    size_t first;
} layout;
static const layout dense = {Q, 1, (size_t)P *Q, 0}, by_columns = {1, P, (size_t)P *Q, 0},
                    padded = {Q + 3, 1, (size_t)P *(Q + 3), 0}, apart = {2 * Q, 2, (size_t)P * 2 * Q, 0},
                    backward = {-Q, -1, (size_t)P *Q, (size_t)P *Q - 1};

/* Noise with three common factors, and a large mean */
static inline double *sample(uint64_t seed, size_t count, double scale) {
    double *x = numbers(seed, count, scale), *f = numbers(seed + 1, count, 1);
    for (size_t i = 0; i < count; i++) x[i] += scale * (2 * f[i / Q % 3 + i % 5] * f[i % 7] + 100);
    free(f);
    return x;
}

/* Runs all() on each plugin: the plain one, and CUDA's where there is a GPU. */
static inline int lent_main(void (*all)(void)) {
    char exe[PATH_MAX] = "";
    kspec_error err;
    if (readlink("/proc/self/exe", exe, sizeof exe - 1) < 0) return 1;
    snprintf(plain, sizeof plain, "%s/plain_plugin.so", dirname(exe));
    setenv("PLAIN_PLUGIN", "fine", 1);
    for (int k = 0; k < 2; k++) {
        ks_plugin_use(k ? NULL : plain);
        if (ks_placement_open(&own, KSPEC_DEVICE_GPU, &err)) {
            printf("no other GPU: %s\n", err.msg);
            continue;
        }
        void *library = k ? NULL : dlopen(plain, RTLD_NOW | RTLD_LOCAL);
        copied = library ? dlsym(library, "plain_copied") : NULL;
        all();
        ks_placement_close(&own);
        if (library) dlclose(library);
    }
    return test_done();
}
