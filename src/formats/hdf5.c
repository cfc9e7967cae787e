/*
 * Reads HDF5 and MATLAB files through a separate program, kspec-hdf5, because their libraries crash on
 * damaged files. The program inherits a memory file, fills it and ends. The library then maps that file. If
 * the program crashes, hangs or gives a wrong answer, the library only reports an error. See formats/child.h.
 */
#define _GNU_SOURCE /* secure_getenv */
#include "base/beside.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/memfile.h"
#include "base/memory.h"
#include "formats/array.h"
#include "formats/child.h"
#include "formats/number.h"
#include "kspec/host.h"

#include <dirent.h>
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

/* An HDF5 file may begin with a block of user data, so the signature is at byte 0, 512, 1024, 2048, .... */
int ks_hdf5_match(const ks_bytes *b) {
    static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    for (size_t at = 0; at <= b->size && b->size - at >= sizeof signature; at = at ? 2 * at : 512) {
        if (memcmp(b->data + at, signature, sizeof signature) == 0) return 1;
        if (at > SIZE_MAX / 2) break;
    }
    return 0;
}

/*
 * A MATLAB file has 116 bytes of text, 8 bytes that the code skips, and then version 0x0100 and "MI", both in
 * the file's byte order.
 */
int ks_mat_match(const ks_bytes *b) {
    return b->size >= 128 && memcmp(b->data, "MATLAB", 6) == 0 &&
           (memcmp(b->data + 124, "\0\1IM", 4) == 0 || memcmp(b->data + 124, "\1\0MI", 4) == 0);
}

/* ---- finding ---- */

/* Looks in the directory that the user names. */
static kspec_status find_set(char path[PATH_MAX], const char *set, const char *name, kspec_error *err) {
    ks_finding f = KS_ABSENT;
    if (set[0] != '/')
        return ks_fail(err, KSPEC_E_IO, "%s: KSPEC_LIBEXEC=%s is not an absolute path", name, set);
    if (snprintf(path, PATH_MAX, "%s/" KS_CHILD_PROGRAM, set) < PATH_MAX)
        f = ks_beside_look(path, 1, ks_beside_own());
    if (f == KS_STRANGE)
        return ks_fail(err, KSPEC_E_IO,
                       "%s: %s belongs neither to root nor to this user, or everybody can write to it", name,
                       path);
    return f == KS_FOUND ? KSPEC_OK
                         : ks_fail(err, KSPEC_E_IO, "%s: no program " KS_CHILD_PROGRAM " in KSPEC_LIBEXEC=%s",
                                   name, set);
}

/*
 * Finds the program. The program must be in the directory that KSPEC_LIBEXEC names, unless a setuid program
 * ignores the variable. Otherwise the function looks near the running program, and near the file that
 * contains this code: in the same directory, one level up (for the tests), or in ../libexec/kspec. Finally,
 * the function looks in the installation directory.
 */
static kspec_status find_reader(char path[PATH_MAX], const char *name, kspec_error *err) {
    static const char *const subs[] = {"", "../libexec/kspec/", "../", NULL};
    const char *set = secure_getenv("KSPEC_LIBEXEC");
    if (set && set[0]) return find_set(path, set, name, err);
    if (ks_beside_find(KS_CHILD_PROGRAM, subs, 1, path) == KS_FOUND) return KSPEC_OK;
    snprintf(path, PATH_MAX, "%s/" KS_CHILD_PROGRAM, KSPEC_LIBEXECDIR);
    if (ks_beside_look(path, 1, ks_beside_own()) == KS_FOUND) return KSPEC_OK;
    return ks_fail(
        err, KSPEC_E_IO,
        "%s: HDF5 and MATLAB files need the program " KS_CHILD_PROGRAM
        ", which is neither next to this program nor in " KSPEC_LIBEXECDIR
        ": install kspec from its source, which builds it, or read them in Python by h5py or scipy",
        name);
}

int ks_hdf5_can_read(void) {
    char path[PATH_MAX];
    return find_reader(path, "", NULL) == KSPEC_OK;
}

/* ---- running ---- */

/*
 * Closes all other descriptors of the child. glibc has a call for this since 2.34. For older versions the
 * code lists the open descriptors.
 */
static int close_others(posix_spawn_file_actions_t *files) {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 34) && !defined(KSPEC_PORTABLE)
    return posix_spawn_file_actions_addclosefrom_np(files, KS_CHILD_FD + 1);
#else
    int e = 0;
    DIR *open = opendir("/proc/self/fd");
    for (struct dirent *d; !e && open && (d = readdir(open));)
        if (atoi(d->d_name) > KS_CHILD_FD) e = posix_spawn_file_actions_addclose(files, atoi(d->d_name));
    if (open) closedir(open);
    return e;
#endif
}

/* Starts the program with an empty environment, so that no variable makes its libraries open other files. */
static kspec_status start(const char *reader, const char *path, const char *key, const char *kind, int memory,
                          const char *name, pid_t *pid, kspec_error *err) {
    char *argv[] = {(char *)KS_CHILD_PROGRAM, (char *)path, (char *)key, (char *)kind, NULL},
         *nothing[] = {NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    int e = posix_spawn_file_actions_init(&files);
    if (e) return ks_nomem(err, "starting " KS_CHILD_PROGRAM, sizeof files);
    if ((e = posix_spawnattr_init(&attributes)) == 0) {
        /*
         * dup2 must come first. If the caller has closed the descriptors 0, 1 or 2, `memory` may be one of
         * them.
         */
        if (!e) e = posix_spawn_file_actions_adddup2(&files, memory, KS_CHILD_FD);
        if (!e) e = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
        if (!e) e = posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
        if (!e) e = posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
        if (!e) e = close_others(&files);
        if (!e) e = posix_spawnattr_setsigmask(&attributes, &none);
        if (!e) e = posix_spawnattr_setsigdefault(&attributes, &all);
        if (!e) e = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        if (!e) e = posix_spawn(pid, reader, &files, &attributes, argv, nothing);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return e ? ks_fail(err, e == ENOMEM ? KSPEC_E_NOMEM : KSPEC_E_IO, "%s: cannot run %s: %s", name, reader,
                       strerror(e))
             : KSPEC_OK;
}

/*
 * Waits for the end of the program. Kills the program if its memory file has not grown for `limit` seconds. A
 * long read writes page after page, but an endless loop does not. The code polls instead of waiting for a
 * signal, because the signal handlers belong to the caller. The pause between polls grows to 20 ms. The
 * caller's host may also end the program.
 */
static int wait_for(pid_t pid, int memory, double limit, const char *kind, const char *name,
                    kspec_status *ended, kspec_error *err) {
    double begun = ks_now(), progress = begun;
    blkcnt_t blocks = -1;
    int status = 0;
    pid_t r;
    *ended = KSPEC_OK;
    while ((r = waitpid(pid, &status, WNOHANG)) == 0 || (r < 0 && errno == EINTR)) {
        struct stat st;
        double now = ks_now(), pause = (now - begun) / 16;
        if (fstat(memory, &st) == 0 && st.st_blocks != blocks) {
            blocks = st.st_blocks;
            progress = now;
        } else if (now - progress > limit) {
            *ended = ks_fail(err, KSPEC_E_IO, "%s: the %s reader made no progress for %g s and was stopped",
                             name, kind, limit);
        }
        if (!*ended) *ended = ks_bytes_waits(err);
        if (*ended) {
            kill(pid, SIGKILL);
            while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
            }
            return status;
        }
        if (pause < 1e-4) pause = 1e-4;
        if (pause > 0.02) pause = 0.02;
        nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * pause)}, NULL);
    }
    /* With ECHILD, the caller ignores SIGCHLD and cannot wait for children. The memory file then decides. */
    return r < 0 ? 0 : status;
}

/* ---- result ---- */

/* Reports why the program ended without a result. */
static kspec_status died(int status, const char *kind, const char *name, kspec_error *err) {
    int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (sig == SIGKILL)
        return ks_fail(err, KSPEC_E_IO,
                       "%s: the %s reader was killed (signal 9), perhaps because memory was short", name,
                       kind);
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
    /* Seals the memory file, so that no process can truncate it under the mapping. */
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

/* Reads KSPEC_READER_TIMEOUT, the longest wait without progress, in seconds. */
static kspec_status patience(double *limit, kspec_error *err) {
    const char *set = getenv("KSPEC_READER_TIMEOUT");
    *limit = 60;
    if (set && set[0] && (ks_number_parse(set, strlen(set), limit) != KS_NUMBER || !(*limit > 0)))
        return ks_fail(err, KSPEC_E_ARG, "KSPEC_READER_TIMEOUT=%s is not a positive number of seconds", set);
    return KSPEC_OK;
}

/* Runs kspec-hdf5 until it ends. Fails if the program cannot start, or if it hangs. */
static kspec_status run(const char *path, const char *key, const char *kind, const char *name, int memory,
                        int *status, kspec_error *err) {
    char reader[PATH_MAX];
    double limit;
    pid_t pid = 0;
    kspec_status st = patience(&limit, err);
    if (!st) st = find_reader(reader, name, err);
    const ks_child_header h = {.memory = ks_memory_available()};
    if (!st &&
        (ftruncate(memory, KS_CHILD_DATA) != 0 || pwrite(memory, &h, sizeof h, 0) != (ssize_t)sizeof h))
        st = ks_fail(err, KSPEC_E_IO, "%s: cannot make shared memory: %s", name, strerror(errno));
    if (!st) st = start(reader, path, key, kind, memory, name, &pid, err);
    if (st) return st;
    *status = wait_for(pid, memory, limit, strcmp(kind, "mat") == 0 ? "MATLAB" : "HDF5", name, &st, err);
    return st;
}

kspec_status ks_hdf5_read(const char *path, const char *key, int matlab, const char *name, ks_array *out,
                          kspec_error *err) {
    *out = (ks_array){0};
    int memory = ks_memory_file(), status = 0;
    if (memory < 0)
        return ks_fail(err, KSPEC_E_IO, "%s: cannot make shared memory: %s", name, strerror(errno));
    kspec_status st = run(path, key, matlab ? "mat" : "hdf5", name, memory, &status, err);
    if (!st) st = take(memory, status, matlab ? "MATLAB" : "HDF5", name, out, err);
    close(memory);
    return st;
}

const char *kspec_hdf5_sandbox(void) {
    ks_child_header h = {0};
    int status = 0, memory = ks_memory_file();
    if (memory < 0) return NULL;
    int answered = run("", "", KS_CHILD_PROBE, "", memory, &status, NULL) == KSPEC_OK && status == 0 &&
                   pread(memory, &h, sizeof h, 0) == (ssize_t)sizeof h && h.magic == KS_CHILD_MAGIC;
    close(memory);
    if (!answered) return NULL;
    return strncmp(h.message, "seccomp", sizeof h.message) == 0 ? "seccomp" : "none";
}
