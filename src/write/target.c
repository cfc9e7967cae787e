/* Finds where a file is written, and removes leftovers of killed processes. */
#define _DEFAULT_SOURCE /* flock */
#include "write/target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int ks_target_resolve(char target[PATH_MAX], const char *path) {
    enum { LINKS = 40 }; /* the kernel follows as many links */
    if (strlen(path) >= PATH_MAX) return ENAMETOOLONG;
    strcpy(target, path);
    for (int k = 0; k < LINKS; k++) {
        char link[PATH_MAX];
        ssize_t n = readlink(target, link, sizeof link - 1);
        if (n < 0) return 0; /* The target is not a link or does not exist; writing will show it. */
        link[n] = 0;
        char *slash = strrchr(target, '/');
        size_t keep = link[0] == '/' || !slash ? 0 : (size_t)(slash - target) + 1;
        if (keep + (size_t)n >= PATH_MAX) return ENAMETOOLONG;
        memcpy(target + keep, link, (size_t)n + 1);
    }
    return ELOOP;
}

int ks_target_temporary(char name[PATH_MAX], const char *target, unsigned serial) {
    int n = snprintf(name, PATH_MAX, "%s.kspec-%ld-%u.tmp", target, (long)getpid(), serial);
    return n >= PATH_MAX ? ENAMETOOLONG : 0;
}

/* Does the name end in `mark` followed by PID-SERIAL.tmp, with something before them? */
static int ends_in(const char *name, const char *mark) {
    const char *p = NULL;
    for (const char *q = name; (q = strstr(q, mark)); q++) p = q;
    if (!p || p == name) return 0;
    p += strlen(mark);
    size_t pid = strspn(p, "0123456789");
    if (!pid || p[pid] != '-') return 0;
    p += pid + 1;
    size_t serial = strspn(p, "0123456789");
    return serial && strcmp(p + serial, ".tmp") == 0;
}

/*
 * Up to version 0.1 temporary names had no mark, and kspec locked no files. Only checkpoints have such old
 * names. A file with an old name is a leftover if nobody has written to it for an hour.
 */
enum { OTHER, OURS, OLD, AN_HOUR = 3600 };
static int kind_of(const char *name) {
    if (ends_in(name, ".kspec-")) return OURS;
    return strncmp(name, "width-", 6) == 0 && strstr(name, "-seed-") && ends_in(name, ".ckpt.") ? OLD : OTHER;
}

int ks_target_hold(int fd) {
    struct stat st;
    while (flock(fd, LOCK_EX) != 0 && errno == EINTR) {
    }
    /* If locks do not work, no run removes the file. */
    return fstat(fd, &st) != 0 || st.st_nlink > 0;
}

static void sweep_one(int directory, const char *name, int kind) {
    struct stat st, now;
    int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
        (kind == OURS || time(NULL) - st.st_mtime > AN_HOUR) && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
        fstatat(directory, name, &now, AT_SYMLINK_NOFOLLOW) == 0 && now.st_ino == st.st_ino &&
        now.st_dev == st.st_dev)
        unlinkat(directory, name, 0);
    close(fd);
}

static int open_directory(const char *target) {
    char folder[PATH_MAX];
    strcpy(folder, target);
    char *slash = strrchr(folder, '/');
    if (slash) slash[slash == folder] = 0;
    return open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

void ks_target_sweep(const char *target) {
    static _Atomic uint64_t swept;
    struct stat st;
    int fd = open_directory(target);
    if (fd < 0) return;
    uint64_t mark = fstat(fd, &st) == 0 ? (uint64_t)st.st_ino * 31 + (uint64_t)st.st_dev : 0;
    if (mark && atomic_exchange(&swept, mark) == mark) {
        close(fd);
        return;
    }
    DIR *d = fdopendir(fd);
    if (!d) {
        close(fd);
        return;
    }
    for (struct dirent *e; (e = readdir(d));) {
        int kind = kind_of(e->d_name);
        if (kind != OTHER) sweep_one(fd, e->d_name, kind);
    }
    closedir(d);
}

int ks_target_flush(const char *target) {
    int fd = open_directory(target), code = 0;
    if (fd < 0) return 0; /* A user may have permission to write to a directory but not to read it. */
    /* Some file systems do not support fsync() of a directory. */
    if (fsync(fd) != 0 && errno != EINVAL && errno != EBADF && errno != EROFS) code = errno;
    close(fd);
    return code;
}
