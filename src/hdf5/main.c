/*
 * The main program of kspec-hdf5. It sets the limits of the process, and writes to the memory that it shares
 * with the library. See reader.h and formats/child.h.
 */
#ifndef _GNU_SOURCE /* the fuzzer defines it */
#define _GNU_SOURCE
#endif
#include "hdf5/reader.h"
#include "hdf5/sandbox.h"
#include "formats/child.h"

#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <malloc.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static ks_child_header *shared;
static size_t available; /* memory, in bytes */

/* _exit, not exit: a damaged file may have corrupted the state that the libraries' exit handlers use. */
_Noreturn static void answer(uint32_t status) {
    shared->version = KS_CHILD_VERSION;
    shared->magic = KS_CHILD_MAGIC;
    __atomic_store_n(&shared->status, status, __ATOMIC_RELEASE);
    _exit(0);
}

void refuse(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(shared->message, sizeof shared->message, fmt, ap);
    va_end(ap);
    answer(KS_CHILD_UNFIT);
}

void finish(int column_major) {
    shared->column_major = column_major != 0;
    answer(KS_CHILD_DONE);
}

double *make_room(int ndim, const size_t *shape) {
    size_t bytes = sizeof(double);
    int overflow = 0;
    for (int k = 0; k < ndim; k++) overflow |= __builtin_mul_overflow(bytes, shape[k], &bytes);
    if (overflow || bytes > PTRDIFF_MAX - KS_CHILD_DATA)
        refuse("its array is too large for the address space");

    /*
     * The system allocates pages only when they are written. An array that is too large must fail now, not
     * half-way.
     */
    size_t total = bytes + KS_CHILD_DATA;
    void *map = MAP_FAILED;
    if (total <= available && ftruncate(KS_CHILD_FD, (off_t)total) == 0)
        map = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_SHARED, KS_CHILD_FD, 0);
    if (map == MAP_FAILED) {
        snprintf(shared->message, sizeof shared->message, "its array needs %.1f MB, %.1f MB are available",
                 (double)bytes / 1e6, (double)available / 1e6);
        answer(KS_CHILD_NOMEM);
    }
    shared->ndim = (uint32_t)ndim;
    for (int k = 0; k < ndim; k++) shared->shape[k] = shape[k];
    return (double *)(void *)((char *)map + KS_CHILD_DATA);
}

static void set_limit(int resource, rlim_t most) {
    struct rlimit r;
    if (getrlimit(resource, &r) != 0) return;
    if (r.rlim_max == RLIM_INFINITY || r.rlim_max > most) r.rlim_max = most;
    if (r.rlim_cur == RLIM_INFINITY || r.rlim_cur > most) r.rlim_cur = most;
    setrlimit(resource, &r);
}

/*
 * The most memory that an intact file of this size can need: deflate turns one byte into at most 1032, and
 * each of these may become a double. A constant covers the libraries and arrays that consist of fill values.
 */
static rlim_t most_memory(off_t size) {
    const rlim_t constant = (rlim_t)1 << 30, ratio = 1032 * sizeof(double);
    return (rlim_t)size > (RLIM_INFINITY - constant) / ratio - 1 ? RLIM_INFINITY
                                                                 : (rlim_t)size * ratio + constant;
}

/* A damaged file may cause any use of memory and time, and a crash, which needs no core file. */
static void set_limits(off_t size) {
    rlim_t memory = (rlim_t)sysconf(_SC_PHYS_PAGES) * (rlim_t)sysconf(_SC_PAGESIZE);
    if (memory > most_memory(size)) memory = most_memory(size);
    available = (size_t)memory;
    if (shared->memory && available > shared->memory) available = (size_t)shared->memory;
    /* If the caller has already ended, the time limit of an hour below ends this process. */
    sandbox_end_with_caller();
    set_limit(RLIMIT_CORE, 0);
    set_limit(RLIMIT_CPU, 3600);
#ifndef KSPEC_SANITIZED /* A sanitizer maps terabytes, so it has no limit. */
    set_limit(RLIMIT_AS, memory);
#endif
    /* Beyond the size limit, ftruncate() then fails without a signal. */
    signal(SIGXFSZ, SIG_IGN);
    /* If memory runs out, the system ends this process first. */
    FILE *f = fopen("/proc/self/oom_score_adj", "w");
    if (f) {
        fputs("1000", f);
        fclose(f);
    }
}

/* MATLAB's HDF5 files have HDF5's signature behind a header of 512 bytes. */
static int is_hdf5(int fd) {
    static const char signature[8] = {'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};
    char bytes[8];
    for (off_t at = 0; pread(fd, bytes, 8, at) == 8; at = at ? 2 * at : 512)
        if (memcmp(bytes, signature, 8) == 0) return 1;
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 4 && sandbox_is_called(KS_CHILD_FD))
        shared = mmap(NULL, KS_CHILD_DATA, PROT_READ | PROT_WRITE, MAP_SHARED, KS_CHILD_FD, 0);
    if (!shared || shared == MAP_FAILED) {
        fprintf(stderr, "kspec runs %s to read HDF5 and MATLAB files; it is not meant to be run by hand\n",
                argv[0]);
        return 2;
    }
    const char *path = argv[1], *key = argv[2];
    if (strcmp(argv[3], KS_CHILD_PROBE) == 0)
        refuse("%s", sandbox_enter(KS_CHILD_FD) && sandbox_holds() ? "seccomp" : "none");

    int matlab = strcmp(argv[3], "mat") == 0;
    struct stat st;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* open() gives the message of the system */
    if (fd < 0 || fstat(fd, &st) != 0) refuse("cannot open: %s", strerror(errno));
    if (!S_ISREG(st.st_mode)) refuse("is not a regular file, which HDF5 and MATLAB files must be");
    set_limits(st.st_size);

    /* Locks fail on some network file systems, and reading needs none. */
    setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    H5PLset_loading_state(0);         /* HDF5 must not load filters that a file names. */
    H5Lunregister(H5L_TYPE_EXTERNAL); /* HDF5 must not follow links to other files. */
    int64_t access = driver_access(fd, (size_t)st.st_size);
    mat_file *mat = matlab && !is_hdf5(fd) ? open_mat(path, fd) : NULL;
    sandbox_enter(KS_CHILD_FD);

    if (mat) read_mat(mat, key);
    /* HDF5 may read memory before it is set. With this pattern it crashes instead of giving wrong numbers. */
    mallopt(M_PERTURB, 0xa5);
    read_hdf5(access, key, matlab);
}
