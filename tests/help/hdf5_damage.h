/*
 * Replays damaged HDF5 and MATLAB files: deterministic mutants of the fixtures, made one after another in a
 * temporary file. Whatever the file, the library must come back in time with an array or one line of message.
 */
#ifndef KSPEC_TESTS_HDF5_DAMAGE_H
#define KSPEC_TESTS_HDF5_DAMAGE_H

#include "test.h"

#include "base/clock.h"
#include "formats/array.h"
#include "kspec.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct {
    int files, read, refused, crashed, stopped;
    double slowest;
} damage_tally;

/* splitmix64 */
static uint64_t damage_random(uint64_t *state) {
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Spoils n bytes in place and returns how many are left of them. */
static size_t damage(unsigned char *data, size_t n, uint64_t seed) {
    static const uint64_t lengths[] = {0,          1,          0x7f,       0x80,
                                       0xff,       0x7fff,     0xffff,     0x10000,
                                       0x7fffffff, 0x80000000, 0xffffffff, UINT64_C(0x100000000),
                                       INT64_MAX,  UINT64_MAX};
    uint64_t s = seed;
    switch (damage_random(&s) % 4) {
    case 0: /* a few bits */
        for (uint64_t k = 1 + damage_random(&s) % 4; k; k--)
            data[damage_random(&s) % n] ^= 1u << damage_random(&s) % 8;
        return n;
    case 1: /* an end */ return damage_random(&s) % n;
    case 2: { /* numbers such as lengths and offsets */
        for (uint64_t k = 1 + damage_random(&s) % 2; k; k--) {
            uint64_t v = lengths[damage_random(&s) % (sizeof lengths / sizeof *lengths)];
            size_t width = (size_t)1 << damage_random(&s) % 4, at = damage_random(&s) % n;
            for (size_t b = 0; b < width && at + b < n; b++) data[at + b] = (unsigned char)(v >> 8 * b);
        }
        return n;
    }
    default: { /* a piece of the file in the place of another */
        size_t length = 1 + damage_random(&s) % (n < 64 ? n : 64);
        size_t from = damage_random(&s) % (n - length + 1), to = damage_random(&s) % (n - length + 1);
        memmove(data + to, data + from, length);
        return n;
    }
    }
}

/* One file, any outcome but a bad one. Leaves the array in *out where there is one. */
static kspec_status damage_read(const char *path, const char *key, int matlab, const char *what,
                                ks_array *out, damage_tally *t) {
    kspec_error err = {0};
    double begun = ks_now();
    kspec_status st = ks_hdf5_read(path, key, matlab, "in", out, &err);
    double seconds = ks_now() - begun;
    CHECK_MSG(st == KSPEC_OK || st == KSPEC_E_IO || st == KSPEC_E_NOMEM, "%s: status %d: %s", what, (int)st,
              err.msg);
    CHECK_MSG(st == KSPEC_OK || (strncmp(err.msg, "in: ", 4) == 0 && !strchr(err.msg, '\n')), "%s: %s", what,
              err.msg);
    CHECK_MSG(seconds < 30, "%s: %g s", what, seconds);
    if (st == KSPEC_OK) {
        double sum = 0; /* every value can be touched */
        for (size_t k = 0; k < out->storage.size / sizeof(double); k++) sum += out->data[k];
        CHECK_MSG(out->storage.size > 0 && !(sum > INFINITY), "%s", what);
    }
    t->files++;
    t->read += st == KSPEC_OK;
    t->crashed += strstr(err.msg, "crashed") != NULL;
    t->stopped += strstr(err.msg, "progress") != NULL;
    t->refused += st != KSPEC_OK && !strstr(err.msg, "crashed") && !strstr(err.msg, "progress");
    if (seconds > t->slowest) t->slowest = seconds;
    const char *keep =
        getenv("KSPEC_KEEP_CRASHES"); /* a folder: collects the files that crash or hang the reader */
    if (keep && (strstr(err.msg, "crashed") || strstr(err.msg, "progress"))) {
        char command[8192];
        snprintf(command, sizeof command, "cp '%s' '%s/%s'", path, keep, what);
        if (system(command) != 0) printf("cannot keep %s\n", what);
    }
    return st;
}

/* A mapped file must not grow beyond 1 GiB: a bogus shape is then refused instead of filled with zeros. */
static void damage_limits(void) {
    struct rlimit r;
    getrlimit(RLIMIT_FSIZE, &r);
    r.rlim_cur = (rlim_t)1 << 30;
    setrlimit(RLIMIT_FSIZE, &r);
    setenv("KSPEC_READER_TIMEOUT", "2", 1);
}

static unsigned char *damage_load(const char *path, size_t *n) {
    FILE *f = fopen(path, "rb");
    unsigned char *data = malloc(1 << 20);
    *n = f && data ? fread(data, 1, 1 << 20, f) : 0;
    if (f) fclose(f);
    CHECK_MSG(*n > 0 && *n < 1 << 20, "%s", path);
    return data;
}

/* `count` mutants of each fixture, mutant numbers from `first`. */
static void damage_replay(uint64_t first, uint64_t count, damage_tally *t) {
    static const char *const cases[][2] = {
        {"single.h5", ""},     {"layouts.h5", "gzip"}, {"layouts.h5", "gzip_f4"}, {"layouts.h5", "a/b/deep"},
        {"types.h5", "bool"},  {"types.h5", "f2_be"},  {"userblock.h5", "x"},     {"unfit.h5", ""},
        {"single_v5.mat", ""}, {"single_v7.mat", "x"}, {"v5.mat", "u2"},          {"v5.mat", ""},
        {"v7.mat", "logical"}, {"single_v73.mat", ""}, {"v73.mat", "cube"},
    };
    char path[] = "/tmp/kspec-damage-XXXXXX";
    int fd = mkstemp(path);
    CHECK(fd >= 0);
    for (size_t c = 0; fd >= 0 && c < sizeof cases / sizeof *cases; c++) {
        char source[4096], what[128];
        size_t n;
        int matlab = strstr(cases[c][0], ".mat") != NULL;
        snprintf(source, sizeof source, "%s/tests/fixtures/hdf5/%s", TEST_SOURCE_DIR, cases[c][0]);
        unsigned char *whole = damage_load(source, &n), *data = malloc(n + 1);
        ks_array intact, a;
        int have = ks_hdf5_read(source, cases[c][1], matlab, "in", &intact, NULL) == KSPEC_OK;
        for (uint64_t k = first; n && data && k < first + count; k++) {
            memcpy(data, whole, n);
            size_t left = damage(data, n, k * 64 + c);
            snprintf(what, sizeof what, "%llu-%s", (unsigned long long)k, cases[c][0]);
            CHECK(ftruncate(fd, 0) == 0 && pwrite(fd, data, left, 0) == (ssize_t)left);
            if (damage_read(path, cases[c][1], matlab, what, &a, t)) continue;
            /* a file that was cut short may be read only where nothing that matters is missing */
            if (left < n && have)
                CHECK_MSG(a.storage.size == intact.storage.size &&
                              memcmp(a.data, intact.data, a.storage.size) == 0,
                          "%s: %zu of %zu bytes give other values", what, left, n);
            ks_array_free(&a);
        }
        if (have) ks_array_free(&intact);
        free(whole);
        free(data);
    }
    close(fd);
    unlink(path);
    CHECK(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

static void damage_report(const char *title, const damage_tally *t) {
    printf("%s: %d files: %d read, %d refused, %d crashed the reader, %d stopped; slowest %.2f s\n", title,
           t->files, t->read, t->refused, t->crashed, t->stopped, t->slowest);
}

#endif
