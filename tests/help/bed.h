/*
 * What tests on GPUs share: an open device with a run on it, and a main() that runs them on every plugin that
 * is there, the plain one of the tests always, CUDA's where there is a GPU.
 *
 *     test_NAME small|tiny      CUDA's GPU alone, on sizes that compute-sanitizer is quick with
 */
#ifndef KSPEC_BED_H
#define KSPEC_BED_H

#include "device/device.h"
#include "test.h"

#include <libgen.h>
#include <limits.h>
#include <unistd.h>

static char bed_plain[PATH_MAX + 32];

static inline double *matrix(uint64_t seed, size_t P, size_t Q) {
    double *x = malloc(P * Q * sizeof *x);
    for (size_t i = 0; i < P * Q; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        x[i] = 2 * ((double)(seed >> 11) * 0x1p-53) - 1 + 0.25;
    }
    return x;
}

/* An open GPU, and a run on it */
typedef struct {
    ks_placement place;
    ks_run run;
} bed;

static inline int make_bed(bed *b) {
    kspec_error err;
    *b = (bed){.run = {.threads = 2, .to = 1}};
    if (ks_placement_open(&b->place, KSPEC_DEVICE_GPU, &err)) return 0;
    b->run.device = b->place.device;
    return 1;
}

/* Sizes that a plain plugin, or a sanitizer, is quick with */
static int small_only, tiny;
static inline int is_plain(const bed *b) { return strstr(b->place.device->name, "Plain") != NULL; }
static inline int is_small(const bed *b) { return small_only || is_plain(b); }

/* A progress function that stops at the report after *ctx more */
static inline int stop_at(void *ctx, double fraction) {
    (void)fraction;
    long *left = ctx;
    return (*left)-- == 0;
}

/* `before`: once, without a GPU; `all`: on each plugin */
static inline int bed_main(int argc, char **argv, void (*before)(void), void (*all)(void)) {
    char exe[PATH_MAX] = "";
    bed b;
    if (readlink("/proc/self/exe", exe, sizeof exe - 1) < 0) return 1;
    snprintf(bed_plain, sizeof bed_plain, "%s/plain_plugin.so", dirname(exe));
    tiny = argc > 1 && strcmp(argv[1], "tiny") == 0;
    const int gpu_alone = tiny || (argc > 1 && strcmp(argv[1], "small") == 0);
    small_only = gpu_alone || SANITIZED;
    if (!gpu_alone) {
        if (before) before();
        ks_plugin_use(bed_plain);
        all();
    }
    ks_plugin_use(NULL);
    if (make_bed(&b)) {
        printf("%s\n", b.place.device->name);
        ks_placement_close(&b.place);
        all();
    } else {
        printf("no other GPU: %s\n", b.place.why);
    }
    return test_done();
}

#endif
