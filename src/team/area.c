#define _GNU_SOURCE /* memfd_create, fallocate */
#include "team/area.h"

#include "base/memory.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

size_t ks_area_most = SIZE_MAX;

enum { PAGE = 4096 };

/* A file in memory, all of it there, or -1. Its pages are taken now: later there would be a signal. */
static int make(size_t bytes) {
    struct rlimit file;
    if (bytes > ks_memory_available() / 4) return -1;
    if (getrlimit(RLIMIT_FSIZE, &file)) return -1;
    if (file.rlim_cur != RLIM_INFINITY && file.rlim_cur < bytes) return -1;
    const int fd = memfd_create("kspec", MFD_CLOEXEC);
    if (fd < 0 || fallocate(fd, 0, 0, (off_t)bytes) == 0) return fd;
    close(fd);
    return -1;
}

/* The file of another process of this user */
static int find(long process, int fd) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/fd/%d", process, fd);
    return open(path, O_RDWR | O_CLOEXEC);
}

/* All have it, or nobody */
static kspec_status grow(kspec_team *t, size_t half, kspec_error *err) {
    const size_t bytes = ks_size(2, half);
    struct {
        long process;
        int fd;
    } of = {(long)getpid(), -1};
    void *x = MAP_FAILED;
    int fd = -1;
    ks_area_end(t);
    if (t->comm.rank == 0) of.fd = fd = make(bytes);
    kspec_status st = ks_team_broadcast(t, 0, &of, sizeof of, err);
    if (!st && of.fd >= 0 && t->comm.rank > 0) fd = find(of.process, of.fd);
    if (!st && fd >= 0) x = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    const unsigned char mine = x != MAP_FAILED;
    for (int r = 0; r < t->comm.ranks; r++) t->bytes[r] = 1;
    if (!st) st = ks_team_gather(t, &mine, t->flags, t->bytes, err);
    if (fd >= 0) close(fd); /* all have looked for it */
    int everybody = !st;
    for (int r = 0; r < t->comm.ranks; r++) everybody = everybody && t->flags[r];
    if (everybody)
        t->area = x, t->area_half = half;
    else if (mine)
        munmap(x, bytes);
    t->no_area = !everybody;
    return st;
}

/* Has everybody read what was in this half? They have met after writing it, and once more. */
static int is_free(const kspec_team *t, int half) { return t->meetings >= t->area_used[half] + 2; }

kspec_status ks_area_get(kspec_team *t, size_t bytes, int count, double *area[2], kspec_error *err) {
    const int together = t->comm.ranks > 1 && t->comm.local_ranks == t->comm.ranks;
    kspec_status st = KSPEC_OK;
    area[0] = area[1] = NULL;
    if (!together || t->no_area || bytes > ks_area_most) return KSPEC_OK;
    bytes = (bytes + PAGE - 1) / PAGE * PAGE;
    const int more = bytes > t->area_half, first = is_free(t, 0) ? 0 : 1;
    if (more || !is_free(t, first) || (count > 1 && !is_free(t, 1 - first)))
        st = ks_team_meet(t, KS_AT_LOOP, KSPEC_OK, "area", bytes, err);
    if (!st && more) st = grow(t, bytes, err);
    for (int k = 0; k < count && !st && t->area; k++) {
        const int half = k ? 1 - first : first;
        area[k] = t->area + (half ? t->area_half / sizeof **area : 0);
        t->area_used[half] = t->meetings;
    }
    return st;
}

void ks_area_end(kspec_team *t) {
    if (t->area) munmap(t->area, 2 * t->area_half);
    t->area = NULL, t->area_half = 0;
}
