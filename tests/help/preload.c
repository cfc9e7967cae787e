/*
 * Loaded into the tool by LD_PRELOAD, to make happen at one moment what elsewhere happens once in a while:
 *
 *     TEST_SWAP=FILE        the first file that fopen() opens with the suffix of FILE is replaced by FILE
 *                           just afterwards, as another process might
 *     TEST_READ_FAILS=N     the N-th read() from a pipe fails with EIO
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void swap(const char *path) {
    static int done;
    const char *other = getenv("TEST_SWAP"), *a = other ? strrchr(other, '.') : NULL, *b = strrchr(path, '.');
    if (done || !a || !b || strcmp(a, b) != 0) return;
    done = 1;
    if (rename(other, path) != 0) abort();
}

#pragma GCC visibility push(default)
FILE *fopen(const char *path, const char *mode) {
    FILE *(*real)(const char *, const char *);
    *(void **)&real = dlsym(RTLD_NEXT, "fopen");
    FILE *f = real(path, mode);
    swap(path);
    return f;
}

ssize_t read(int fd, void *to, size_t count) {
    static long reads;
    const char *fails = getenv("TEST_READ_FAILS");
    struct stat st;
    if (fails && fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode) && ++reads == atol(fails)) {
        errno = EIO;
        return -1;
    }
    return syscall(SYS_read, fd, to, count);
}
