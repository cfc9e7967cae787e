/*
 * HDF5 and MATLAB files are parsed by a separate program, kspec-hdf5, because the libraries for them crash on
 * damaged files. It inherits a memory file, fills it and ends; the library then maps that file. A crash, a
 * hang or a wrong answer of the program is an error message here, and nothing else. See io/child.h.
 */
#define _GNU_SOURCE /* memfd_create, dladdr, secure_getenv */
#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "io/array.h"
#include "io/child.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* The signature stands at byte 0, 512, 1024, 2048, ...: a file may begin with a block of the user's. */
int ks_hdf5_match(const ks_bytes *b) {
    static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    for (size_t at = 0; at <= b->size && b->size - at >= sizeof signature; at = at ? 2 * at : 512) {
        if (memcmp(b->data + at, signature, sizeof signature) == 0) return 1;
        if (at > SIZE_MAX / 2) break;
    }
    return 0;
}

/* 116 bytes of text, 8 of no interest here, then version 0x0100 and "MI", both in the file's byte order. */
int ks_mat_match(const ks_bytes *b) {
    return b->size >= 128 && memcmp(b->data, "MATLAB", 6) == 0 &&
           (memcmp(b->data + 124, "\0\1IM", 4) == 0 || memcmp(b->data + 124, "\1\0MI", 4) == 0);
}

/* ------------------------------------------------------------------------------------ finding the program */

/*
 * The reader in directory dir(file)/sub, if it is there and belongs to root or to the owner of `file`: what
 * stands beside a program is run only where it is as trustworthy as the program.
 */
static int beside(const char *file, const char *sub, char path[PATH_MAX]) {
    const char *slash = strrchr(file, '/');
    struct stat ours, reader;
    if (!slash) return 0;
    int length = snprintf(path, PATH_MAX, "%.*s/%s" KS_CHILD_PROGRAM, (int)(slash - file), file, sub);
    return length < PATH_MAX && stat(file, &ours) == 0 && stat(path, &reader) == 0 &&
           S_ISREG(reader.st_mode) && (reader.st_uid == 0 || reader.st_uid == ours.st_uid) &&
           access(path, X_OK) == 0;
}

/*
 * $KSPEC_LIBEXEC, where it is set, is the only place. Otherwise the program lies near the running program or
 * near the file this code was loaded from (beside it, or one level up as seen from the tests, or in
 * ../libexec/kspec), or where it was to be installed.
 */
static kspec_status find_reader(char path[PATH_MAX], const char *name, kspec_error *err) {
    const char *set = secure_getenv("KSPEC_LIBEXEC");
    if (set && set[0]) {
        if (snprintf(path, PATH_MAX, "%s/" KS_CHILD_PROGRAM, set) < PATH_MAX && access(path, X_OK) == 0)
            return KSPEC_OK;
        return ks_fail(err, KSPEC_E_IO, "%s: no program " KS_CHILD_PROGRAM " in KSPEC_LIBEXEC=%s", name, set);
    }
    static const char *const subs[] = {"", "../libexec/kspec/", "../"};
    char exe[PATH_MAX] = "";
    Dl_info self = {0};
    ssize_t length = readlink("/proc/self/exe", exe, sizeof exe - 1);
    exe[length > 0 ? length : 0] = 0;
    for (size_t k = 0; k < sizeof subs / sizeof *subs; k++)
        if (beside(exe, subs[k], path)) return KSPEC_OK;
    if (dladdr((void *)(uintptr_t)ks_hdf5_read, &self) && self.dli_fname)
        for (size_t k = 0; k < sizeof subs / sizeof *subs; k++)
            if (beside(self.dli_fname, subs[k], path)) return KSPEC_OK;
    snprintf(path, PATH_MAX, "%s/" KS_CHILD_PROGRAM, KSPEC_LIBEXECDIR);
    if (access(path, X_OK) == 0) return KSPEC_OK;
    return ks_fail(err, KSPEC_E_IO,
                   "%s: HDF5 and MATLAB files need the program " KS_CHILD_PROGRAM
                   ", which is neither beside this program nor in " KSPEC_LIBEXECDIR,
                   name);
}

/* ------------------------------------------------------------------------------------ running the program */

static kspec_status start(const char *reader, const char *path, const char *key, int matlab, int memory,
                          const char *name, pid_t *pid, kspec_error *err) {
    char *argv[] = {(char *)KS_CHILD_PROGRAM, (char *)path, (char *)key, (char *)(matlab ? "mat" : "hdf5"),
                    NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int e = posix_spawn_file_actions_init(&files);
    if (e) return ks_nomem(err, "starting " KS_CHILD_PROGRAM, sizeof files);
    if ((e = posix_spawnattr_init(&attributes)) == 0) {
        /* the dup2 first: `memory` itself may be 0, 1 or 2 in a program that closed those */
        if (!e) e = posix_spawn_file_actions_adddup2(&files, memory, KS_CHILD_FD);
        if (!e) e = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
        if (!e) e = posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
        if (!e) e = posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
        if (!e) e = posix_spawn_file_actions_addclosefrom_np(&files, KS_CHILD_FD + 1);
        if (!e) e = posix_spawnattr_setsigmask(&attributes, &none);
        if (!e) e = posix_spawnattr_setsigdefault(&attributes, &all);
        if (!e) e = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        if (!e) e = posix_spawn(pid, reader, &files, &attributes, argv, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return e ? ks_fail(err, e == ENOMEM ? KSPEC_E_NOMEM : KSPEC_E_IO, "%s: cannot run %s: %s", name, reader,
                       strerror(e))
             : KSPEC_OK;
}

/*
 * Waits for the end of the program. It is killed when its memory file has not grown for `limit` seconds: a
 * long read writes page after page, a program caught in a loop does not. Asking now and then, rather than
 * sleeping until a signal comes, leaves the caller's signals alone; the pause grows with the wait, to 20 ms.
 */
static int wait_for(pid_t pid, int memory, double limit, int *timed_out) {
    double begun = ks_now(), progress = begun;
    blkcnt_t blocks = -1;
    int status = 0;
    pid_t r;
    *timed_out = 0;
    while ((r = waitpid(pid, &status, WNOHANG)) == 0 || (r < 0 && errno == EINTR)) {
        struct stat st;
        double now = ks_now(), pause = (now - begun) / 16;
        if (fstat(memory, &st) == 0 && st.st_blocks != blocks) {
            blocks = st.st_blocks;
            progress = now;
        } else if (now - progress > limit) {
            *timed_out = 1;
            kill(pid, SIGKILL);
            while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
            }
            return status;
        }
        if (pause < 1e-4) pause = 1e-4;
        if (pause > 0.02) pause = 0.02;
        nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * pause)}, NULL);
    }
    /* ECHILD: a caller that ignores SIGCHLD has no children to wait for; the memory file decides */
    return r < 0 ? 0 : status;
}

/* -------------------------------------------------------------------------------------- taking the answer */

/* The program ended, but not with an answer. */
static kspec_status died(int status, const char *kind, const char *name, kspec_error *err) {
    int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (sig == SIGKILL)
        return ks_fail(err, KSPEC_E_IO, "%s: the %s reader was killed (signal 9), perhaps for want of memory",
                       name, kind);
    if (sig == SIGXCPU)
        return ks_fail(err, KSPEC_E_IO, "%s: the %s reader ran into its limit on processor time", name, kind);
    if (sig)
        return ks_fail(err, KSPEC_E_IO, "%s: the %s reader crashed (signal %d): the file is damaged", name,
                       kind, sig);
    if (WEXITSTATUS(status) != 0)
        return ks_fail(err, KSPEC_E_IO, "%s: the %s reader crashed (exit status %d): the file is damaged",
                       name, kind, WEXITSTATUS(status));
    return ks_fail(err, KSPEC_E_IO, "%s: the %s reader ended without an answer", name, kind);
}

static kspec_status take(int memory, int status, const char *kind, const char *name, ks_array *out,
                         kspec_error *err) {
    /* no process that may still hold the file can now cut it short under the mapping */
    struct stat st;
    ks_child_header h;
    if (fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK) != 0 || fstat(memory, &st) != 0)
        return ks_fail(err, KSPEC_E_IO, "%s: cannot seal shared memory: %s", name, strerror(errno));
    if (pread(memory, &h, sizeof h, 0) != (ssize_t)sizeof h || status != 0)
        return died(status, kind, name, err);
    if (h.magic == 0) return died(status, kind, name, err);
    if (h.magic != KS_CHILD_MAGIC || h.version != KS_CHILD_VERSION)
        return ks_fail(err, KSPEC_E_IO, "%s: the %s reader is of another version than this library", name,
                       kind);

    if (h.status == KS_CHILD_UNFIT || h.status == KS_CHILD_NOMEM) {
        h.message[sizeof h.message - 1] = 0;
        for (char *c = h.message; *c; c++)
            if ((unsigned char)*c < 32 || *c == 127) *c = '?';
        return ks_fail(err, h.status == KS_CHILD_NOMEM ? KSPEC_E_NOMEM : KSPEC_E_IO, "%s: %s", name,
                       h.message);
    }
    size_t bytes = sizeof(double);
    int sound = h.status == KS_CHILD_DONE && h.ndim >= 1 && h.ndim <= 3 && h.column_major <= 1;
    for (uint32_t k = 0; sound && k < h.ndim; k++) {
        sound = h.shape[k] >= 1 && h.shape[k] <= PTRDIFF_MAX;
        bytes = ks_size(bytes, (size_t)h.shape[k]);
    }
    size_t total = ks_size_add(bytes, KS_CHILD_DATA);
    if (!sound || total > PTRDIFF_MAX || (uintmax_t)st.st_size != total)
        return ks_fail(err, KSPEC_E_IO, "%s: the %s reader's answer is inconsistent: the file is damaged",
                       name, kind);

    void *map = mmap(NULL, total, PROT_READ, MAP_PRIVATE, memory, 0);
    if (map == MAP_FAILED) return ks_nomem(err, name, total);
    const unsigned char *data = (const unsigned char *)map + KS_CHILD_DATA;
    *out = (ks_array){.ndim = (int)h.ndim, .data = (const double *)(const void *)data};
    out->storage = (ks_bytes){.data = data, .size = bytes, .map = map, .map_size = total};
    ptrdiff_t stride = 1;
    for (int k = 0; k < out->ndim; k++) {
        int axis = h.column_major ? k : out->ndim - 1 - k;
        out->shape[axis] = (size_t)h.shape[axis];
        out->stride[axis] = stride;
        stride *= (ptrdiff_t)h.shape[axis];
    }
    return KSPEC_OK;
}

kspec_status ks_hdf5_read(const char *path, const char *key, int matlab, const char *name, ks_array *out,
                          kspec_error *err) {
    *out = (ks_array){0};
    const char *kind = matlab ? "MATLAB" : "HDF5", *set = getenv("KSPEC_READER_TIMEOUT");
    char reader[PATH_MAX], *end = NULL;
    double limit = set && set[0] ? strtod(set, &end) : 60;
    if (end && (*end || !(limit > 0)))
        return ks_fail(err, KSPEC_E_ARG, "KSPEC_READER_TIMEOUT=%s is not a positive number of seconds", set);
    kspec_status st = find_reader(reader, name, err);
    if (st) return st;

    int memory = memfd_create("kspec-array", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (memory < 0 || ftruncate(memory, KS_CHILD_DATA) != 0)
        st = ks_fail(err, KSPEC_E_IO, "%s: cannot make shared memory: %s", name, strerror(errno));
    pid_t pid = 0;
    if (!st) st = start(reader, path, key, matlab, memory, name, &pid, err);
    if (!st) {
        int timed_out, status = wait_for(pid, memory, limit, &timed_out);
        if (timed_out)
            st = ks_fail(err, KSPEC_E_IO, "%s: the %s reader made no progress for %g s and was stopped", name,
                         kind, limit);
        else
            st = take(memory, status, kind, name, out, err);
    }
    if (memory >= 0) close(memory);
    return st;
}
